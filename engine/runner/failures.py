"""The outcome of an arm that was not measured, for each way that can come about."""

from __future__ import annotations

from engine.arms import Arm
from engine.result import Failure
from engine.runner.child_process import ChildFailed


def child_failure(arm: Arm, process: int, error: ChildFailed, log_path: str) -> Failure:
    """The child said that it cannot go on, or died, or did not answer in time."""
    return Failure(
        variant=arm.variant,
        process=process,
        workloads=arm.workloads,
        stage=error.stage,
        kind=error.kind,
        message=error.message,
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
