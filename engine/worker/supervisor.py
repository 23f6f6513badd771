"""The thread that works off the queue: one run at a time, and only one such thread per data folder, over all servers on it.

Commits what the runner reports the moment it arrives. A bug or a full disk ends the run it met, never the thread.
"""

from __future__ import annotations

import logging
import shutil
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Protocol, TypeVar

from filelock import FileLock, Timeout

from engine.errors import StorageError, UserError
from engine.result import Machine
from engine.runner import SCRATCH
from engine.runner.events import EnvironmentKnown, LimitsMeasured, OutcomeReady, RunEvent
from engine.spec import Experiment
from engine.store import SERVER_STOPPED, EndStatus, Store, storage_errors
from engine.worker.progress import ProgressLog, RunProgress

POLL_S = 1.0
"""How often to look for what another server may have written: a run, a cancellation. One query, well under a millisecond."""
STOP_LIMIT_S = 20.0
"""How long a stopping server waits for the runner to end its children, which it does with TERM, then KILL."""

T = TypeVar("T")
_log = logging.getLogger(__name__)


class RunExperiment(Protocol):
    """`engine.runner.run_experiment`, or what a test puts in its place."""

    def __call__(
        self,
        experiment: Experiment,
        machine: Machine,
        *,
        work_dir: Path,
        emit: Callable[[RunEvent], None],
        cancelled: threading.Event,
    ) -> None:
        """Measure, telling `emit` everything at once; return early when `cancelled` is set."""


@dataclass(slots=True)
class _Current:
    """The run being measured here."""

    run_id: str
    cancelled: threading.Event = field(default_factory=threading.Event)
    is_over: threading.Event = field(default_factory=threading.Event)
    log: ProgressLog = field(default_factory=ProgressLog)


class Supervisor:
    """Takes runs from the store's queue and gives them to the runner, once what `machine()` answers with is there."""

    def __init__(self, store: Store, machine: Callable[[], Future[Machine]], run_experiment: RunExperiment) -> None:
        self._store = store
        self._machine = machine
        self._run_experiment = run_experiment
        self._lock = FileLock(store.folder / "worker.lock")
        self._current: _Current | None = None
        self.problem = ""
        """Why the queue stands still, in a sentence; empty while it moves."""
        self._stopping = threading.Event()
        self._has_news = threading.Event()
        self._thread = background("supervisor", self._supervise)

    def start(self) -> None:
        """Start the thread; returns at once."""
        self._thread.start()

    def stop(self) -> None:
        """End the run that is being measured (it becomes "interrupted") and the thread; queued runs stay queued."""
        self._stopping.set()
        self._has_news.set()
        if current := self._current:
            current.cancelled.set()
        self._thread.join(STOP_LIMIT_S)

    def look(self) -> None:
        """Look at the queue now rather than within a second."""
        self._has_news.set()

    def cancel(self, run_id: str) -> None:
        """End this run if it is being measured here."""
        if (current := self._current) and current.run_id == run_id:
            current.cancelled.set()

    def progress(self, run_id: str) -> RunProgress | None:
        """Where this run stands; None when it is not being measured here."""
        current = self._current
        return current.log.now() if current and current.run_id == run_id else None

    def _supervise(self) -> None:
        while not self._stopping.is_set():
            try:
                if self._holds_lock():
                    self._work_off_queue()
            except StorageError as error:
                # The run that met it is marked as soon as the disk allows: see _work_off_queue.
                if str(error) != self.problem:
                    _log.error("%s", error)
                self.problem = str(error)
            self._stopping.wait(POLL_S)
        self._lock.release()

    def _holds_lock(self) -> bool:
        if not self._lock.is_locked:
            with storage_errors(self._store.folder):
                try:
                    self._lock.acquire(timeout=0)
                except Timeout:
                    return False
        return True

    def _work_off_queue(self) -> None:
        # Whoever holds the lock is the only one measuring, so what is marked "running" now was left behind.
        for left_behind in self._store.interrupt_unfinished(self.problem or SERVER_STOPPED):
            # Compile caches of gigabytes, which a killed server could not take away.
            shutil.rmtree(self._store.work_folder(left_behind) / SCRATCH, ignore_errors=True)
        while not self._stopping.is_set():
            run_id = self._store.next_queued()
            if run_id is None or not self._machine().done():
                self._has_news.wait(POLL_S)
                self._has_news.clear()
            elif self._store.start_run(run_id):
                self._measure(run_id)
            self.problem = ""

    def _measure(self, run_id: str) -> None:
        current = self._current = _Current(run_id)
        background("cancellation", partial(self._follow_cancellation, current)).start()
        try:
            outcome = settle(Future(), partial(self._call_runner, current))
            self._store.end_run(run_id, *self._ending(current, outcome.exception()))
        finally:
            current.is_over.set()
            self._current = None

    def _call_runner(self, current: _Current) -> None:
        folder = self._store.work_folder(current.run_id)
        with storage_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
        with storage_errors(folder, only_when_full=True):
            self._run_experiment(
                self._store.run(current.run_id).experiment,
                self._machine().result(),
                work_dir=folder,
                emit=partial(self._receive, current),
                cancelled=current.cancelled,
            )

    def _receive(self, current: _Current, event: RunEvent) -> None:
        current.log.add(event)
        match event:
            case EnvironmentKnown():
                self._store.set_environment(current.run_id, event.environment)
            case LimitsMeasured():
                self._store.set_limits(current.run_id, event.limits)
            case OutcomeReady():
                self._store.add_outcome(current.run_id, event.outcome)

    def _follow_cancellation(self, current: _Current) -> None:
        """See a cancellation that came in at another server of this data folder."""
        while not current.is_over.wait(POLL_S):
            with suppress(StorageError):  # a disk that is full for a moment must not make later cancellations unheard
                if self._store.is_cancel_requested(current.run_id):
                    current.cancelled.set()
                    return

    def _ending(self, current: _Current, error: BaseException | None) -> tuple[EndStatus, str]:
        if isinstance(error, UserError):
            return "failed", str(error)
        if error:
            _log.error("Run %s was ended by a bug", current.run_id, exc_info=error)
            return (
                "failed",
                f"A bug in Latency Lab ended this run ({type(error).__name__}: {error}). See the server's log.",
            )
        if not current.cancelled.is_set():
            return "done", ""
        return ("interrupted", SERVER_STOPPED) if self._stopping.is_set() else ("cancelled", "")


def background(name: str, task: Callable[[], None]) -> threading.Thread:
    """A thread for `task` that does not keep a process alive that was told to end."""
    return threading.Thread(target=task, name=f"latency-lab-{name}", daemon=True)


def settle(future: Future[T], task: Callable[[], T]) -> Future[T]:
    """Call `task` and keep whatever comes of it in `future`: a bug ends that task, never the thread it met."""
    try:
        future.set_result(task())
    except Exception as error:  # noqa: BLE001 -- the one place in this process that must outlive any bug
        future.set_exception(error)
    return future
