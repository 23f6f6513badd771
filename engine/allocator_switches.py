"""Which allocator serves a GPU process is decided by environment variables; two of them at once measure neither."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from engine.catalog import Variant
from engine.errors import InvalidSpec

SWITCHES = ("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF", "PYTORCH_NO_CUDA_MEMORY_CACHING")
"""Every variable with which torch's CUDA allocator is chosen or set up."""


def check_switches(variants: Iterable[Variant], variables: Mapping[str, str]) -> None:
    """Raise `InvalidSpec` when a variant switches the allocator and `variables` (this environment's) switch it otherwise."""
    already = {name: variables[name] for name in SWITCHES if variables.get(name)}
    for variant in variants:
        wanted = dict(variant.variables)
        if not wanted.keys() & set(SWITCHES):
            continue
        for name, value in already.items():
            if wanted.get(name) != value:
                ours = " ".join(f"{key}={setting}" for key, setting in wanted.items())
                raise InvalidSpec(
                    f"{name}={value} is set in this environment, and {variant.label!r} is measured with {ours}; an allocator "
                    f"can be switched one way only. Unset {name} and start again."
                )
