"""Which row a page speaks of first."""

from __future__ import annotations

from collections.abc import Sequence

from engine.comparison import ComparisonRow


def leading_row(rows: Sequence[ComparisonRow], technique: str | None = None) -> ComparisonRow | None:
    """Of one technique (None: of all), at one workload: the fastest whose number may be shown as a result, else the first.

    The baseline speaks only where nothing is compared with it.
    """
    own = [row for row in rows if not row.is_twin and technique in (None, row.technique)]
    compared = [row for row in own if not row.is_baseline] or own
    judged = [(row.speedup.estimate, row) for row in compared if row.verdict.is_statistical and row.speedup]
    return max(judged, key=lambda pair: pair[0])[1] if judged else next(iter(compared), None)
