"""The row of an arm that was measured: its numbers, its checks, and the verdict they lead to."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from engine import stats
from engine.catalog import is_twin
from engine.comparison import checks, costs
from engine.comparison.arms import Arm, Arms, natural_baseline
from engine.comparison.arrivals import arrivals
from engine.comparison.badges import badges_of
from engine.comparison.gpu_time import gpu_time
from engine.comparison.pairing import log_ratios, process_log_ratios
from engine.comparison.row import ComparisonRow
from engine.comparison.unmeasured import identity
from engine.floors import floor_of
from engine.formatting import counted
from engine.result import Run
from engine.spec import PROTOCOLS
from engine.stats import Interval
from engine.verdict import Check, Judgement, Verdict, decide

LAUNCH_BOUND_HOST = 0.8
LAUNCH_BOUND_RATIO = 1.3
GPU_BOUND_RATIO = 1.1
"""Host over wall time above 0.8, or wall over GPU time above 1.3: launch-bound; the latter below 1.1: GPU-bound (METHOD 1.1)."""
MOST_SETS = max(protocol.process_sets for protocol in PROTOCOLS.values())
TINY_CALL_S = 200e-6
"""Below this, what a technique adds to every call (guards, wrappers: tens of microseconds) can cost more than it saves."""


@dataclass(frozen=True, slots=True)
class Point:
    """What all rows of one workload share: the run's arms, ln seconds per block, the number of compared variants."""

    run: Run
    arms: Arms
    table: pd.DataFrame
    comparisons: int

    def interval(self, variant: str, baseline: str) -> tuple[Interval | None, pd.Series[float]]:
        """Speed-up of one variant over another here, and its log ratio per process set."""
        ratios = process_log_ratios(self.table, variant, baseline)
        return stats.speedup_interval(ratios, self.comparisons_of(variant)), ratios

    def comparisons_of(self, variant: str) -> int:
        """How many comparisons its interval is corrected for. A twin is no finding but a check on the machine: by itself, or the
        same machine would be called unstable as soon as more techniques are measured on it."""
        return 1 if is_twin(variant) else self.comparisons


def measured_row(point: Point, arm: Arm, divided_by: Arm | None, baseline: str) -> ComparisonRow:
    """One row; `divided_by` is the baseline's arm, None where the run has none."""
    floor_s = floor_of(arm.variant, arm.workload, point.run)
    own = _own_checks(arm, floor_s)
    numbers = _times(arm) | costs.set_up(arm) | {"memory": costs.memory(arm), "floor_s": floor_s}
    numbers["arrivals"] = arrivals(arm)
    if arm.variant == baseline:
        judged = decide(own, None)
        verdict = Verdict.BASELINE if judged.verdict is Verdict.NO_VERDICT else judged.verdict
        numbers |= {"verdict": verdict, "reason": judged.reason, "baseline_median_s": numbers["median_s"]}
        every = (*own, checks.is_quiet([arm]), checks.none_failed(arm))
    else:
        every, compared = _compared(point, arm, divided_by, baseline, own)
        numbers |= compared
    badges = badges_of(point.run, arm, divided_by or Arm(baseline, arm.workload), every)
    return ComparisonRow(**identity(point.run, arm, baseline), **numbers, badges=badges, checks=every)


def _compared(
    point: Point, arm: Arm, divided_by: Arm | None, baseline: str, own: tuple[Check, ...]
) -> tuple[tuple[Check, ...], dict[str, Any]]:
    """Checks and numbers that need the baseline."""
    interval, ratios = point.interval(arm.variant, baseline)
    other = divided_by or Arm(baseline, arm.workload)
    drift = stats.drift(log_ratios(point.table, arm.variant, baseline))
    every = (
        *own,
        _baseline_stands(point, other),
        checks.same_settings(arm, other),
        checks.enough_process_sets(len(ratios)),
        checks.twin_agrees(_twins(point)),
        checks.is_quiet([arm, other]),
        checks.clocks_held(arm, other),
        checks.is_steady(arm, other),
        checks.does_not_drift(drift),
        checks.none_failed(arm),
    )
    judged = decide(every, interval)
    # Medians are compared over the process sets the two share; a baseline measured in several groups has more.
    shared = other.steady(ratios.index)
    baseline_s = stats.median(shared if shared.size else other.steady())
    extra = stats.extra_process_sets_needed(ratios, point.comparisons_of(arm.variant))
    return every, {
        "verdict": judged.verdict,
        "reason": judged.reason or _reason(judged.verdict, arm, extra),
        "speedup": None if judged.verdict.hides_speedup else interval,
        "process_ratios": () if judged.verdict.hides_speedup else tuple(np.exp(ratios).tolist()),
        "extra_process_sets": extra if judged.verdict is Verdict.INCONCLUSIVE else None,
        "baseline_median_s": baseline_s,
        "drift": drift,
        **costs.break_even(arm, judged.verdict, interval, baseline_s),
    }


def _own_checks(arm: Arm, floor_s: float | None) -> tuple[Check, ...]:
    return checks.ran(arm), checks.outputs_agree(arm), checks.is_possible(stats.median(arm.steady()), floor_s)


def _baseline_stands(point: Point, baseline: Arm) -> Check:
    """Is there something to divide by?"""
    judged = Judgement(Verdict.FAILED, baseline.failures[-1].message if baseline.failures else "it was not measured")
    if baseline.measurements:
        judged = decide(_own_checks(baseline, floor_of(baseline.variant, baseline.workload, point.run)), None)
    stands = judged.verdict is Verdict.NO_VERDICT
    return Check(
        key="baseline",
        title="The baseline stands",
        passed=stands,
        detail="the baseline passes the same checks" if stands else f"baseline: {judged.verdict}: {judged.reason}",
        meaning="A speed-up over a baseline that failed or is wrong would mean nothing.",
        otherwise=Verdict.NOT_COMPARABLE,
    )


def _twins(point: Point) -> dict[str, Interval]:
    """Intervals of the A/A twins measured at this point."""
    intervals = {
        str(variant): point.interval(str(variant), natural_baseline(str(variant)))[0]
        for variant in point.table
        if is_twin(str(variant))
    }
    return {variant: interval for variant, interval in intervals.items() if interval}


def _reason(verdict: Verdict, arm: Arm, extra: int | None) -> str:
    if verdict is Verdict.INCONCLUSIVE:
        if extra is None:
            return "the difference lies at the edge of the 1 % band, or the spread is large: no protocol here measures enough"
        rigorous = "" if len(arm.latencies) + extra <= MOST_SETS else f"; the rigorous protocol has {MOST_SETS} in all"
        return f"about {counted(extra, 'more process set')} would decide it, if spread and difference stay{rigorous}"
    is_tiny = (stats.median(arm.steady()) or math.inf) < TINY_CALL_S
    if verdict is Verdict.SLOWER and (is_tiny or _bound(arm) == "launch-bound"):
        return "overhead-bound: calls are so short that what the technique adds costs more than it saves; try a larger batch"
    return ""


def _times(arm: Arm) -> dict[str, Any]:
    """Everything read from the arm's own steady samples."""
    steady, gpu = arm.steady(), gpu_time(arm)
    blocks = [block for _, block in arm.blocks()]
    per_sample = max((block.calls_per_sample for block in blocks), default=1)
    single = per_sample == 1
    quartiles = np.quantile(steady, (0.25, 0.75)) if steady.size else None
    throughput = [
        measurement.throughput_s[index]
        for measurement, index in zip(arm.measurements, arm.indices, strict=True)
        if index < len(measurement.throughput_s)
    ]
    return {
        "processes": len(arm.latencies),
        "rounds": min((len(rounds) for rounds in _rounds(arm).values()), default=0),
        "samples": int(steady.size),
        "calls_per_sample": per_sample,
        "median_s": stats.median(steady),
        "iqr_s": None if quartiles is None else float(quartiles[1] - quartiles[0]),
        "p95": stats.percentile(steady, 0.95) if single else None,
        "p99": stats.percentile(steady, 0.99) if single else None,
        "percentile_note": None if single else f"one sample is the mean of {per_sample} calls: single calls are not known",
        "host_s": costs.known_median(time for block in blocks for time in block.host_s or ()),
        "gpu_s": gpu.seconds,
        "gpu_is_profiled": gpu.is_profiled,
        "throughput_s": costs.known_median(throughput),
        "empty_s": costs.known_median(measurement.harness_s.get("empty") for measurement in arm.measurements),
        "synchronize_s": costs.known_median(measurement.harness_s.get("synchronize") for measurement in arm.measurements),
        "bound": _bound(arm),
        "raw_change": _largest_change(arm),
    }  # fmt: skip


def _rounds(arm: Arm) -> dict[int, set[int]]:
    rounds: dict[int, set[int]] = {}
    for measurement, block in arm.blocks():
        rounds.setdefault(measurement.process, set()).add(block.round)
    return rounds


def _bound(arm: Arm) -> str | None:
    """Whether launching or the GPU limits this arm; None without GPU times."""
    gpu_s, wall_s = gpu_time(arm).seconds, stats.median(arm.steady())
    host_s = costs.known_median(time for _, block in arm.blocks() for time in block.host_s or ())
    if gpu_s is None or wall_s is None:
        return None
    if wall_s / gpu_s > LAUNCH_BOUND_RATIO or (host_s or 0.0) >= LAUNCH_BOUND_HOST * wall_s:
        return "launch-bound"
    return "GPU-bound" if wall_s / gpu_s < GPU_BOUND_RATIO else None


def _largest_change(arm: Arm) -> float | None:
    changes = [change for times in arm.latencies.values() if (change := stats.raw_change(times)) is not None]
    return max(changes, key=abs, default=None)
