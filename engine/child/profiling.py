"""What one call does besides taking time: operators, kernels, allocations. By torch's profiler; never while timing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

import torch
from torch.profiler import ProfilerActivity

from engine.child.allocations import count_allocations
from engine.child.references import flatten
from engine.child.subject import Subject
from engine.child.torch_internals import allocated_bytes
from engine.child.turns import Turns

PROFILED_CALLS = 3
"""A warm call does the same each time; the profiler takes longer to sort its events than the calls take."""
KERNEL_LAUNCHES = ("cudaLaunchKernel", "cuLaunchKernel", "hipLaunchKernel", "hipExtModuleLaunchKernel")
GRAPH_LAUNCHES = ("cudaGraphLaunch", "cuGraphLaunch", "hipGraphLaunch")
MOST_KERNEL_NAMES = 40
"""Different kernels kept by name, the most frequent ones: a transformer runs a dozen or two."""
DRIVER_ALLOCATIONS = ("cudaMalloc", "hipMalloc", "cuMemCreate")
NOT_KERNELS = ("Memcpy", "Memset")
RUNTIME_CALL = re.compile(r"(cuda|cu|hip)[A-Z]")
DEVICE_COUNTS = (
    "kernels_per_call",
    "kernel_names",
    "gpu_busy_s_per_call",
    "kernel_launches_per_call",
    "graph_launches_per_call",
    "device_allocations_per_call",
)


def profile_points(turns: Turns, subjects: Sequence[Subject], device: str) -> dict[str, Any]:
    """Counts per call, under keys of `engine.metrics.FACTS`: a list, one value per workload, but of a model at one shape."""
    is_model, places = subjects[0].workload.model is not None, range(len(subjects))
    if is_model and len(subjects) == 1:
        return _profile_point(turns, 0, device)
    points = [_profile_point(turns, place, device) | ({} if is_model else _memory(turns, place)) for place in places]
    return {key: [point.get(key) for point in points] for key in dict.fromkeys(chain.from_iterable(points))}


def _profile_point(turns: Turns, index: int, device: str) -> dict[str, Any]:
    with turns.of(index) as (call, feed), torch.inference_mode():
        again = lambda: call(next(feed))  # noqa: E731
        return profile_calls(again, device) | count_allocations(again, device)


def _memory(turns: Turns, index: int) -> dict[str, Any]:
    """The least a call can move, and the memory that lies in: a result in place is written where its input was read."""
    with turns.of(index) as (call, feed), torch.inference_mode():
        inputs = next(feed)
        tensors = [*flatten(inputs), *flatten(call(inputs))]
    sizes = {tensor.data_ptr(): tensor.nbytes for tensor in tensors}
    return {
        "minimum_bytes": sum(tensor.nbytes for tensor in tensors),
        "footprint_bytes": sum(sizes.values()),
    }


def profile_calls(call: Callable[[], Any], device: str) -> dict[str, Any]:
    """Counts per call, under keys of `engine.metrics.FACTS`. `call` must be warm."""
    has_kernels = device.startswith("cuda")
    activities = [ProfilerActivity.CPU] + [ProfilerActivity.CUDA] * has_kernels
    profile = torch.profiler.profile(activities=activities, profile_memory=not has_kernels, acc_events=True)
    with torch.inference_mode(), profile as profiler:
        for _ in range(PROFILED_CALLS):
            call()
        if has_kernels:
            torch.cuda.synchronize()
    events = list(profiler.events() or ())
    counts: dict[str, Any] = {"operators_per_call": sum(_is_outer_operator(event) for event in events) / PROFILED_CALLS}
    if has_kernels:
        return counts | _device_counts(events)
    sizes = allocated_bytes(profiler)
    counts["allocations_per_call"] = None if sizes is None else len(sizes) / PROFILED_CALLS
    counts["allocated_bytes_per_call"] = None if sizes is None else sum(sizes) / PROFILED_CALLS
    return counts


def _device_counts(events: Sequence[Any]) -> dict[str, Any]:
    """What the GPU did, per call; all unknown where the profiler cannot see GPUs (CUPTI missing or not permitted)."""
    if not any(_is_of_device(event) for event in events):
        return dict.fromkeys(DEVICE_COUNTS)
    work = [event for event in events if _is_device_work(event)]
    kernels = Counter(event.name for event in work if not event.name.startswith(NOT_KERNELS))
    names = {name: count / PROFILED_CALLS for name, count in kernels.most_common(MOST_KERNEL_NAMES)}
    return {
        "kernels_per_call": kernels.total() / PROFILED_CALLS,
        "kernel_names": names,
        "gpu_busy_s_per_call": _busy_s(work) / PROFILED_CALLS if work else None,
        "kernel_launches_per_call": _named(events, KERNEL_LAUNCHES) / PROFILED_CALLS,
        "graph_launches_per_call": _named(events, GRAPH_LAUNCHES) / PROFILED_CALLS,
        "device_allocations_per_call": _named(events, DRIVER_ALLOCATIONS) / PROFILED_CALLS,
    }


def _is_of_device(event: Any) -> bool:
    """Work on a GPU, or a call of its runtime: the synchronise after the last call is one, whatever the calls did."""
    return bool(event.device_type.name == "CUDA" or RUNTIME_CALL.match(event.name))


def _is_outer_operator(event: Any) -> bool:
    """An operator that Python or compiled code called, not one that another operator called."""
    parent = event.cpu_parent
    return bool(event.name.startswith("aten::")) and not (parent is not None and parent.name.startswith("aten::"))


def _is_device_work(event: Any) -> bool:
    """A kernel, a copy or a fill; compiled code also draws named ranges on the GPU's timeline, and those are no work."""
    return bool(event.device_type.name == "CUDA" and not event.is_user_annotation)


def _busy_s(work: Sequence[Any]) -> float:
    """Seconds in which the GPU did anything: what overlaps, on several streams, counts once. Event times are microseconds."""
    busy_us, seen_until = 0.0, float("-inf")
    for start, end in sorted((event.time_range.start, event.time_range.end) for event in work):
        busy_us += max(0.0, end - max(start, seen_until))
        seen_until = max(seen_until, end)
    return busy_us / 1e6


def _named(events: Sequence[Any], prefixes: tuple[str, ...]) -> int:
    return sum(event.name.startswith(prefixes) for event in events)
