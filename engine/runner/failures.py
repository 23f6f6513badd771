"""The outcome of an arm that was not measured, for each way that can come about."""

from __future__ import annotations

from engine import captions
from engine.arms import Arm
from engine.result import Failure
from engine.runner.child_end import SMALLER
from engine.runner.child_process import ChildFailed
from engine.spec import Workload


def child_failure(arm: Arm, process: int, error: ChildFailed, log_path: str) -> Failure:
    """The child said that it cannot go on, or died, or did not answer in time."""
    return Failure(
        variant=arm.variant,
        process=process,
        workloads=arm.workloads,
        stage=error.stage,
        kind=error.kind,
        message=_with_size(error.message, arm),
        log_path=log_path,
        log_tail=error.log_tail or None,
    )


def cancellation(arm: Arm, process: int) -> Failure:
    """The run was cancelled before this arm had been measured."""
    return Failure(
        variant=arm.variant,
        process=process,
        workloads=arm.workloads,
        stage="start",
        kind="cancelled",
        message="The run was cancelled before this was measured. Run it again to measure it.",
    )


def _with_size(message: str, arm: Arm) -> str:
    """Who advises a smaller size must say which one was too large; a child that was killed could not, others did."""
    if not message.endswith(SMALLER):
        return message
    largest = captions.of_workload(max(arm.workloads, key=_size))
    several = f"{len(arm.workloads)} workloads, the largest " if len(arm.workloads) > 1 else ""
    return f"{message} It was measuring {several}{largest}."


def _size(workload: Workload) -> int:
    return (workload.elements or 0) * (workload.operations or 1) + (workload.batch_size or 0) * (
        workload.sequence_length or 0
    )
