"""Which allocator serves a GPU process is decided by environment variables; two of them at once measure neither."""

from __future__ import annotations

from collections.abc import Mapping

from engine.catalog import Variant

SWITCHES = ("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF", "PYTORCH_NO_CUDA_MEMORY_CACHING")
"""Every variable with which torch's CUDA allocator is chosen or set up."""


def why_switched_otherwise(variant: Variant, variables: Mapping[str, str]) -> str | None:
    """Why `variant`, which switches the allocator, cannot be measured where `variables` switch it otherwise; else None."""
    wanted = dict(variant.variables)
    if not wanted.keys() & set(SWITCHES):
        return None
    other = next((name for name in SWITCHES if variables.get(name) and variables[name] != wanted.get(name)), None)
    if other is None:
        return None
    ours = " ".join(f"{key}={setting}" for key, setting in wanted.items())
    return (
        f"{other}={variables[other]} is set in this environment, and this is measured with {ours}; "
        f"an allocator can be switched one way only: unset {other} and start again"
    )
