"""What to do about it: the fastest variant whose outputs pass, what it costs, what to take when shapes vary, what to avoid.

Everything is read off measured rows; nothing is advised that was not measured here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.catalog import VARIANTS, pitfalls
from engine.comparison import ComparisonRow
from engine.formatting import speedup
from engine.stats import BreakEven
from engine.verdict import Verdict

DECIDED = (Verdict.FASTER, Verdict.SLOWER, Verdict.NO_DIFFERENCE, Verdict.INCONCLUSIVE)
PADDED = "dynamic-shapes/buckets"
REPLAY_ONLY = "-replay"
"""Variants that answer for one captured input only explain what copies cost; no server can use them."""


@dataclass(frozen=True, slots=True)
class Advice:
    """`best` within the precision class asked for, None where nothing is faster; `avoid` are rows with the reason why.

    `undecided`: no row carries a verdict that could have made it the best (a quick run, an unstable machine).
    """

    best: ComparisonRow | None
    lower_precision: ComparisonRow | None
    when_shapes_vary: ComparisonRow | None
    avoid: tuple[tuple[ComparisonRow, str], ...]
    undecided: bool = False

    @property
    def without_best(self) -> str:
        """What to do where no variant is advised, in one sentence."""
        if self.undecided:
            return (
                "No advice from this run: it gives no verdict. Measure with the standard protocol while the machine has "
                "nothing else to do."
            )
        return (
            "Stay with eager: nothing measured here is shown to be faster at the same precision with outputs that pass."
        )


def advise(rows: Sequence[ComparisonRow]) -> Advice:
    """Advice from the rows of one model point, of one run or of several on one machine; a pitfall is no advice."""
    rows = [row for row in rows if row.technique != pitfalls.TECHNIQUE.key]
    usable = [row for row in rows if row.verdict is Verdict.FASTER and not row.variant.endswith(REPLAY_ONLY)]
    same = [row for row in usable if row.precision == row.workload.dtype]
    lower = [row for row in usable if row.precision != row.workload.dtype]
    best, best_lower = _fastest(same), _fastest(lower)
    if best and best_lower and _speed(best_lower) <= _speed(best):
        best_lower = None
    return Advice(
        best=best,
        lower_precision=best_lower,
        when_shapes_vary=_fastest([row for row in same if _takes_any_length(row)]),
        avoid=tuple((row, reason) for row in rows if (reason := _why_avoid(row))),
        undecided=not any(row.verdict in DECIDED for row in rows if not row.is_twin),
    )


def _takes_any_length(row: ComparisonRow) -> bool:
    """Not what compiles for every length: after a few more it runs eagerly. Padding to buckets keeps lengths few."""
    variant = VARIANTS.get(row.variant)
    is_lasting = variant is None or not variant.specialises or variant.key == PADDED
    return row.technique == "dynamic-shapes" and is_lasting


def pays_back_after_days(even: BreakEven | None, calls_per_day: float) -> float | None:
    """Days until the set-up is earned back at this many calls a day; None when it never is, or nothing is known."""
    if even is None or even.calls is None or calls_per_day <= 0:
        return None
    return even.calls / calls_per_day


def _fastest(rows: Sequence[ComparisonRow]) -> ComparisonRow | None:
    """By what each gained over eager of its own run: latencies of two runs may differ by what the machine did meanwhile."""
    return max(rows, key=_speed, default=None)


def _speed(row: ComparisonRow) -> float:
    return row.speedup.estimate if row.speedup else 0.0


def _why_avoid(row: ComparisonRow) -> str | None:
    """Only what was seen to do harm or nothing at all; unavailable variants need no warning."""
    if row.is_baseline or row.is_twin:
        return None
    if row.verdict is Verdict.SLOWER and row.speedup:
        return f"slower here: {speedup(row.speedup.estimate)}"
    if row.verdict in (Verdict.DID_NOT_RUN, Verdict.WRONG_RESULT):
        return f"{row.verdict}: {row.reason}"
    return None
