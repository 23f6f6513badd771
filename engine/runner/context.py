"""What every part of one run needs: the experiment, where it runs, whom to tell, and how to start a child."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from engine.arms import NO_VARIABLES, Arm
from engine.floors import best_of
from engine.result import Environment, Limits, Outcome
from engine.runner.child_process import ChildProcess
from engine.runner.clock import RunClock
from engine.runner.events import LimitsMeasured, OutcomeReady, RunEvent
from engine.spec import Experiment

CHILD_COMMAND = (sys.executable, "-m", "engine.child")
_WITHOUT = ("TORCH_COMPILE_JOB_ID",)
"""With it torch keeps profiles of dynamic shapes between processes, and the second one would compile otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunContext:
    """One run under way; `settled` are the arms that have an outcome already, `limits` what the device was seen to do at best.

    Logs lie in `work_dir/logs` and stay; everything else below `work_dir` goes when the run ends.
    """

    experiment: Experiment
    environment: Environment
    work_dir: Path
    emit: Callable[[RunEvent], None]
    cancelled: threading.Event
    clock: RunClock
    child_command: Sequence[str]
    settled: set[Arm] = field(default_factory=set)
    limits: list[Limits] = field(default_factory=list)

    def settle(self, arm: Arm, outcome: Outcome) -> None:
        """Pass an outcome on, and remember that its arm has one."""
        self.settled.add(arm)
        self.emit(OutcomeReady(outcome=outcome))

    def keep_limits(self, measured: Limits) -> None:
        """Pass on the best that was seen so far: a neighbour can slow this device down, never speed it up."""
        self.limits.append(measured)
        self.emit(LimitsMeasured(limits=best_of(self.limits)))

    def start_child(self, name: str, cache: Path, variables: Mapping[str, str] = NO_VARIABLES) -> ChildProcess:
        """A child that logs to `logs/<name>.log` and keeps what it compiles in `cache`; raises `ChildFailed`.

        `variables` are added to its environment.
        """
        environment = child_variables(os.environ, cache) | dict(variables)
        return ChildProcess(self.child_command, self.work_dir / log_path(name), environment, self.cancelled)


def log_path(name: str) -> str:
    """Path of a child's log, relative to the run's folder: a result that is passed on names no folder of this machine."""
    return f"logs/{name}.log"


def child_variables(variables: Mapping[str, str], cache: Path) -> dict[str, str]:
    """The environment of a child: this one, with a compile cache of its own and no memory of earlier processes."""
    kept = {name: value for name, value in variables.items() if name not in _WITHOUT}
    return kept | {
        "TORCHINDUCTOR_CACHE_DIR": str(cache / "inductor"),
        "TRITON_CACHE_DIR": str(cache / "triton"),
        "TORCH_DYNAMO_AUTOMATIC_DYNAMIC_LOCAL_PGO": "0",
    }
