"""What this machine says about the article's claims: holds here, does not hold here, not testable here."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from engine.catalog.types import Claim
from engine.comparison.new_lengths import has_enough_lengths, no_new_graphs
from engine.comparison.peak_memory import change_of, peak_memory_words
from engine.comparison.row import ComparisonRow
from engine.formatting import interval, speedup
from engine.result import Run
from engine.spec import Experiment
from engine.stats import DELTA, Interval
from engine.verdict import Verdict

SEEN_BY_THE_TWIN = frozenset({"twin", "quiet"})
"""Checks of what disturbs all arms alike. Other clocks, throttling, a drifting ratio or no steady state may be one arm's own:
the A/A twin of the baseline shows nothing of them."""


class ClaimWord(StrEnum):
    """The three things that may be said about a claim."""

    HOLDS = "holds here"
    DOES_NOT_HOLD = "does not hold here"
    NOT_TESTABLE = "not testable here"

    @property
    def icon(self) -> str:
        """Material icon, as Streamlit writes it."""
        return {"holds here": ":material/check_circle:", "does not hold here": ":material/cancel:"}.get(
            self.value, ":material/help:"
        )


@dataclass(frozen=True, slots=True)
class ClaimVerdict:
    """The word, the reason for it, and the row it rests on."""

    word: ClaimWord
    reason: str
    row: ComparisonRow | None = None


def claim_verdict(claim: Claim, rows: Sequence[ComparisonRow]) -> ClaimVerdict:
    """Judge a claim by the row of its variant at its workload, against its baseline; `rows` may hold anything else too.

    A figure holds when the 95 % interval of an established difference includes it, as far as its digits say; a claim without
    a figure when the variant is faster. An inconclusive interval decides nothing in a claim's favour, however wide it is.
    An unstable measurement decides only what is beyond doubt all the same.
    A claim about what a call starts is judged by what the profiler counted, however fast that was.
    A claim about graphs is judged on the graphs counted after each length. Rows of several runs are judged run by run, and the
    first that could decide speaks.
    """
    by_run: dict[str, list[ComparisonRow]] = {}
    for row in rows:
        by_run.setdefault(row.run_id, []).append(row)
    return _first_to_decide([_judged(claim, own) for own in by_run.values()] or [_judged(claim, ())])


def _judged(claim: Claim, rows: Sequence[ComparisonRow]) -> ClaimVerdict:
    judges = {
        "graphs": _judged_by_graphs,
        "memory": _judged_by_memory,
        "mechanism": _judged_by_mechanism,
        "speedup": _judged_by_speedup,
    }
    return judges[claim.judged_by](claim, rows)


def could_decide(claim: Claim, experiment: Experiment) -> bool:
    """Whether a run of this experiment may hold what the claim is judged by, as far as the experiment alone tells."""
    if claim.judged_by == "memory":
        return any(workload.model for workload in experiment.workloads)
    if claim.variant not in experiment.variants:
        return False
    if claim.judged_by == "graphs":
        return has_enough_lengths(experiment.workloads)
    return claim.workload is None or claim.workload in experiment.workloads


def newest_verdict(
    claim: Claim, results: Iterable[tuple[Run, Sequence[ComparisonRow]]]
) -> tuple[ClaimVerdict, Run | None]:
    """The verdict of the first run that could decide, with that run; where none could, of the first that tried.

    `results` are runs with their rows, in the order in which they are to be asked.
    """
    judged = [(claim_verdict(claim, rows), run) for run, rows in results]
    if not judged:
        return _judged(claim, ()), None
    chosen = _first_to_decide([verdict for verdict, _ in judged])
    return chosen, next(run for verdict, run in judged if verdict is chosen) if chosen.row else None


def _first_to_decide(verdicts: Sequence[ClaimVerdict]) -> ClaimVerdict:
    """The first that could decide, else the first that tried, else the first."""
    decided = (verdict for verdict in verdicts if verdict.word is not ClaimWord.NOT_TESTABLE)
    tried = (verdict for verdict in verdicts if verdict.row is not None)
    return next(decided, None) or next(tried, None) or verdicts[0]


def _judged_by_speedup(claim: Claim, rows: Sequence[ComparisonRow]) -> ClaimVerdict:
    row = next(iter(sorted(_rows_for(claim, rows), key=lambda row: not row.verdict.is_statistical)), None)
    if row is None:
        where = claim.source_note or "it has not been measured here in this configuration"
        return ClaimVerdict(ClaimWord.NOT_TESTABLE, where)
    if not row.verdict.is_statistical or row.speedup is None:
        return _without_verdict(claim, row, rows)
    measured = f"measured {_number(row.speedup)}"
    if claim.speedup is None:
        return ClaimVerdict(_word_without_figure(row), "; ".join([f"{measured}: {row.verdict}", *_proofs(row)]), row)
    if not _includes(row.speedup, claim.speedup):
        return ClaimVerdict(ClaimWord.DOES_NOT_HOLD, f"{measured}, claimed {speedup(claim.speedup)}", row)
    if row.verdict is Verdict.INCONCLUSIVE:
        return ClaimVerdict(ClaimWord.NOT_TESTABLE, f"{measured}: too wide an interval to decide", row)
    return ClaimVerdict(ClaimWord.HOLDS, f"{measured} includes the claimed {speedup(claim.speedup)}", row)


def _without_verdict(claim: Claim, row: ComparisonRow, rows: Sequence[ComparisonRow]) -> ClaimVerdict:
    if row.verdict is Verdict.UNSTABLE and (decided := _beyond_doubt(claim, row, rows)):
        return decided
    return ClaimVerdict(ClaimWord.NOT_TESTABLE, ": ".join(filter(None, (row.verdict.value, row.reason))), row)


def _judged_by_mechanism(claim: Claim, rows: Sequence[ComparisonRow]) -> ClaimVerdict:
    """Holds when the evidence shows the mechanism at every measured point; the speed-up at the largest is told beside it."""
    own = [row for row in _rows_for(claim, rows) if row.processes]
    if not own:
        return ClaimVerdict(ClaimWord.NOT_TESTABLE, claim.source_note or "it has not been measured here")
    seen = [(row, check) for row in own for check in row.checks if check.key == "ran"]
    words = {True: ClaimWord.HOLDS, False: ClaimWord.DOES_NOT_HOLD, None: ClaimWord.NOT_TESTABLE}
    for passed in (False, None, True):
        decided = [(row, check.detail) for row, check in seen if check.passed is passed]
        if decided:
            row, detail = max(decided, key=lambda pair: pair[0].workload.elements or 0)
            measured = f"measured {_number(row.speedup)}: {row.verdict}" if row.speedup else ""
            return ClaimVerdict(words[passed], "; ".join(filter(None, (measured, detail))), row)
    return ClaimVerdict(ClaimWord.NOT_TESTABLE, "no evidence was kept", own[0])


def _judged_by_graphs(claim: Claim, rows: Sequence[ComparisonRow]) -> ClaimVerdict:
    own = [row for row in _rows_for(claim, rows) if row.arrivals]
    if not own:
        return ClaimVerdict(ClaimWord.NOT_TESTABLE, claim.source_note or "it has not been measured here")
    finding = no_new_graphs(own)
    words = {True: ClaimWord.HOLDS, False: ClaimWord.DOES_NOT_HOLD, None: ClaimWord.NOT_TESTABLE}
    return ClaimVerdict(words[finding.passed], finding.reason, own[0])


def _judged_by_memory(claim: Claim, rows: Sequence[ComparisonRow]) -> ClaimVerdict:
    """Holds when some variant of the same precision whose result counts saves as much as the claim promises at least."""
    changes = [(change, row) for row in rows if (change := change_of(row, rows)) is not None]
    if not changes:
        why = "; ".join(filter(None, ("no peak memory has been read here in enough process sets", claim.source_note)))
        return ClaimVerdict(ClaimWord.NOT_TESTABLE, why)
    least, row = min(changes, key=lambda pair: pair[0])
    word = ClaimWord.HOLDS if -least >= (claim.saving or 0.0) else ClaimWord.DOES_NOT_HOLD
    return ClaimVerdict(word, "; ".join(filter(None, (peak_memory_words(changes), claim.source_note))), row)


def _rows_for(claim: Claim, rows: Iterable[ComparisonRow]) -> list[ComparisonRow]:
    return [
        row
        for row in rows
        if row.variant == claim.variant
        and claim.baseline in (None, row.baseline)
        and claim.workload in (None, row.workload)
    ]


def _beyond_doubt(claim: Claim, row: ComparisonRow, rows: Iterable[ComparisonRow]) -> ClaimVerdict | None:
    """What an unstable measurement still decides: what lies beyond its interval widened by twice what the A/A twin shows.

    A machine that makes identical arms differ by 7 % cannot tell 1.02x from 1.05x; it can tell that 4.9x is out of reach, and
    that 3x is faster.
    """
    widened = _widened(row, rows) if _is_unstable_alike(row) else None
    if widened is None or widened.low is None or row.speedup is None:
        return None
    measured = f"measured {_number(row.speedup)}"
    doubt = (
        "the machine was unstable, but even widened by twice what the A/A twin shows the interval "
        f"{interval(widened.low, widened.high)}"
    )
    if claim.speedup is None and widened.low > 1 + DELTA:
        words = [f"{measured}; {doubt} is faster", *_proofs(row)]
        return ClaimVerdict(ClaimWord.HOLDS, "; ".join(words), row)
    if claim.speedup is not None and not _includes(widened, claim.speedup):
        words = [measured + f", claimed {speedup(claim.speedup)}", f"{doubt} does not reach it"]
        return ClaimVerdict(ClaimWord.DOES_NOT_HOLD, "; ".join(words), row)
    return None


def _is_unstable_alike(row: ComparisonRow) -> bool:
    """Whether all that made the row unstable meets the twin as well, and so is in its interval."""
    failed = {check.key for check in row.checks if check.passed is False and check.otherwise is Verdict.UNSTABLE}
    return failed <= SEEN_BY_THE_TWIN


def _widened(row: ComparisonRow, rows: Iterable[ComparisonRow]) -> Interval | None:
    """The row's interval, on either side longer by twice the largest deviation that its A/A twins show."""
    twins = [
        twin.speedup
        for twin in rows
        if twin.is_twin and (twin.baseline, twin.workload) == (row.baseline, row.workload) and twin.speedup
    ]
    ends = [end for twin in twins for end in (twin.low, twin.high) if end]
    if row.speedup is None or row.speedup.low is None or row.speedup.high is None or not ends:
        return None
    by = math.exp(2 * max(abs(math.log(end)) for end in ends))
    return replace(row.speedup, low=row.speedup.low / by, high=row.speedup.high * by)


def _number(measured: Interval) -> str:
    return f"{speedup(measured.estimate)} {interval(measured.low, measured.high)}"


def _proofs(row: ComparisonRow) -> list[str]:
    """What was seen of the mechanism, where it was seen."""
    return [check.detail for check in row.checks if check.key == "ran" and check.passed]


def _includes(measured: Interval, figure: float) -> bool:
    """Whether the interval reaches the figure; 1.91 stands for anything from 1.905 to 1.915."""
    decimals = len(str(figure).partition(".")[2])
    rounding = 0.5 * 10.0**-decimals
    return (
        measured.low is not None
        and measured.high is not None
        and measured.low <= figure + rounding
        and measured.high >= figure - rounding
    )


def _word_without_figure(row: ComparisonRow) -> ClaimWord:
    if row.verdict is Verdict.INCONCLUSIVE:
        return ClaimWord.NOT_TESTABLE
    return ClaimWord.HOLDS if row.verdict is Verdict.FASTER else ClaimWord.DOES_NOT_HOLD
