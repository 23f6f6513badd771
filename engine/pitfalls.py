"""What each mistaken loop reported, what was right in the same run, and how far apart the two are. Numbers and sentences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from engine import formatting, stats
from engine.catalog import MEASURED, PITFALLS, Pitfall, fits
from engine.comparison import ComparisonRow, compare_run
from engine.comparison.arms import arms_of
from engine.comparison.checks import MIN_PROCESS_SETS
from engine.result import Measurement, Run
from engine.spec import Experiment, Protocol, Workload
from engine.stats import DELTA, Interval
from engine.verdict import Verdict

NOT_A_RESULT = (Verdict.WRONG_RESULT, Verdict.IMPOSSIBLE, Verdict.DID_NOT_RUN, Verdict.FAILED)
"""Latencies behind these words belong to no working model; nothing can be called right by them."""

ALONE = "one process set"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """One pitfall and what was measured of it, in seconds per call or as a ratio, as `pitfall.is_ratio` says.

    `reports` is the number the mistaken loop came to, one per process set that ran it, the first set first. `right` is None
    where there is no right number to compare with; `why` then says why. `note` is what the loop saw beside its number.
    """

    pitfall: Pitfall
    reports: tuple[float, ...] = ()
    right: Interval | None = None
    why: str = ""
    note: str = ""

    @property
    def reported(self) -> float | None:
        """What the script would have said: a script is run once."""
        return self.reports[0] if self.reports else None

    @property
    def factor(self) -> float | None:
        """How many times as fast it seemed as it is: above 1 it flatters. None without both numbers, or for a negative time."""
        if self.reported is None or self.right is None or self.reported <= 0:
            return None
        return self._factor(self.reported, self.right.estimate)

    @property
    def factors(self) -> tuple[float, ...]:
        """The same for every process set that ran the loop."""
        right = self.right
        return tuple(self._factor(each, right.estimate) for each in self.reports if each > 0) if right else ()

    @property
    def whisker(self) -> tuple[float, float] | None:
        """The right number's interval on the same scale, where 1 is right; None without an interval."""
        if self.right is None or self.right.low is None or self.right.high is None:
            return None
        ends = (self._factor(self.right.low, self.right.estimate), self._factor(self.right.high, self.right.estimate))
        return min(ends), max(ends)

    @property
    def is_seen(self) -> bool:
        """Whether the error shows here: beyond the right number's interval, and beyond what makes no difference."""
        if self.reported is None or self.right is None:
            return False
        is_inside = self.right.contains(self.reported)
        return not is_inside and (self.factor is None or abs(math.log(self.factor)) > math.log(1 + DELTA))

    def _factor(self, number: float, right: float) -> float:
        return number / right if self.pitfall.is_ratio else right / number


def experiment(model: Workload, device: str, protocol: Protocol) -> Experiment:
    """Everything that the ten lessons need, in one run."""
    technique = next(each for each in MEASURED if each.key == "pitfalls")
    points = (model, *(Workload(**fields) for fields in technique.default_workloads))  # type: ignore[arg-type]
    variants = tuple(variant.key for variant in technique.variants if any(fits(variant, point) for point in points))
    return Experiment(workloads=points, variants=variants, device=device, protocol=protocol)


def lessons(run: Run | None) -> list[Lesson]:
    """All ten, in the page's order; without a run, or where it has nothing on one, with the reason in place of numbers."""
    if run is None:
        return [Lesson(pitfall=pitfall, why="not measured here yet") for pitfall in PITFALLS]
    rows: dict[str | None, list[ComparisonRow]] = {None: compare_run(run)}
    measured = {outcome.variant for outcome in run.outcomes if isinstance(outcome, Measurement)}
    for pitfall in PITFALLS:
        if pitfall.over in measured:
            rows[pitfall.over] = compare_run(run, pitfall.over)
    return [_lesson(run, pitfall, rows.get(pitfall.over, [])) for pitfall in PITFALLS]


def _lesson(run: Run, pitfall: Pitfall, rows: Sequence[ComparisonRow]) -> Lesson:
    row = next((row for row in rows if row.variant == pitfall.right), None)
    left = _left_by(run, pitfall, row) if row else []
    reports = tuple(number for each in left if (number := _number(pitfall, each)) is not None)
    note = next((str(each["note"]) for each in left if each.get("note")), "")
    why = _why_not(run, pitfall, row, reports)
    right = None if why or row is None else (row.speedup if pitfall.is_ratio else _latency(run, row))
    return Lesson(pitfall=pitfall, reports=reports, right=right, why=why, note=note)


def _left_by(run: Run, pitfall: Pitfall, row: ComparisonRow) -> list[dict[str, object]]:
    """What the loop left in each process set at the row's point, the first set first."""
    outcomes = [each for each in run.outcomes if each.variant == pitfall.run_by and row.workload in each.workloads]
    measured = sorted((each for each in outcomes if isinstance(each, Measurement)), key=lambda each: each.process)
    loops = [each.facts.get("mistaken_loops") for each in measured]
    found = [each[pitfall.key] for each in loops if isinstance(each, dict) and pitfall.key in each]
    return [each for each in found if isinstance(each, dict)]


def _number(pitfall: Pitfall, left: dict[str, object]) -> float | None:
    reported_s, baseline_s = left.get("reported_s"), left.get("baseline_s")
    if not isinstance(reported_s, int | float):
        return None
    if not pitfall.is_ratio:
        return float(reported_s)
    return float(baseline_s / reported_s) if isinstance(baseline_s, int | float) and reported_s > 0 else None


def _why_not(run: Run, pitfall: Pitfall, row: ComparisonRow | None, reports: Sequence[float]) -> str:
    """Why there is no pair of numbers; empty when there is one."""
    for failure in run.outcomes:
        if failure.variant == pitfall.run_by and not isinstance(failure, Measurement) and not reports:
            return f"{'not available here' if failure.kind == 'unavailable' else 'failed'}: {failure.message}"
    if row is None or not reports:
        return "not measured in this run"
    if pitfall.repeats and row.processes < MIN_PROCESS_SETS:
        sets = ALONE if row.processes == 1 else f"{row.processes} process sets"
        return f"{sets} cannot tell, the standard protocol can"
    if row.verdict in NOT_A_RESULT or (pitfall.is_ratio and row.speedup is None):
        return f"{row.verdict.value}: {row.reason}" if row.reason else row.verdict.value
    return ""


def _latency(run: Run, row: ComparisonRow) -> Interval | None:
    """Median seconds per call with its interval over process sets."""
    latencies = arms_of(run)[row.variant, row.workload].latencies
    medians = [value for samples in latencies.values() if (value := stats.median(samples))]
    return stats.speedup_interval([math.log(value) for value in medians])


def reported_text(lesson: Lesson) -> str:
    """What the loop said: "0.21x" or "31.2 ms"."""
    return _text(lesson, lesson.reported)


def right_text(lesson: Lesson) -> str:
    """The right number, with its interval where there is one."""
    right = lesson.right
    if right is None:
        return formatting.UNKNOWN
    if right.low is None or right.high is None:
        return _text(lesson, right.estimate)
    if lesson.pitfall.is_ratio:
        return f"{_text(lesson, right.estimate)} {formatting.interval(right.low, right.high)}"
    return f"{_text(lesson, right.estimate)} [{_text(lesson, right.low)}, {_text(lesson, right.high)}]"


def error_text(lesson: Lesson) -> str:
    """How wrong the reported number is, in words."""
    if lesson.reported is None or lesson.right is None:
        return lesson.why
    if lesson.factor is None:
        return "a negative time"
    if not lesson.is_seen:
        return "no error seen in this run"
    if lesson.factor > 1:
        return f"looks {formatting.speedup(lesson.factor)} too fast"
    return f"looks {formatting.speedup(1 / lesson.factor)} too slow"


def sentence(lesson: Lesson) -> str:
    """A lesson in one line: reported, right, error."""
    if lesson.right is None or lesson.reported is None:
        return f"{lesson.pitfall.title}: {lesson.why}"
    return f"{lesson.pitfall.title}: reported {reported_text(lesson)}, right {right_text(lesson)}: {error_text(lesson)}"


def headline(found: Sequence[Lesson]) -> str:
    """What the ten come to: how many mistakes show here, and the largest."""
    known = [lesson for lesson in found if lesson.right is not None and lesson.reported is not None]
    seen = [lesson for lesson in known if lesson.is_seen]
    if not known:
        return "None of the ten could be measured in this run."
    if not seen:
        return f"Mistakes measured here: {len(known)}; none changed its number noticeably."
    worst = max(seen, key=lambda lesson: abs(math.log(lesson.factor)) if lesson.factor else math.inf)
    return (
        f"{len(seen)} of the {len(known)} mistakes measured here changed the number; the largest: "
        f'"{worst.pitfall.title}" {error_text(worst)} ({reported_text(worst)} instead of {right_text(worst)}).'
    )


def numbers(lesson: Lesson) -> pd.DataFrame:
    """Reported, right and error under each other."""
    what = "speed-up" if lesson.pitfall.is_ratio else "time per call"
    alone = "" if lesson.whisker else f" ({ALONE}: no interval)"
    texts = {"It reports": reported_text(lesson), "Right": right_text(lesson) + alone, "Error": error_text(lesson)}
    return pd.DataFrame({"number": texts.keys(), what: texts.values()})


def _text(lesson: Lesson, number: float | None) -> str:
    return formatting.speedup(number) if lesson.pitfall.is_ratio else formatting.seconds(number)
