"""What each variant costs, as a table of text: set-up seconds, calls until it pays back, memory by kind, tail latency."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pandas as pd

from engine import formatting
from engine.comparison import ComparisonRow
from engine.metrics import MEMORY, METRICS
from engine.stats import BreakEven, Percentile

_COSTS: tuple[tuple[str, Callable[[ComparisonRow], str]], ...] = (
    ("Set-up, empty compile cache", lambda row: formatting.seconds(row.setup_cold_s)),
    ("Set-up, warm compile cache", lambda row: formatting.seconds(row.setup_warm_s)),
    ("Compile time, of that", lambda row: formatting.seconds(row.compile_s)),
    ("Autotune time, of that", lambda row: formatting.seconds(row.autotune_s)),
    ("Load", lambda row: formatting.seconds(row.load_s)),
    ("Pays back, empty cache", lambda row: break_even(row.break_even_cold)),
    ("Pays back, warm cache", lambda row: break_even(row.break_even_warm)),
    (METRICS["p95_s"].label, lambda row: percentile(row.p95, row.percentile_note)),
    (METRICS["p99_s"].label, lambda row: percentile(row.p99, row.percentile_note)),
    (METRICS["throughput_s"].label, lambda row: formatting.seconds(row.throughput_s)),
    (
        METRICS["raw_change"].label,
        lambda row: formatting.UNKNOWN if row.raw_change is None else f"{row.raw_change:+.1%}",
    ),
    (METRICS["empty_s"].label, lambda row: formatting.seconds(row.empty_s)),
    (METRICS["synchronize_s"].label, lambda row: formatting.seconds(row.synchronize_s)),
)


MEANINGS = {
    "Set-up, empty compile cache": "Applying the technique, and what the first calls took beyond steady ones, in a process that "
    "found nothing compiled.",
    "Set-up, warm compile cache": "The same in later processes, which find what the first one compiled.",
    "Compile time, of that": METRICS["compile_s"].meaning,
    "Autotune time, of that": METRICS["autotune_s"].meaning,
    "Pays back, empty cache": METRICS["break_even_calls"].meaning,
    "Pays back, warm cache": METRICS["break_even_calls"].meaning,
    **{metric.label: metric.meaning for metric in METRICS.values()},
}
"""What each line means, for a hover."""


def cost_table(rows: Sequence[ComparisonRow]) -> pd.DataFrame:
    """Columns `cost` and one per row's label; a line that no row knows is left out, a memory kind too."""
    costs = [(title, [text(row) for row in rows]) for title, text in _COSTS]
    kinds = list(dict.fromkeys(kind for row in rows for kind in row.memory))
    costs += [
        (MEMORY[kind].label if kind in MEMORY else kind, [formatting.bytes_(row.memory.get(kind)) for row in rows])
        for kind in kinds
    ]
    known = [(title, texts) for title, texts in costs if any(text != formatting.UNKNOWN for text in texts)]
    columns = {"cost": [title for title, _ in known]}
    return pd.DataFrame(columns | {row.label: [texts[place] for _, texts in known] for place, row in enumerate(rows)})


def break_even(even: BreakEven | None) -> str:
    """When a set-up is earned back, as a range where it is one."""
    if even is None:
        return formatting.UNKNOWN
    if even.calls is None:
        return "never, on this evidence"
    between = ""
    if even.low is not None and even.high is not None:
        between = f" ({formatting.count(even.low)} to {formatting.count(even.high)})"
    return f"after {formatting.counted(even.calls, 'call')}{between}"


def percentile(found: Percentile | None, note: str | None = None) -> str:
    """The value, and how many samples it still needs before it may be read."""
    if found is None:
        return note or formatting.UNKNOWN
    if found.missing:
        return f"{formatting.seconds(found.value)} (needs {found.missing:,} more calls)"
    return formatting.seconds(found.value)


def early_percentiles(rows: Sequence[ComparisonRow]) -> list[tuple[str, str]]:
    """Cells of `cost_table`, by line and column, whose percentile has too few samples yet: pages grey them (METHOD 1.6)."""
    return [
        (METRICS[key].label, row.label)
        for row in rows
        for key, found in (("p95_s", row.p95), ("p99_s", row.p99))
        if found and found.missing
    ]
