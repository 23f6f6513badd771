"""What a technique costs: set-up seconds with a cold and a warm compile cache, calls to break even, memory by kind."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from engine import stats
from engine.comparison.arms import Arm
from engine.metrics import MEMORY
from engine.proof.caches import proven_cache
from engine.result import Measurement
from engine.stats import Interval
from engine.verdict import Verdict


def set_up(arm: Arm) -> dict[str, Any]:
    """Set-up fields of a row. Where nothing compiles, the first process set counts as cold and the others as warm."""
    cold, warm = _cold_and_warm(arm)
    first = cold[0] if cold else None
    return {
        "load_s": known_median(measurement.load_s for measurement in arm.measurements),
        "compile_s": first.compile_s if first else None,
        "autotune_s": first.autotune_s if first else None,
        "first_calls_s": _first_calls(arm, first) if first else (),
        "first_compile_cache": first.compile_cache if first else None,
        "setup_cold_s": _set_up_seconds(arm, first) if first else None,
        "setup_warm_s": known_median(_set_up_seconds(arm, measurement) for measurement in warm),
    }


def break_even(arm: Arm, verdict: Verdict, interval: Interval | None, baseline_s: float | None) -> dict[str, Any]:
    """Break-even calls with a cold and with a warm cache; unknown where no interval or no valid saving exists."""
    if interval is None or interval.low is None or baseline_s is None or not verdict.is_statistical:
        return {}
    saving = stats.saving_per_call(baseline_s, interval)
    costs = set_up(arm)
    return {
        f"break_even_{state}": stats.break_even(seconds, saving)
        for state in ("cold", "warm")
        if (seconds := costs[f"setup_{state}_s"]) is not None
    }


def memory(arm: Arm) -> dict[str, float | None]:
    """Median over process sets of every kind of memory that was read; a kind that could not be read is None, never 0."""
    kinds = dict.fromkeys(kind for measurement in arm.measurements for kind in measurement.memory)
    return {
        kind: known_median(measurement.memory.get(kind) for measurement in arm.measurements)
        for kind in sorted(kinds, key=_memory_order)
    }


def _memory_order(kind: str) -> tuple[int, str]:
    order = list(MEMORY)
    return (order.index(kind) if kind in order else len(order)), kind


def _cold_and_warm(arm: Arm) -> tuple[list[Measurement], list[Measurement]]:
    ordered = sorted(arm.measurements, key=lambda measurement: measurement.process)
    if any(measurement.compile_cache for measurement in ordered):
        states = [(measurement, proven_cache(measurement)) for measurement in ordered]
        return [m for m, state in states if state == "cold"], [m for m, state in states if state == "warm"]
    return ordered[:1], ordered[1:]


def _first_calls(arm: Arm, measurement: Measurement) -> tuple[float, ...]:
    return measurement.points[measurement.workloads.index(arm.workload)].first_calls_s


def _set_up_seconds(arm: Arm, measurement: Measurement) -> float | None:
    """First calls beyond steady ones, at this process set's own steady median, plus applying the technique."""
    steady_s = stats.median(arm.latencies.get(measurement.process, ()))
    if steady_s is None:
        return None
    return stats.set_up_seconds(_first_calls(arm, measurement), steady_s, measurement.apply_s)


def known_median(values: Iterable[float | None]) -> float | None:
    """Median of what is known, None where nothing is."""
    return stats.median([value for value in values if value is not None])
