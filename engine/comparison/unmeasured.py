"""Rows of arms without a measurement: they keep their place and say why."""

from __future__ import annotations

from typing import Any

from engine.catalog import is_twin, label_of
from engine.comparison.arms import Arm, precision_of
from engine.comparison.row import ComparisonRow
from engine.frames import technique_of
from engine.result import Run
from engine.verdict import Verdict

_NOT_YET = {
    "queued": "waiting for its turn",
    "running": "not measured yet",
    "cancelled": "the run was cancelled before this was measured",
    "interrupted": "the run was interrupted before this was measured",
}


def unmeasured_row(run: Run, arm: Arm, baseline: str) -> ComparisonRow:
    """The row of an arm that failed everywhere, is not available here, or has not been measured."""
    if not arm.failures:
        reason = _NOT_YET.get(run.status, run.message or "the run ended before this was measured")
        return ComparisonRow(**identity(run, arm, baseline), verdict=Verdict.NOT_MEASURED, reason=reason)
    last = arm.failures[-1]
    if last.kind == "unavailable":
        return ComparisonRow(**identity(run, arm, baseline), verdict=Verdict.NOT_AVAILABLE, reason=last.message)
    if last.kind == "cancelled":
        return ComparisonRow(**identity(run, arm, baseline), verdict=Verdict.NOT_MEASURED, reason=_NOT_YET["cancelled"])
    reason = f"{last.message} ({last.kind.replace('_', ' ')} at {last.stage.replace('_', ' ')})"
    return ComparisonRow(**identity(run, arm, baseline), verdict=Verdict.FAILED, reason=reason)


def identity(run: Run, arm: Arm, baseline: str) -> dict[str, Any]:
    """The fields that say which row this is."""
    return {
        "run_id": run.id,
        "run_label": run.label,
        "measured_at": run.finished_at or run.started_at or run.submitted_at,
        "device": run.experiment.device,
        "device_name": run.environment.device.name if run.environment else run.experiment.device,
        "protocol": run.experiment.protocol.name,
        "variant": arm.variant,
        "technique": technique_of(arm.variant),
        "label": label_of(arm.variant),
        "workload": arm.workload,
        "precision": precision_of(arm),
        "baseline": baseline,
        "baseline_label": label_of(baseline),
        "is_baseline": arm.variant == baseline,
        "is_twin": is_twin(arm.variant),
    }
