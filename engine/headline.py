"""Which row a page speaks of first."""

from __future__ import annotations

from collections.abc import Sequence

from engine.catalog import VARIANTS
from engine.comparison import ComparisonRow
from engine.proof.outputs import REPLAYS_ONE_INPUT
from engine.verdict import Verdict


def leading_row(rows: Sequence[ComparisonRow], technique: str | None = None) -> ComparisonRow | None:
    """Of one technique (None: of all), at one workload: the fastest that is shown to be faster, at the precision asked for
    before any other.

    Without one the largest number that is a result, then (a quick run, an unstable machine) the largest number, else the
    first row. The baseline speaks only where nothing is compared with it, and a row that answers one input only where
    nothing else does.
    """
    own = [row for row in rows if not row.is_twin and technique in (None, row.technique)]
    compared = [row for row in own if not row.is_baseline] or own
    known = [row for row in _served(compared) if row.speedup and row.verdict is not Verdict.WRONG_RESULT]
    return max(known, key=_standing, default=next(iter(compared), None))


def _standing(row: ComparisonRow) -> tuple[bool, bool, bool, float]:
    """An established difference stands above a larger number that may be chance, and lower precision is other work."""
    return (
        row.verdict is Verdict.FASTER,
        row.verdict.is_statistical,
        row.precision == row.workload.dtype,
        row.speedup.estimate if row.speedup else 0.0,
    )


def can_serve(row: ComparisonRow) -> bool:
    """Whether a server could use the variant: a bare replay answers the input it was captured with, whatever is asked."""
    known = VARIANTS.get(row.variant)
    return known is None or REPLAYS_ONE_INPUT not in known.proofs


def _served(rows: Sequence[ComparisonRow]) -> Sequence[ComparisonRow]:
    return [row for row in rows if can_serve(row)] or rows
