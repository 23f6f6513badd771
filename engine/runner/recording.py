"""One experiment measured here and now, as a `Run`: for the command line, `gpu_check` and the self-tests, which keep no store."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from engine.result import Machine, Run
from engine.runner import run_experiment
from engine.runner.context import CHILD_COMMAND
from engine.runner.events import EnvironmentKnown, LimitsMeasured, OutcomeReady, RunEvent
from engine.spec import Experiment


def record(
    experiment: Experiment,
    machine: Machine,
    *,
    work_dir: Path,
    on_event: Callable[[RunEvent], None] = lambda _: None,
    cancelled: threading.Event | None = None,
    child_command: Sequence[str] = CHILD_COMMAND,
    label: str = "",
) -> Run:
    """Measure and answer with everything that came back; `on_event` hears each event after it was recorded.

    A run that `cancelled` ended keeps what it has and has the status "cancelled". Raises `UserError` as the runner does.
    """
    cancelled = cancelled or threading.Event()
    run = Run(id=secrets.token_hex(5), experiment=experiment, status="running", submitted_at=_now(), label=label)

    def keep(event: RunEvent) -> None:
        nonlocal run
        run = _with(run, event)
        on_event(event)

    run_experiment(experiment, machine, work_dir=work_dir, emit=keep, cancelled=cancelled, child_command=child_command)
    return replace(run, status="cancelled" if cancelled.is_set() else "done", finished_at=_now())


def _with(run: Run, event: RunEvent) -> Run:
    if isinstance(event, EnvironmentKnown):
        return replace(run, environment=event.environment, started_at=_now())
    if isinstance(event, LimitsMeasured):
        return replace(run, limits=event.limits)
    if isinstance(event, OutcomeReady):
        return replace(run, outcomes=(*run.outcomes, event.outcome))
    return run


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
