"""A sweep as a table of text: one line per size and variant, every number the charts draw."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from engine import formatting
from engine.comparison import number
from engine.sweep.points import SweepPoint

_BOUNDS = {"traffic": "traffic", "launches": "launches", None: ""}


def sweep_table(points: Sequence[SweepPoint]) -> pd.DataFrame:
    """Smallest size first; every cell is text."""
    return pd.DataFrame([_line(point) for point in points])


def example_table(points: Sequence[SweepPoint]) -> pd.DataFrame:
    """What each call does: time, and memory it asks for; every cell is text."""
    shown = ("variant", "median", "speed-up", "verdict", "allocated", "page faults")
    return pd.DataFrame([{name: line[name] for name in shown} for line in map(_line, points)])


def _line(point: SweepPoint) -> dict[str, str]:
    row, bound = point.row, f"{formatting.speedup(point.bound)} {_BOUNDS[point.bound_by]}" if point.bound else ""
    return {
        "size of the result": formatting.bytes_(point.array_bytes),
        "variant": row.label,
        "median": formatting.seconds(row.median_s),
        "speed-up": "baseline" if row.is_baseline else number(row),
        "verdict": row.verdict.value,
        "bound": bound,
        "moved per second": formatting.rate(point.bytes_per_s, "B/s"),
        "of measured bandwidth": "" if point.bandwidth_share is None else f"{point.bandwidth_share:.0%}",
        "data comes from": "memory" if point.is_in_memory else "caches, or too small to tell",
        "kernels or operators": formatting.count(point.started),
        "allocations": formatting.count(point.allocations),
        "allocated": formatting.bytes_(point.allocated_bytes),
        "page faults": formatting.count(point.page_faults),
        "why": row.reason,
    }
