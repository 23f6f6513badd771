"""How long the GPU works for one call: by events behind a spin, else by the profiler (METHOD 1.1)."""

from __future__ import annotations

from typing import NamedTuple

from engine.comparison.arms import Arm
from engine.comparison.costs import known_median
from engine.floors import facts_at


class GpuTime(NamedTuple):
    """Seconds per call, None where nothing tells; `is_profiled`: kernels and copies alone, the pauses between them left out."""

    seconds: float | None
    is_profiled: bool


def gpu_time(arm: Arm) -> GpuTime:
    """The events' median; where no sample could be queued behind its spin, what the profiler saw."""
    timed_s = known_median(time for _, block in arm.blocks() for time in block.gpu_s or ())
    if timed_s is not None:
        return GpuTime(timed_s, is_profiled=False)
    seen = (facts_at(measurement, arm.workload).get("gpu_busy_s_per_call") for measurement in arm.measurements)
    busy_s = known_median(seen)
    return GpuTime(busy_s, is_profiled=busy_s is not None)
