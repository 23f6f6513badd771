"""Which row a page speaks of first."""

from __future__ import annotations

from collections.abc import Sequence

from engine.catalog import VARIANTS
from engine.comparison import ComparisonRow
from engine.proof.outputs import REPLAYS_ONE_INPUT
from engine.verdict import Verdict


def leading_row(rows: Sequence[ComparisonRow], technique: str | None = None) -> ComparisonRow | None:
    """Of one technique (None: of all), at one workload: the fastest whose number is a result.

    Without one (a quick run, an unstable machine) the fastest that came to a number, else the first. The baseline speaks only
    where nothing is compared with it, and a row that answers one input only where nothing else does.
    """
    own = [row for row in rows if not row.is_twin and technique in (None, row.technique)]
    compared = [row for row in own if not row.is_baseline] or own
    known = [row for row in _served(compared) if row.speedup and row.verdict is not Verdict.WRONG_RESULT]
    results = [row for row in known if row.verdict.is_statistical]
    return max(results or known, key=_estimate, default=next(iter(compared), None))


def _estimate(row: ComparisonRow) -> float:
    return row.speedup.estimate if row.speedup else 0.0


def can_serve(row: ComparisonRow) -> bool:
    """Whether a server could use the variant: a bare replay answers the input it was captured with, whatever is asked."""
    known = VARIANTS.get(row.variant)
    return known is None or REPLAYS_ONE_INPUT not in known.proofs


def _served(rows: Sequence[ComparisonRow]) -> Sequence[ComparisonRow]:
    return [row for row in rows if can_serve(row)] or rows
