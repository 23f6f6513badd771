"""Which row a page speaks of first."""

from __future__ import annotations

from collections.abc import Sequence

from engine.catalog import VARIANTS
from engine.comparison import ComparisonRow
from engine.proof.outputs import REPLAYS_ONE_INPUT


def leading_row(rows: Sequence[ComparisonRow], technique: str | None = None) -> ComparisonRow | None:
    """Of one technique (None: of all), at one workload: the fastest whose number may be shown as a result, else the first.

    The baseline speaks only where nothing is compared with it, and a row that answers one input only where nothing else does.
    """
    own = [row for row in rows if not row.is_twin and technique in (None, row.technique)]
    compared = [row for row in own if not row.is_baseline] or own
    judged = [(row.speedup.estimate, row) for row in _served(compared) if row.verdict.is_statistical and row.speedup]
    return max(judged, key=lambda pair: pair[0])[1] if judged else next(iter(compared), None)


def can_serve(row: ComparisonRow) -> bool:
    """Whether a server could use the variant: a bare replay answers the input it was captured with, whatever is asked."""
    known = VARIANTS.get(row.variant)
    return known is None or REPLAYS_ONE_INPUT not in known.proofs


def _served(rows: Sequence[ComparisonRow]) -> Sequence[ComparisonRow]:
    return [row for row in rows if can_serve(row)] or rows
