"""What this device can do at best, measured here and now (METHOD 5): bandwidth, matmul peak, launch and sync cost."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from statistics import median
from time import perf_counter

import psutil
import torch

from engine.child import torch_internals
from engine.floors import CACHE_MULTIPLE
from engine.result import Limits

UNKNOWN_CACHE_BYTES = 16 * 2**20
"""Where nothing tells the last-level cache's size no floor is made of the bandwidth either; it is still worth showing."""
MEMORY_FRACTION = 4
"""The arrays take no more than this fraction of the free memory."""
ARRAY_STEP = 2 * 3 * 64
"""Halves and thirds of the memory are whole cache lines."""
MEDIANS = 20
CALLS_PER_MEDIAN = 3
MATMUL_SIZE = {"cpu": 1024, "accelerator": 4096}
BUDGET_S = 1.0
"""Half precision without hardware support is a thousand times slower, and a cache of 480 MB asks for arrays of gigabytes; a
second finds a peak well enough."""
MAX_WAIT = 0.05
"""Calls in which our threads waited longer for a core than this part of the time are left out: a limit measured beside
other work is none, and a floor made of it would call honest times impossible."""
LAUNCHES = 200
"""Few enough to fit into a CUDA launch queue (1,024 deep): beyond it, launching waits for the device."""


def measure_limits(device: str, dtypes: Sequence[str]) -> Limits:
    """Measure with the threads and precision flags this process has set, matmul peaks of torch's `dtypes`; takes seconds."""
    touched = bandwidth_bytes(device)
    with torch.inference_mode():
        return Limits(
            bandwidth_bytes_per_s=_bandwidth(device, touched),
            bandwidth_bytes=touched,
            flops_per_s=_matmul_peaks(device, dtypes),
            launch_s=_launch_floor() if _is_cuda(device) else None,
            graph_launch_s=_graph_launch_floor() if _is_cuda(device) else None,
            synchronize_s=_host_s(torch.cuda.synchronize) if _is_cuda(device) else None,
        )


def last_level_cache_bytes(device: str) -> int | None:
    """Size of the cache in front of the device's memory; None when nothing tells."""
    if _is_cuda(device):
        return int(torch.cuda.get_device_properties(device).L2_cache_size)
    sizes = [_cache_size(path) for path in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size")]
    return max(sizes, default=None)


def bandwidth_bytes(device: str) -> int:
    """Memory that one call touches while bandwidth is measured: the least for which a floor is made of it, four caches.

    No more than that: a virtual machine may own more cache than it tells (two cores of one that told 32 MiB moved 128 MiB half
    as fast again as 256 MiB), and a bandwidth measured on more memory than the work it limits would call that work impossible.
    """
    wanted = CACHE_MULTIPLE * (last_level_cache_bytes(device) or UNKNOWN_CACHE_BYTES)
    free = torch.cuda.mem_get_info(device)[0] if _is_cuda(device) else psutil.virtual_memory().available
    return min(wanted, free // MEMORY_FRACTION) // ARRAY_STEP * ARRAY_STEP


def _cache_size(path: Path) -> int:
    """'32768K' -> bytes."""
    text = path.read_text().strip()
    units = {"K": 2**10, "M": 2**20, "G": 2**30}
    return int(text[:-1]) * units[text[-1]] if text[-1] in units else int(text)


def _bandwidth(device: str, touched: int) -> float | None:
    """Best of negating in place, copy, add and sum, each over the same `touched` bytes: none of them is fastest everywhere."""
    # Filled, so that every page is really there; what stands in it makes no difference, and random numbers take seconds.
    whole = torch.full((touched // 4,), 0.5, device=device)
    half, other_half = whole.chunk(2)
    third, second_third, last_third = whole.chunk(3)
    moved: list[tuple[int, Callable[[], object]]] = [
        (2, whole.neg_),
        (1, lambda: other_half.copy_(half)),
        (1, lambda: torch.add(third, second_third, out=last_third)),
        (1, whole.sum),
    ]
    best = [(times, _best_s(call, device)) for times, call in moved]
    return max((times * touched / seconds for times, seconds in best if seconds is not None), default=None)


def _matmul_peaks(device: str, dtypes: Sequence[str]) -> dict[str, float]:
    """FLOP/s of a square product per floating-point dtype; a dtype whose peak could not be had is left out."""
    size = MATMUL_SIZE["cpu" if device.startswith("cpu") else "accelerator"]
    peaks = {}
    for dtype in (getattr(torch, name) for name in dtypes):
        if not dtype.is_floating_point:
            continue
        a, b = (torch.rand(size, size, device=device).to(dtype) for _ in range(2))
        seconds = _best_s(functools.partial(torch.mm, a, b), device)
        if seconds is not None:
            peaks[str(dtype).removeprefix("torch.")] = 2 * size**3 / seconds
    return peaks


def _best_s(call: Callable[[], object], device: str) -> float | None:
    """Smallest of `MEDIANS` medians of undisturbed calls, fewer when the budget is used up; None when there was none."""
    _timed(call, device)
    medians: list[float] = []
    stop_at = perf_counter() + BUDGET_S
    while len(medians) < MEDIANS and perf_counter() < stop_at:
        times = [seconds for _ in range(CALLS_PER_MEDIAN) if (seconds := _timed(call, device)) is not None]
        if len(times) == CALLS_PER_MEDIAN:
            medians.append(median(times))
    return min(medians, default=None)


def _timed(call: Callable[[], object], device: str) -> float | None:
    """Seconds of one call; None when a thread of ours had to wait for a core meanwhile."""
    _synchronize(device)
    waited, start = waited_s(), perf_counter()
    call()
    _synchronize(device)
    seconds = perf_counter() - start
    return seconds if waited_s() - waited <= MAX_WAIT * seconds else None


def waited_s() -> float:
    """Seconds this process's threads were ready to run but had no core, since they began; 0 where the kernel does not tell."""
    waited_ns = 0
    for path in Path("/proc/self/task").glob("*/schedstat"):
        with suppress(OSError):  # a thread that just ended
            waited_ns += int(path.read_text().split()[1])
    return waited_ns * 1e-9


def _synchronize(device: str) -> None:
    if not device.startswith("cpu"):
        torch.get_device_module(device).synchronize()


def _host_s(call: Callable[[], object]) -> float:
    """Host seconds per call with an idle queue in front: median of `MEDIANS` loops."""
    loops = []
    for _ in range(MEDIANS):
        torch.cuda.synchronize()
        start = perf_counter()
        for _ in range(LAUNCHES):
            call()
        loops.append((perf_counter() - start) / LAUNCHES)
    return median(loops)


def _launch_floor() -> float:
    """Launching a kernel that does nothing; torch's own spin of one cycle, or filling one element."""
    spin = torch_internals.find("torch.cuda:_sleep")
    one = torch.empty(1, device="cuda")
    return _host_s((lambda: spin(1)) if spin is not None else one.zero_)


def _graph_launch_floor() -> float:
    """Replaying a graph of one node."""
    one = torch.zeros(1, device="cuda")
    one.add_(1)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        one.add_(1)
    return _host_s(graph.replay)


def _is_cuda(device: str) -> bool:
    return device.startswith("cuda")
