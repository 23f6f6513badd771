"""What differs between devices when timing: how to wait for one, how to empty its caches, how to make it the current one."""

from __future__ import annotations

from collections.abc import Callable

import torch

MIN_GPU_FLUSH_BYTES = 256 * 2**20
DEFAULT_CPU_CACHE_BYTES = 64 * 2**20
"""Taken for the last-level cache where the system does not tell its size."""


def select_device(device: str) -> None:
    """Make `device` the one that CUDA calls go to."""
    if device.startswith("cuda"):
        torch.cuda.set_device(device)


def make_synchronize(device: str) -> Callable[[], object]:
    """A function that returns when the device has finished all its work; nothing to wait for on a CPU."""
    if device.startswith("cuda"):
        return lambda: torch.cuda.synchronize(device)
    if device.startswith("mps"):
        return torch.mps.synchronize
    if device.startswith("xpu"):
        return lambda: torch.xpu.synchronize(device)
    return lambda: None


def make_flush(device: str, last_level_cache_bytes: int | None) -> Callable[[], object]:
    """A function that fills the caches with something else (METHOD 1.2): twice the last one, at least 256 MiB on a GPU."""
    cache = last_level_cache_bytes or DEFAULT_CPU_CACHE_BYTES
    size = 2 * cache if device == "cpu" else max(2 * cache, MIN_GPU_FLUSH_BYTES)
    buffer = torch.zeros(size // 4, dtype=torch.int32, device=device)
    # Reading and writing every element; on a GPU this is queued in the stream like any other work.
    return lambda: buffer.add_(1)
