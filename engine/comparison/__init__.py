"""From runs to rows: what is divided by what, every shown number, and the verdict on each. Pages, tables, files show these.

Statistics are in `engine.stats`, the rules on evidence in `engine.proof`, the words in `engine.verdict`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

import pandas as pd

from engine.comparison.arms import (
    Arm,
    arms_of,
    baseline_of,
    check_baseline,
    count_comparisons,
)
from engine.comparison.claims import ClaimVerdict, ClaimWord, claim_verdict, could_decide, newest_verdict
from engine.comparison.measured import Point, measured_row
from engine.comparison.pairing import log_tables
from engine.comparison.row import Arrival, Badge, ComparisonRow
from engine.comparison.sentences import number, sentence, short
from engine.comparison.unmeasured import unmeasured_row
from engine.frames import workload_row
from engine.result import Run


def compare_run(run: Run, baseline: str | None = None) -> list[ComparisonRow]:
    """Every arm of a run as a row, point by point, in the experiment's order; none is left out for having failed.

    `baseline` (a variant key of the run) replaces each variant's own baseline at the points where it was measured; raises
    `UnknownKey` for one the run does not have.
    """
    arms = arms_of(run)
    check_baseline(arms, baseline)
    tables = log_tables(list(arms.values()))
    comparisons = count_comparisons(arms, baseline)
    rows = []
    for arm in sorted(arms.values(), key=lambda arm: _place(run, arm)):
        divided_by = arms.get((baseline_of(arm, arms, baseline), arm.workload))
        if arm.measurements:
            point = Point(run, arms, tables[arm.workload], comparisons)
            rows.append(measured_row(point, arm, divided_by, baseline_of(arm, arms, baseline)))
        else:
            rows.append(unmeasured_row(run, arm, baseline_of(arm, arms, baseline)))
    return rows


def comparison_frame(rows: Iterable[ComparisonRow]) -> pd.DataFrame:
    """The rows' plain numbers and words, one column each, intervals and percentiles spread over columns."""
    return pd.DataFrame([plain_row(row) for row in rows])


def plain_row(row: ComparisonRow) -> dict[str, Any]:
    """One row as a flat dictionary of numbers and words; nested parts that are tables of their own are left out."""
    flat = {"experiment": row.run_id, **{key: getattr(row, key) for key in ("device", "variant", "baseline")}}
    flat |= workload_row(row.workload) | {"verdict": row.verdict.value}
    nested = ("speedup", "p95", "p99", "break_even_cold", "break_even_warm")
    for name in nested:
        part = getattr(row, name)
        flat |= {f"{name}_{key}": value for key, value in asdict(part).items()} if part else {}
    plain = (
        "processes", "rounds", "samples", "calls_per_sample", "median_s", "baseline_median_s", "iqr_s", "host_s", "gpu_s",
        "throughput_s", "load_s", "compile_s", "autotune_s", "setup_cold_s", "setup_warm_s", "floor_s", "extra_process_sets",
    )  # fmt: skip
    return flat | {name: getattr(row, name) for name in plain} | dict(row.memory)


def _place(run: Run, arm: Arm) -> int:
    """Points in the experiment's order; the sort is stable, so arms keep theirs."""
    workloads = run.experiment.workloads
    return workloads.index(arm.workload) if arm.workload in workloads else len(workloads)


__all__ = [
    "Arrival",
    "Badge",
    "ClaimVerdict",
    "ClaimWord",
    "ComparisonRow",
    "claim_verdict",
    "compare_run",
    "comparison_frame",
    "could_decide",
    "newest_verdict",
    "number",
    "plain_row",
    "sentence",
    "short",
]
