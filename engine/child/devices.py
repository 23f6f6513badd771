"""What differs between devices when timing: how to wait for one, empty its caches, make it current, time it by events."""

from __future__ import annotations

from collections.abc import Callable

import torch

from engine.child.gpu_timer import GpuTimer

MIN_GPU_FLUSH_BYTES = 256 * 2**20
CALIBRATION_CYCLES = 20_000_000
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


def make_gpu_timer(device: str) -> GpuTimer | None:
    """The event timer of a CUDA device, its spin calibrated; None for every other kind of device."""
    if not device.startswith("cuda"):
        return None

    def make_event() -> torch.cuda.Event:
        return torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]

    def synchronize() -> None:
        torch.cuda.synchronize(device)

    def sleep(cycles: int) -> None:
        torch.cuda._sleep(cycles)  # type: ignore[no-untyped-call]

    sleep(CALIBRATION_CYCLES)  # the first one loads the kernel
    start, stop = make_event(), make_event()
    start.record()
    sleep(CALIBRATION_CYCLES)
    stop.record()
    synchronize()
    cycles_per_s = CALIBRATION_CYCLES / (start.elapsed_time(stop) / 1e3)
    return GpuTimer(
        spin=lambda seconds: sleep(int(seconds * cycles_per_s)), make_event=make_event, synchronize=synchronize
    )
