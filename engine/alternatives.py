"""Is something else in the same run clearly faster than what a page speaks of? No page may hide that."""

from __future__ import annotations

from collections.abc import Sequence

from engine.catalog import TECHNIQUES
from engine.comparison import ComparisonRow, number
from engine.headline import can_serve


def faster_alternative(row: ComparisonRow, rows: Sequence[ComparisonRow]) -> ComparisonRow | None:
    """The fastest row of another technique whose interval lies above `row`'s, at the same workload and baseline."""
    if row.speedup is None or row.speedup.high is None:
        return None
    others = [
        (other.speedup.estimate, other)
        for other in rows
        if other.speedup
        and other.speedup.low is not None
        and other.verdict.is_statistical
        and not other.is_twin
        and can_serve(other)
        and (other.workload, other.baseline) == (row.workload, row.baseline)
        and other.technique != row.technique
        and other.speedup.low > row.speedup.high
    ]
    return max(others, key=lambda pair: pair[0])[1] if others else None


def sentence(row: ComparisonRow, rows: Sequence[ComparisonRow]) -> str:
    """What to look at instead, empty where nothing is faster; another precision is named, for it is other work."""
    other = faster_alternative(row, rows)
    if other is None:
        return ""
    technique = next((each.title for each in TECHNIQUES if each.key == other.technique), other.technique)
    kind = (
        f"; it computes in {other.precision} instead of {row.precision}, which is other work"
        if other.precision != row.precision
        else ""
    )
    return f"Faster in the same run: {other.label} ({technique}) at {number(other)} over {other.baseline_label}{kind}."
