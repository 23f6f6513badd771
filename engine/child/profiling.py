"""How many operators and kernels one call runs, by torch's profiler; a pass of its own, never while timing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.profiler import ProfilerActivity

PROFILED_CALLS = 10
KERNEL_LAUNCHES = ("cudaLaunchKernel", "cuLaunchKernel", "hipLaunchKernel", "hipExtModuleLaunchKernel")
GRAPH_LAUNCHES = ("cudaGraphLaunch", "cuGraphLaunch", "hipGraphLaunch")
NOT_KERNELS = ("Memcpy", "Memset")


def profile_calls(call: Callable[[], Any], device: str, calls: int = PROFILED_CALLS) -> dict[str, Any]:
    """Counts per call, under keys of `engine.metrics.FACTS`. `call` must be warm."""
    has_kernels = device.startswith("cuda")
    activities = [ProfilerActivity.CPU] + [ProfilerActivity.CUDA] * has_kernels
    with torch.inference_mode(), torch.profiler.profile(activities=activities, acc_events=True) as profiler:
        for _ in range(calls):
            call()
        if has_kernels:
            torch.cuda.synchronize()
    events = list(profiler.events() or ())
    counts: dict[str, float | None] = {"operators_per_call": sum(_is_outer_operator(event) for event in events) / calls}
    if has_kernels:
        counts["kernels_per_call"] = sum(_is_kernel(event) for event in events) / calls
        counts["kernel_launches_per_call"] = _named(events, KERNEL_LAUNCHES) / calls
        counts["graph_launches_per_call"] = _named(events, GRAPH_LAUNCHES) / calls
    return counts


def _is_outer_operator(event: Any) -> bool:
    """An operator that Python or compiled code called, not one that another operator called."""
    parent = event.cpu_parent
    return bool(event.name.startswith("aten::")) and not (parent is not None and parent.name.startswith("aten::"))


def _is_kernel(event: Any) -> bool:
    return bool(event.device_type.name == "CUDA" and not event.name.startswith(NOT_KERNELS))


def _named(events: list[Any], prefixes: tuple[str, ...]) -> int:
    return sum(event.name.startswith(prefixes) for event in events)
