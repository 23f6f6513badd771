"""What one call allocates: how often, how many bytes, how many pages the system had to find for it. A pass of its own.

Torch on a CPU tells its profiler (`engine.child.profiling`), CUDA's allocator keeps statistics, numpy tells tracemalloc.
What cannot be read is None.
"""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from engine.child.torch_internals import cuda_segments

CALLS = 3
CUDA_STATISTICS = {
    "allocations_per_call": "allocation.all.allocated",
    "allocated_bytes_per_call": "allocated_bytes.all.allocated",
}
"""`memory_stats` names them so, whatever its docstring prints (METHOD 2.6)."""


def count_allocations(call: Callable[[], Any], device: str) -> dict[str, float | None]:
    """What torch's profiler does not tell, per call, under keys of `engine.metrics.FACTS`. `call` must be warm."""
    counts: dict[str, float | None] = {"page_faults_per_call": _page_faults(call)}
    if isinstance(call(), np.ndarray):
        # Numpy's pieces are not counted one by one; a 0 of torch's would be wrong.
        return counts | {"allocations_per_call": None, "allocated_bytes_per_call": _numpy_bytes(call)}
    return counts | (_cuda_counts(call, device) if device.startswith("cuda") else {})


def _page_faults(call: Callable[[], Any]) -> float | None:
    """Pages the kernel had to provide during a call, by all threads of this process."""
    try:
        import resource
    except ImportError:  # not on Windows
        return None

    def faults() -> int:
        return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

    _repeat(call)
    before = faults()
    _repeat(call)
    return (faults() - before) / CALLS


def _cuda_counts(call: Callable[[], Any], device: str) -> dict[str, float | None]:
    if not cuda_segments():  # an allocator that is switched off counts nothing, and nothing is not 0
        return dict.fromkeys(CUDA_STATISTICS)
    before = torch.cuda.memory_stats(device)
    _repeat(call)
    after = torch.cuda.memory_stats(device)
    return {
        name: (after[key] - before[key]) / CALLS if key in before and key in after else None
        for name, key in CUDA_STATISTICS.items()
    }


def _numpy_bytes(call: Callable[[], Any]) -> float:
    """The most memory one call held beyond what an empty call holds; numpy's own allocations are all traced."""
    is_enabled = gc.isenabled()
    gc.disable()
    tracemalloc.start()
    try:
        return float(max(0, _traced_peak(call) - _traced_peak(lambda: None)))
    finally:
        tracemalloc.stop()
        if is_enabled:
            gc.enable()


def _traced_peak(call: Callable[[], Any]) -> int:
    call()
    before, _ = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()
    call()
    return tracemalloc.get_traced_memory()[1] - before


def _repeat(call: Callable[[], Any]) -> None:
    """Each result is dropped before the next call, as between two timed samples."""
    for _ in range(CALLS):
        call()
