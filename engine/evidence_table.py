"""Did it really happen? The proofs and the raw facts behind them as a table: one column per variant, words before numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pandas as pd

from engine import formatting
from engine.comparison import ComparisonRow
from engine.floors import facts_at
from engine.metrics import FACTS, Metric
from engine.result import Measurement, Run

PROVEN = {True: "yes", False: "no", None: "unknown"}
PROOFS = ("ran", "outputs")
TOLD_ELSEWHERE = frozenset({"autotune_operations", "kernel_names", "mistaken_loops"})
"""Facts that are tables themselves (`engine.candidates`, `engine.pitfalls`); a cell cannot hold them."""
VALUES_SHOWN = 3
"""Process sets may differ; more different values than this are summed up."""

_FORMATS: dict[str, Callable[[Any], str]] = {
    "seconds": formatting.seconds,
    "bytes": formatting.bytes_,
    "count": formatting.count,
    "fraction": formatting.fraction,
    "error": formatting.error,
    "flag": lambda value: "yes" if value else "no",
}


def evidence_table(run: Run, rows: Sequence[ComparisonRow]) -> pd.DataFrame:
    """Columns `check` and one per row's label; `rows` are of one workload. Every cell is text, foreign text included."""
    table = {"check": [*_titles(rows), *(FACTS[key].label for key in _facts_known(run, rows))]}
    for row in rows:
        known = [facts_at(measurement, row.workload) for measurement in _measurements(run, row)]
        facts = [_shown(FACTS[key], (facts.get(key) for facts in known)) for key in _facts_known(run, rows)]
        table[row.label] = [*_proofs(row), *facts]
    return pd.DataFrame(table)


def meanings(run: Run, rows: Sequence[ComparisonRow]) -> list[str]:
    """What each line of the table means, in its order."""
    checks = {check.key: check.meaning for row in rows for check in row.checks}
    return [*(checks.get(key, "") for key in PROOFS), *(FACTS[key].meaning for key in _facts_known(run, rows))]


def _titles(rows: Sequence[ComparisonRow]) -> list[str]:
    titles = {check.key: check.title for row in rows for check in row.checks}
    return [titles.get(key, key) for key in PROOFS]


def _proofs(row: ComparisonRow) -> list[str]:
    checks = {check.key: check for check in row.checks}
    return [
        f"{PROVEN[checks[key].passed]}: {checks[key].detail}" if key in checks else formatting.UNKNOWN for key in PROOFS
    ]


def _facts_known(run: Run, rows: Sequence[ComparisonRow]) -> list[str]:
    seen = {key for row in rows for measurement in _measurements(run, row) for key in measurement.facts}
    return [key for key in FACTS if key in seen - TOLD_ELSEWHERE]


def _measurements(run: Run, row: ComparisonRow) -> list[Measurement]:
    return [
        outcome
        for outcome in run.outcomes
        if isinstance(outcome, Measurement) and outcome.variant == row.variant and row.workload in outcome.workloads
    ]


def _shown(metric: Metric, values: Iterable[Any]) -> str:
    """One value where all process sets agree, else the different ones."""
    texts = list(dict.fromkeys(_text(metric, value) for value in values))
    if len(texts) > VALUES_SHOWN:
        return f"{texts[0]} and {len(texts) - 1} others"
    return " / ".join(texts) or formatting.UNKNOWN


def _text(metric: Metric, value: Any) -> str:
    if value is None:
        return formatting.UNKNOWN
    if isinstance(value, list | tuple):
        return "; ".join(map(str, value)) or "none"
    if isinstance(value, dict):
        return "; ".join(f"{key}: {part}" for key, part in value.items()) or "none"
    if isinstance(value, int | float) and metric.unit in _FORMATS:
        return _FORMATS[metric.unit](value)
    return str(value)
