"""The questions of "Can I trust this?", in the order in which their answers decide (METHOD 1.6).

Each answer is made of what was observed; a question that cannot be answered here is unknown, never passed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from engine import proof
from engine.catalog import VARIANTS, find_variant
from engine.catalog.types import TWIN_SUFFIX
from engine.comparison import surroundings
from engine.comparison.arms import Arm, precision_of
from engine.floors import facts_at, is_impossible
from engine.formatting import interval as interval_text
from engine.formatting import seconds
from engine.formatting import speedup as speedup_text
from engine.result import Measurement
from engine.stats import Drift, Interval
from engine.verdict import Check, Verdict

MAX_TWIN_HALF_WIDTH = 0.03
"""A machine on which the same work differs from itself by more than this tells nothing about techniques (METHOD 1.6)."""
MIN_PROCESS_SETS = 3
"""An interval over fewer process sets carries no word (METHOD 1.4)."""
MATCHED_FACTS = {
    "threads": "threads",
    "cpus_allowed": "cores",
    "grad_mode": "gradients",
    "attention": "attention",
    "matmul_precision": "precision of matrix products",
}
PRECISION_FACTS, MODEL_FACTS = {"matmul_precision"}, {"attention"}
"""Facts that must be the same in both arms; a difference would be measured instead of the technique. A variant that names
another precision class is another precision on purpose, and carries a badge; an operator has no attention."""


def ran(arm: Arm) -> Check:
    """Did the technique really happen?"""
    seen = [replace(each, workloads=(arm.workload,)) for each in _narrowed(arm)]
    finding = proof.judge_mechanism(find_variant(arm.variant), seen) if _is_known(arm) else None
    return Check(
        key="ran",
        title="The technique really ran",
        passed=finding.passed if finding else None,
        detail=finding.reason if finding else "this version has no rule for it",
        meaning="Counters taken in the measured process show that the technique did what its name says.",
        otherwise=Verdict.DID_NOT_RUN,
    )


def outputs_agree(arm: Arm) -> Check:
    """Are the answers right?"""
    finding = proof.judge_outputs(find_variant(arm.variant), arm.workload, _narrowed(arm)) if _is_known(arm) else None
    return Check(
        key="outputs",
        title="The outputs are right",
        passed=finding.passed if finding else None,
        detail=finding.reason if finding else "this version has no rule for it",
        meaning="Compared with a float64 reference and with eager, before and after timing, on the measured callable.",
        otherwise=Verdict.WRONG_RESULT,
    )


def is_possible(median_s: float | None, floor_s: float | None) -> Check:
    """Is the time above the physical floor?"""
    passed, detail = None, "no floor is known here"
    if median_s is not None and floor_s is not None:
        passed = not is_impossible(median_s, floor_s)
        reached = f"{floor_s / median_s:.0%} of the possible speed"
        detail = f"median {seconds(median_s)}, floor {seconds(floor_s)}: {reached}"
    return Check(
        key="floor",
        title="Not faster than physics allows",
        passed=passed,
        detail=detail,
        meaning="Bandwidth and arithmetic measured in the same run bound any time from below.",
        otherwise=Verdict.IMPOSSIBLE,
    )


def same_settings(arm: Arm, baseline: Arm) -> Check:
    """Were both arms measured under the same settings?"""
    is_same_class = precision_of(arm) == precision_of(baseline)
    left_out = (set() if is_same_class else PRECISION_FACTS) | (set() if arm.workload.model else MODEL_FACTS)
    matched = [key for key in MATCHED_FACTS if key not in left_out]
    differing = [text for key in matched if (text := _difference(key, arm, baseline))]
    unknown = [MATCHED_FACTS[key] for key in matched if not (_values(key, [arm]) and _values(key, [baseline]))]
    same = [MATCHED_FACTS[key] for key in matched if MATCHED_FACTS[key] not in unknown]
    found = [f"the same in both arms: {', '.join(same)}"] * bool(same) + [f"not known: {', '.join(unknown)}"] * bool(
        unknown
    )
    return Check(
        key="settings",
        title="Same settings as the baseline",
        passed=False if differing else None if unknown else True,
        detail="; ".join(differing or found),
        meaning="A different thread count or precision in one arm would be measured instead of the technique.",
        otherwise=Verdict.NOT_COMPARABLE,
    )


def enough_process_sets(processes: int) -> Check:
    """Are there enough process sets for a word?"""
    sets = "one process set" if processes == 1 else f"{processes} process sets"
    return Check(
        key="process_sets",
        title="Enough process sets for a verdict",
        passed=processes >= MIN_PROCESS_SETS,
        detail=f"{sets}: no verdict" if processes < MIN_PROCESS_SETS else sets,
        meaning="Fresh processes differ from each other; the interval is over them, so it takes at least three.",
        otherwise=Verdict.NO_VERDICT,
    )


def none_failed(arm: Arm) -> Check:
    """Did every process set end well? Information: the others stand, and their number is shown."""
    last = arm.failures[-1] if arm.failures else None
    return Check(
        key="failures",
        title="No process set failed",
        passed=last is None,
        detail=f"{len(arm.failures)} failed, the last at {last.stage}: {last.message}"
        if last
        else "every process set ended well",
        meaning="A process set that failed has no times; the numbers are from the others.",
    )


def twin_agrees(twins: dict[str, Interval]) -> Check:
    """Does the same work, measured as two arms, come out the same?"""
    wide = [interval for interval in twins.values() if (interval.half_width or 0) > MAX_TWIN_HALF_WIDTH]
    off = [interval for interval in twins.values() if interval.low is not None and not interval.contains(1.0)]
    known = [interval for interval in twins.values() if interval.low is not None]
    return Check(
        key="twin",
        title="The same work twice comes out the same (A/A)",
        passed=not (wide or off) if known else None,
        detail="; ".join(f"A/A twin {_interval(interval)}" for interval in known) or "no A/A interval here",
        meaning="The baseline is measured as two arms. Its interval must contain 1.0 and be narrower than +-3 %.",
        otherwise=Verdict.UNSTABLE,
    )


def is_quiet(arms: list[Arm]) -> Check:
    """Was the machine otherwise idle?"""
    busy, seen = surroundings.is_busy(arms)
    return Check(
        key="quiet",
        title="The machine was otherwise idle",
        passed=None if busy is None else not busy,
        detail=seen,
        meaning="Other work above 0.2 cores, or more than 1 % of the CPU time taken by other machines, disturbs the times.",
        otherwise=Verdict.UNSTABLE,
    )


def clocks_held(arm: Arm, baseline: Arm) -> Check:
    """Did the GPU keep its clocks?"""
    throttled, seen = surroundings.is_throttled([arm, baseline])
    differ, clocks = surroundings.clocks_differ(arm, baseline)
    return Check(
        key="clocks",
        title="Clocks held, no throttling",
        passed=None if throttled is None and differ is None else not (throttled or differ),
        detail=f"{seen}; {clocks}",
        meaning="A GPU that lowers its clocks for heat or power slows whichever arm is running at that moment.",
        otherwise=Verdict.UNSTABLE,
    )


def is_steady(arm: Arm, baseline: Arm) -> Check:
    """Did every process set reach a steady state?"""
    points = [*arm.points, *baseline.points]
    unsteady = sum(not point.reached_steady_state for point in points)
    return Check(
        key="steady",
        title="Steady state reached",
        passed=not unsteady,
        detail=f"{unsteady} of {len(points)} set-ups ran out of warm-up time before their times settled"
        if unsteady
        else "the last two windows of warm-up calls agreed within 1 % everywhere",
        meaning="Timing should start when the medians of two windows of ten warm-up calls differ by less than 1 %. After "
        "ten seconds (of slow calls: four at least) it starts all the same, and this says so.",
        otherwise=Verdict.UNSTABLE,
    )


def does_not_drift(drift: Drift | None) -> Check:
    """Did the ratio stay put from the first to the last round?"""
    return Check(
        key="drift",
        title="No drift over the rounds",
        passed=None if drift is None else not drift.is_drifting,
        detail="too few rounds to tell"
        if drift is None
        else f"last third over first third {drift.change:+.1%}, rank correlation {drift.rank_correlation:+.2f}",
        meaning="Judged on ratios to the baseline within a round: what slows both alike is no drift.",
        otherwise=Verdict.UNSTABLE,
    )


def _narrowed(arm: Arm) -> list[Measurement]:
    """The arm's measurements with what each workload has of its own (profiled launches) told of this one alone."""
    return [replace(each, facts=facts_at(each, arm.workload)) for each in arm.measurements]


def _is_known(arm: Arm) -> bool:
    return arm.variant.removesuffix(TWIN_SUFFIX) in VARIANTS


def _interval(interval: Interval) -> str:
    return f"{speedup_text(interval.estimate)} {interval_text(interval.low, interval.high)}"


def _difference(key: str, arm: Arm, baseline: Arm) -> str | None:
    ours, theirs = _values(key, [arm]), _values(key, [baseline])
    if not ours or not theirs or (ours == theirs and len(ours) == 1):
        return None
    return f"{key} {' and '.join(map(str, ours))}, baseline {' and '.join(map(str, theirs))}"


def _values(key: str, arms: Iterable[Arm]) -> list[Any]:
    """Different known values of a fact; unknown ones say nothing."""
    values = [measurement.facts.get(key) for arm in arms for measurement in arm.measurements]
    return list(dict.fromkeys(value for value in values if value is not None))
