"""The request stream as it was answered: total time of each variant, what of it was stalls, after how many requests it pays.

Each variant answers the stream once, so there is no interval and no verdict; the A/A twin says what the same work differs by.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from engine.comparison import ComparisonRow
from engine.result import Measurement, Run
from engine.verdict import Verdict

TIE = 0.05
"""Totals of one stream each that differ by less than this are called equal, or by less than the A/A twin does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamRow:
    """One variant's stream. `stall_s` is the whole time of the `stalls` requests that compiled; `problem` says what makes
    the total no result of this variant, or why there is none. `eager_s` is what eager needed for them beside this variant.
    """

    variant: str
    label: str
    is_baseline: bool
    is_twin: bool
    requests: int
    total_s: float | None = None
    stall_s: float = 0.0
    stalls: int = 0
    graphs: int | None = None
    eager_s: float | None = None
    problem: str = ""

    @property
    def pays_back_after(self) -> float | None:
        """Requests like these after which the stalls are earned back; infinite when they never are, None when unknown."""
        if self.total_s is None or self.eager_s is None or self.is_baseline or self.is_twin or self.problem:
            return None
        answered = self.requests - self.stalls
        if not answered:
            return None
        saving_s = self.eager_s / self.requests - (self.total_s - self.stall_s) / answered
        return self.stall_s / saving_s if saving_s > 0 else math.inf


def streams(run: Run, rows: Sequence[ComparisonRow]) -> list[StreamRow]:
    """One row per variant that was to answer the stream, in the rows' order; empty for a run without one."""
    if not run.experiment.request_lengths:
        return []
    answered = _answered(run)
    eager_s = _eager_seconds(run, {row.variant for row in rows if _is_eager(row)})
    by_variant: dict[str, list[ComparisonRow]] = {}
    for row in rows:
        by_variant.setdefault(row.variant, []).append(row)
    return [_row(run, own, answered.get(variant), eager_s) for variant, own in by_variant.items()]


def soonest(found: Iterable[StreamRow]) -> StreamRow | None:
    """The variant that was through first, of those whose total counts; a twin is no variant."""
    valid = [row for row in found if row.total_s is not None and not row.problem and not row.is_twin]
    return min(valid, key=lambda row: row.total_s or math.inf, default=None)


def chance(found: Sequence[StreamRow]) -> float:
    """By how much totals of the same work differ: the A/A twin's difference from eager, or `TIE` when that is more."""
    twins = [row for row in found if row.is_twin and row.total_s and row.eager_s]
    return max([TIE, *(abs((row.total_s or 0.0) / (row.eager_s or 1.0) - 1) for row in twins)])


def _answered(run: Run) -> dict[str, Measurement]:
    """The measurement with the stream of each variant; a baseline measured in several groups answered several times."""
    found: dict[str, Measurement] = {}
    for outcome in run.outcomes:
        if isinstance(outcome, Measurement) and (outcome.request_s or outcome.facts.get("requests_failed")):
            found.setdefault(outcome.variant, outcome)
    return found


def _eager_seconds(run: Run, baselines: Collection[str]) -> dict[int, float]:
    """Eager's total by process set: arms of one group answered their streams one after another, in the same minutes."""
    return {
        outcome.process: sum(outcome.request_s)
        for outcome in run.outcomes
        if isinstance(outcome, Measurement) and outcome.variant in baselines and outcome.request_s
    }


def _row(
    run: Run, rows: Sequence[ComparisonRow], measured: Measurement | None, eager_s: Mapping[int, float]
) -> StreamRow:
    first = rows[0]
    times = measured.request_s if measured else ()
    facts = measured.facts if measured else {}
    stalled = [number for number in facts.get("requests_that_compiled") or () if 1 <= number <= len(times)]
    return StreamRow(
        variant=first.variant,
        label=first.label,
        is_baseline=_is_eager(first),
        is_twin=first.is_twin,
        requests=len(run.experiment.request_lengths),
        total_s=sum(times) if times else None,
        stall_s=sum(times[number - 1] for number in stalled),
        stalls=len(stalled),
        graphs=facts.get("request_graphs"),
        eager_s=eager_s.get(measured.process) if measured else None,
        problem=_problem(rows, measured),
    )


def _problem(rows: Sequence[ComparisonRow], measured: Measurement | None) -> str:
    """Why the stream's total is no result of the variant: it was not answered, its answers are wrong, or eager did the work."""
    if measured is None:
        return _told(rows[0]) if not rows[0].samples else "not answered"
    if failed := measured.facts.get("requests_failed"):
        return str(failed)
    # A limit reached by the measured lengths says nothing about the stream, which started afresh.
    defects = {Verdict.WRONG_RESULT, Verdict.IMPOSSIBLE}
    if not measured.facts.get("recompile_limit_hit"):
        defects.add(Verdict.DID_NOT_RUN)
    wrong = next((row for row in rows if row.verdict in defects), None)
    if wrong is not None:
        return _told(wrong)
    return "partly eager: recompile limit reached" if measured.facts.get("request_limit_hit") else ""


def _told(row: ComparisonRow) -> str:
    return ": ".join(filter(None, (row.verdict.value, row.reason)))


def _is_eager(row: ComparisonRow) -> bool:
    return row.is_baseline and not row.is_twin
