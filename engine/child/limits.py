"""What this device can do at best, measured here and now (METHOD 5): bandwidth, matmul peak, launch and sync cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter

import psutil
import torch

from engine.child import torch_internals
from engine.result import Limits

CACHE_MULTIPLE = 4
"""Arrays smaller than this many last-level caches measure the cache, not the memory."""
SMALLEST_ARRAY_BYTES = 64 * 2**20
MEMORY_FRACTION = 16
"""No array takes more than this fraction of the free memory; three of them live at once."""
MEDIANS = 20
CALLS_PER_MEDIAN = 3
MATMUL_SIZE = {"cpu": 1024, "accelerator": 4096}
MATMUL_BUDGET_S = 1.0
"""Half precision without hardware support is a thousand times slower; one second finds its peak well enough."""
LAUNCHES = 200
"""Few enough to fit into a CUDA launch queue (1,024 deep): beyond it, launching waits for the device."""


def measure_limits(device: str, dtypes: Sequence[str]) -> Limits:
    """Measure with the threads and precision flags this process has set; takes a few seconds."""
    array_bytes = bandwidth_array_bytes(device)
    with torch.inference_mode():
        return Limits(
            bandwidth_bytes_per_s=_bandwidth(device, array_bytes),
            bandwidth_bytes=array_bytes,
            flops_per_s={dtype: _matmul_peak(device, dtype) for dtype in dtypes if _is_float(dtype)},
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


def bandwidth_array_bytes(device: str) -> int:
    """At least four last-level caches, bounded by the free memory."""
    wanted = max(SMALLEST_ARRAY_BYTES, CACHE_MULTIPLE * (last_level_cache_bytes(device) or 0))
    free = torch.cuda.mem_get_info(device)[0] if _is_cuda(device) else psutil.virtual_memory().available
    return min(wanted, free // MEMORY_FRACTION) // 4 * 4


def _cache_size(path: Path) -> int:
    """'32768K' -> bytes."""
    text = path.read_text().strip()
    units = {"K": 2**10, "M": 2**20, "G": 2**30}
    return int(text[:-1]) * units[text[-1]] if text[-1] in units else int(text)


def _bandwidth(device: str, array_bytes: int) -> float:
    """Best of copy, add and sum: a read-bound operation beats a copy's rate."""
    a, b, c = (torch.rand(array_bytes // 4, device=device) for _ in range(3))
    moved: list[tuple[int, Callable[[], object]]] = [
        (2, lambda: b.copy_(a)),
        (3, lambda: torch.add(a, b, out=c)),
        (1, lambda: torch.sum(a)),
    ]
    return max(arrays * array_bytes / _best_s(call, device) for arrays, call in moved)


def _matmul_peak(device: str, dtype: str) -> float:
    size = MATMUL_SIZE["cpu" if device.startswith("cpu") else "accelerator"]
    a, b = (torch.rand(size, size, device=device).to(getattr(torch, dtype)) for _ in range(2))
    return 2 * size**3 / _best_s(lambda: torch.mm(a, b), device, MATMUL_BUDGET_S)


def _best_s(call: Callable[[], object], device: str, budget_s: float = float("inf")) -> float:
    """Smallest of `MEDIANS` medians, fewer when the budget is used up."""
    _timed(call, device)
    best, spent = float("inf"), 0.0
    for _ in range(MEDIANS):
        times = [_timed(call, device) for _ in range(CALLS_PER_MEDIAN)]
        best, spent = min(best, median(times)), spent + sum(times)
        if spent > budget_s:
            break
    return best


def _timed(call: Callable[[], object], device: str) -> float:
    _synchronize(device)
    start = perf_counter()
    call()
    _synchronize(device)
    return perf_counter() - start


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


def _is_float(dtype: str) -> bool:
    return bool(getattr(torch, dtype).is_floating_point)
