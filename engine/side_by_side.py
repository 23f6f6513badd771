"""Several runs in one table and one set of bars: every row keeps the baseline of its own run, nothing is divided across."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from engine import captions, formatting
from engine.comparison import ComparisonRow, number
from engine.cost_table import break_even, percentile
from engine.metrics import METRICS
from engine.result import Run
from engine.store import RunSummary


def labelled(run: Run, rows: Sequence[ComparisonRow]) -> list[ComparisonRow]:
    """A run's rows, twins left out, each label saying which run it is from."""
    moment = captions.moment(run.finished_at or run.started_at or run.submitted_at)
    labels = [
        f"{row.label}, " + _in_one_piece(run.label or f"{captions.shape_of(row.workload)}, {moment}") for row in rows
    ]
    return [replace(row, label=label) for row, label in zip(rows, labels, strict=True) if not row.is_twin]


MEANINGS = {
    "speed-up": METRICS["speedup"].meaning,
    "median": METRICS["median_s"].meaning,
    "p95": METRICS["p95_s"].meaning,
    "set-up, empty cache": METRICS["cold_start_s"].meaning,
    "pays back": METRICS["break_even_calls"].meaning,
}
"""What the columns of `side_by_side` mean, for a hover."""


def _in_one_piece(name: str) -> str:
    """With no-break spaces, so that a chart that breaks the label into two lines does it before the name of the run."""
    return name.replace(" ", "\u00a0")


def side_by_side(rows: Sequence[ComparisonRow]) -> pd.DataFrame:
    """One line per row, as text; every cell may hold foreign text."""
    return pd.DataFrame(
        [
            {
                "what": row.label,
                "device": row.device_name,
                "workload": captions.of_workload(row.workload),
                "speed-up": "baseline" if row.is_baseline else number(row),
                "verdict": row.verdict.value,
                "median": formatting.seconds(row.median_s),
                "p95": percentile(row.p95, row.percentile_note),
                "set-up, empty cache": formatting.seconds(row.setup_cold_s),
                "pays back": break_even(row.break_even_cold),
                "protocol": row.protocol,
                "why": row.reason,
            }
            for row in rows
        ]
    )


def run_list(runs: Sequence[RunSummary | Run]) -> pd.DataFrame:
    """One line per run, newest first, indexed by run id."""
    lines = [
        {
            "measured": captions.moment(run.finished_at or run.started_at or run.submitted_at),
            "status": run.status,
            "label": run.label,
            "techniques": ", ".join(dict.fromkeys(key.split("/")[0] for key in run.experiment.variants)),
            "workload": captions.of_workload(run.experiment.workloads[0]) + _more(len(run.experiment.workloads) - 1),
            "device": run.environment.device.name if run.environment else run.experiment.device,
            "protocol": run.experiment.protocol.name,
            "note": run.note or run.message,
        }
        for run in runs
    ]
    return pd.DataFrame(lines, index=[run.id for run in runs])


def _more(count: int) -> str:
    return f" and {count} more" if count else ""
