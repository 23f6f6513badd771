"""A run on the terminal: a progress bar on stderr, Ctrl-C as cancel, logs kept only where something failed.

A closed terminal and a `kill` cancel like Ctrl-C: whoever spent an hour measuring keeps what is finished.
"""

from __future__ import annotations

import shutil
import signal
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TypeGuard

from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from engine.catalog import label_of
from engine.cli.console import ERR, say_aside
from engine.formatting import seconds
from engine.result import Failure, Machine, Outcome, Run
from engine.runner import record
from engine.runner.events import OutcomeReady, RunEvent, WaitingForMachine
from engine.runner.events import Progress as RunProgress
from engine.spec import Experiment

STOPS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


def measure(experiment: Experiment, machine: Machine, label: str = "") -> Run:
    """Run an experiment while showing how far it is; after Ctrl-C, `kill` or the terminal's end, what was finished by then."""
    work_dir = Path(tempfile.mkdtemp(prefix="latency-lab-"))
    with _cancelled_by_signal() as cancelled, _progress() as progress:
        bar = _Bar(progress)
        run = record(experiment, machine, work_dir=work_dir, on_event=bar.show, cancelled=cancelled, label=label)
    _report_failures(run, work_dir)
    return run


def _progress() -> Progress:
    columns = (BarColumn(bar_width=24), TextColumn("{task.percentage:>3.0f}%"), TimeElapsedColumn())
    return Progress(*columns, TextColumn("{task.fields[left]}  {task.description}"), console=ERR, transient=True)


class _Bar:
    """Draws the runner's events."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task: TaskID = progress.add_task("Starting", total=1.0, left="")

    def show(self, event: RunEvent) -> None:
        """Draw one event; messages may hold file names and exception texts, so nothing in them is markup."""
        if isinstance(event, WaitingForMachine):
            self._progress.update(self._task, description=escape(f"Waiting for {event.holder}"))
        elif isinstance(event, RunProgress):
            left = "" if event.seconds_left is None else f"about {seconds(round(event.seconds_left))} left"
            self._progress.update(self._task, completed=event.fraction, description=escape(event.message), left=left)
        elif isinstance(event, OutcomeReady) and _is_news(event.outcome):
            self._progress.console.print(escape(f"{label_of(event.outcome.variant)}: {event.outcome.message}"))


def _is_news(outcome: Outcome) -> TypeGuard[Failure]:
    """Failures are told at once, but nobody who pressed Ctrl-C needs to hear it for every arm."""
    return isinstance(outcome, Failure) and outcome.kind != "cancelled"


@contextmanager
def _cancelled_by_signal() -> Iterator[threading.Event]:
    """The first signal to stop cancels and keeps what is finished; the second one does what it always does."""
    cancelled = threading.Event()

    def cancel(_number: int, _frame: FrameType | None) -> None:
        cancelled.set()
        restore()

    def restore() -> None:
        for stop, handler in before.items():
            signal.signal(stop, handler)

    before = {stop: signal.signal(stop, cancel) for stop in STOPS}
    try:
        yield cancelled
    finally:
        restore()


def _report_failures(run: Run, work_dir: Path) -> None:
    """Say where the logs of failed children are; without one, nothing is left behind."""
    logs = [outcome.log_path for outcome in run.outcomes if isinstance(outcome, Failure) and outcome.log_path]
    if not logs:
        shutil.rmtree(work_dir, ignore_errors=True)
    for log in logs:
        say_aside(f"Log: {work_dir / log}")
