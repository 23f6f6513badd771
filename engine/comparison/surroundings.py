"""What the machine did meanwhile: load, steal, throttling, clocks. Each finding is a sentence, or None when nothing is wrong."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from statistics import fmean, median

from engine.comparison.arms import Arm
from engine.formatting import fraction
from engine.result import Conditions, Measurement

MAX_STEAL = 0.01
MAX_OTHER_CORES = 0.2
"""Mean over the rounds' readings above which other work disturbed the times (METHOD 1.8)."""
MAX_CLOCK_DIFFERENCE = 0.02
"""Arms that ran at different clocks are not compared (METHOD 1.8)."""
HARMLESS_REASONS = ("idle", "app", "sync", "display", "none")
"""Parts of NVIDIA's names for clock states that are no throttling: idle, application clocks, sync boost, display clocks."""


def is_busy(arms: Iterable[Arm]) -> tuple[bool | None, str]:
    """Whether other work used the CPU while these arms were measured, and what was seen."""
    rounds = [reading for arm in arms for measurement in arm.measurements for reading in _possible(measurement)]
    steal = [reading.steal_fraction for reading in rounds if reading.steal_fraction is not None]
    other = [reading.other_cpu_cores for reading in rounds if reading.other_cpu_cores is not None]
    if not steal and not other:
        return None, "load and steal could not be read"
    stolen, used = fmean(steal) if steal else 0.0, fmean(other) if other else 0.0
    seen = f"other processes used {used:.2f} cores, {fraction(stolen)} of the CPU time was stolen by other machines"
    return stolen > MAX_STEAL or used > MAX_OTHER_CORES, seen


def _possible(measurement: Measurement) -> Iterator[Conditions]:
    """Readings without those of more cores than there are: earlier versions read one over no time before the first round."""
    cores = measurement.facts.get("cpus_allowed") or math.inf
    return (reading for reading in measurement.rounds if (reading.other_cpu_cores or 0.0) <= cores + 0.5)


def is_throttled(arms: Iterable[Arm]) -> tuple[bool | None, str]:
    """Whether the GPU lowered its clocks for heat or power before or after some block."""
    known = [reading.throttle_reasons for arm in arms for reading in _around_blocks(arm)]
    reasons = [reason for reasons in known if reasons is not None for reason in reasons]
    if all(reasons is None for reasons in known):
        return None, "throttling cannot be read on this device"
    bad = sorted({reason for reason in reasons if not any(part in reason.lower() for part in HARMLESS_REASONS)})
    return bool(bad), f"the GPU throttled: {', '.join(bad)}" if bad else "no throttling was reported"


def clocks_differ(arm: Arm, baseline: Arm) -> tuple[bool | None, str]:
    """Whether the two arms ran at different GPU clocks."""
    ours, theirs = _clock(arm), _clock(baseline)
    if ours is None or theirs is None:
        return None, "GPU clocks cannot be read on this device"
    difference = abs(ours / theirs - 1)
    return difference > MAX_CLOCK_DIFFERENCE, f"median GPU clocks of the two arms differ by {fraction(difference)}"


def _clock(arm: Arm) -> float | None:
    # Before a block the GPU may idle at a low clock; after it the clock is the one it worked at.
    readings = [block.after.sm_clock_hz for _, block in arm.blocks() if block.after and block.after.sm_clock_hz]
    return median(readings) if readings else None


def _around_blocks(arm: Arm) -> Iterator[Conditions]:
    for _, block in arm.blocks():
        yield from (reading for reading in (block.before, block.after) if reading is not None)
