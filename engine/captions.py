"""Where a number comes from, in one line: model, shape, device, versions, date. Plain text; no page adds Markdown to it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from engine import formatting
from engine.catalog.operators import OPERATORS
from engine.comparison import ComparisonRow
from engine.metrics import METRICS
from engine.result import Run
from engine.spec import Workload
from engine.terms import TERMS

SEPARATOR = " · "
MEANINGS_OF_ROW = " ".join(
    [f"{term.word}: {term.meaning}" for term in TERMS if term.word in ("Process set", "Round")]
    + [f"{METRICS[key].label}: {METRICS[key].meaning}" for key in ("median_s", "iqr_s")]
)
"""What the words of `of_row` mean, for a hover."""


def of_workload(workload: Workload) -> str:
    """Model and shape, or operator and size."""
    return SEPARATOR.join(filter(None, (name_of(workload), shape_of(workload), workload.dtype)))


def name_of(workload: Workload) -> str:
    """The model, or the operator in words."""
    operator = OPERATORS.get(workload.operator or "")
    return operator.label if operator else workload.subject


def shape_of(workload: Workload) -> str:
    """Batch and length, or size."""
    parts = [
        f"batch {workload.batch_size}" if workload.batch_size else "",
        f"{workload.sequence_length} tokens" if workload.sequence_length else "",
        f"{workload.elements:,} elements" if workload.elements else "",
        f"{workload.operations} operations" if workload.operations else "",
    ]
    return SEPARATOR.join(filter(None, parts))


def of_run(run: Run) -> str:
    """Device, torch version and when it was measured."""
    environment = run.environment
    parts = [
        environment.device.name if environment else run.experiment.device,
        f"torch {environment.machine.versions.get('torch') or 'unknown'}" if environment else "",
        f"{run.experiment.protocol.name} protocol",
        measured(run),
    ]
    return SEPARATOR.join(filter(None, parts))


def of_runs(runs: Sequence[Run]) -> str:
    """The same for a picture of several runs: what they share once, and from when to when they were measured."""
    if len({of_run(run) for run in runs}) == 1:
        return of_run(runs[0])
    known = [run.environment for run in runs if run.environment]
    devices = dict.fromkeys(environment.device.name for environment in known)
    torches = dict.fromkeys(environment.machine.versions.get("torch") or "unknown" for environment in known)
    protocols = dict.fromkeys(run.experiment.protocol.name for run in runs)
    moments = sorted(filter(None, (run.finished_at or run.started_at or run.submitted_at for run in runs)))
    when = f"measured {moment(moments[0])} to {moment(moments[-1])}" if moments else ""
    torch = f"torch {' and '.join(torches)}" if torches else ""
    protocol = f"{' and '.join(protocols)} protocol"
    return SEPARATOR.join(filter(None, (", ".join(devices), torch, protocol, when)))


def of_versions(run: Run) -> str:
    """Everything that was installed where a run was measured: for the foot of a slide."""
    if run.environment is None:
        return ""
    versions = [
        f"{name} {version}"
        for name, version in run.environment.machine.versions.items()
        if version and name != "torch_git"
    ]
    driver = f"driver {run.environment.device.driver}" if run.environment.device.driver else ""
    return SEPARATOR.join(filter(None, (run.environment.machine.system, driver, *versions)))


def of_chart(run: Run, workload: Workload) -> str:
    """Both, for the line under a chart's title."""
    return SEPARATOR.join((of_workload(workload), of_run(run)))


def of_rows(run: Run, rows: Sequence[ComparisonRow]) -> str:
    """The same where rows may come from several runs, of which `run` is one."""
    others = len({row.run_id for row in rows} - {run.id})
    return of_chart(run, rows[0].workload) + (f"{SEPARATOR}and {others} more run{'s' * (others > 1)}" if others else "")


def of_lengths(run: Run) -> str:
    """The same for a chart over all lengths of a run."""
    points = [point for point in run.experiment.workloads if point.sequence_length]
    lengths = [point.sequence_length or 0 for point in points]
    span = f"{len(lengths)} lengths from {min(lengths)} to {max(lengths)} tokens"
    return SEPARATOR.join((points[0].subject, f"batch {points[0].batch_size}", span, points[0].dtype, of_run(run)))


def measured(run: Run) -> str:
    """When the run was measured, or how far it got."""
    if run.status == "queued":
        return "not measured yet"
    return f"measured {moment(run.finished_at or run.started_at or run.submitted_at)}"


def of_evidence(run: Run) -> str:
    """Which run a verdict rests on, where its device is said already."""
    return f"{run.experiment.protocol.name} protocol, {measured(run)}"


def moment(iso: str | None) -> str:
    """2026-11-30T09:20:00+00:00 -> "30 Nov 2026, 09:20 UTC"; what is no time is shown as it stands."""
    try:
        return f"{datetime.fromisoformat(iso or ''):%d %b %Y, %H:%M} UTC".lstrip("0")
    except ValueError:
        return iso or "-"


def of_row(row: ComparisonRow) -> str:
    """How much stands behind a row's number."""
    sets = "one process set" if row.processes == 1 else f"{row.processes} process sets"
    parts = [
        f"{sets} of {row.rounds} rounds" if row.processes else "",
        f"{row.samples:,} timed calls" if row.samples else "",
        f"median {formatting.seconds(row.median_s)}" if row.median_s else "",
        f"baseline {formatting.seconds(row.baseline_median_s)}"
        if row.baseline_median_s and not row.is_baseline
        else "",
        f"interquartile range {formatting.seconds(row.iqr_s)}" if row.iqr_s else "",
    ]
    return SEPARATOR.join(filter(None, parts))
