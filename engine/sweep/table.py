"""A sweep as a table of text: one line per size and variant, every number the charts draw."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from engine import formatting
from engine.comparison import number
from engine.metrics import METRICS
from engine.sweep.points import SweepPoint
from engine.terms import TERMS

_SOURCE = {True: "memory", False: "caches, or too small to tell", None: "not known"}
_BOUNDS = {"traffic": "traffic", "launches": "launches", None: ""}
_METRICS = {
    "median": "median_s",
    "speed-up": "speedup",
    "moved per second": "bytes_per_s",
    "of measured bandwidth": "bandwidth_share",
    "allocations": "allocations_per_call",
    "allocated": "allocated_bytes_per_call",
    "page faults": "page_faults_per_call",
}
MEANINGS = {column: METRICS[key].meaning for column, key in _METRICS.items()} | {
    "verdict": next(term.meaning for term in TERMS if term.word == "Verdict"),
    "size of the result": "Bytes of the array one call makes.",
    "bound": "The largest speed-up that moving fewer bytes (from memory) or starting fewer kernels (elsewhere) can explain.",
    "data comes from": "Memory, where even the least traffic is beyond four last-level caches; else perhaps a cache.",
    "kernels or operators": "What one call runs, by torch's profiler in a pass of its own: GPU kernels, or on a CPU operators.",
    "why": "The check that failed, where one did.",
}
"""What each column means, for a hover."""


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
        "data comes from": _SOURCE[point.is_in_memory],
        "kernels or operators": formatting.count(point.started),
        "allocations": formatting.count(point.allocations),
        "allocated": formatting.bytes_(point.allocated_bytes),
        "page faults": formatting.count(point.page_faults),
        "why": row.reason,
    }
