"""Experiments in the background: submit, cancel, follow. What pages talk to; `engine.worker.supervisor` does the work.

The queue lives in the store and is shared by every browser session and by every server on the same data folder; one of
them measures, the others only submit. Knows nothing of Streamlit and never imports torch.

`start()` and `stop()` belong to the server's life, `get()` to pages.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial

from engine import runner
from engine.environment import environment_of
from engine.errors import StorageError
from engine.result import Machine, Run
from engine.spec import Experiment
from engine.store import Store
from engine.worker.local_models import changed_since
from engine.worker.progress import RunProgress
from engine.worker.supervisor import RunExperiment, Supervisor, background, settle

DESCRIBE_AGAIN_S = 30.0
"""Whatever kept the machine from being described (memory for a moment, a time limit) may be over by then."""


class Worker:
    """The queue of one data folder and this machine's description, with the threads that work on both."""

    def __init__(
        self,
        store: Store,
        *,
        run_experiment: RunExperiment = runner.run_experiment,
        describe_machine: Callable[[], Machine] = runner.describe_machine,
    ) -> None:
        self.store = store
        self._describe_machine = describe_machine
        self._machine: Future[Machine] = Future()
        self._described_at = time.monotonic()
        self._supervisor = Supervisor(store, lambda: self._machine, run_experiment)

    def start(self) -> None:
        """Start working off the queue and looking at the machine; returns at once."""
        self._supervisor.start()
        background("machine", partial(self._describe, self._machine)).start()

    def stop(self) -> None:
        """End the run that is being measured here (it becomes "interrupted"); queued runs stay queued."""
        self._supervisor.stop()

    def submit(self, experiment: Experiment, label: str = "", note: str = "", again: bool = False) -> Run:
        """The stored result of the same experiment in the same environment, or a run to follow: the unfinished one of the same
        experiment, whoever asked for it, else a new one at the end of the queue.

        `again` measures anew what is stored; an unfinished run is anew already. Raises `UserError` for an experiment this
        machine cannot start.
        """
        if not again and (stored := self._stored_result(experiment)):
            return stored
        run = self.store.follow_or_add_run(experiment, label, note)
        self._supervisor.look()
        return run

    def cancel(self, run_id: str) -> None:
        """Take a run out of the queue, or end it where it stands; what it has measured stays."""
        self.store.cancel_run(run_id)
        self._supervisor.cancel(run_id)

    def progress(self, run_id: str) -> RunProgress | None:
        """Where a running run stands; None for one that is not running.

        Raises `StorageError` while the disk keeps the queue from moving.
        """
        if self._supervisor.problem:
            raise StorageError(self._supervisor.problem)
        here = self._supervisor.progress(run_id)
        if here is None and self.store.status(run_id) == "running":
            return RunProgress(phase="running", message="Another Latency Lab server is measuring this run.")
        return here

    def queue_position(self, run_id: str) -> int | None:
        """1 for the run that is measured next; None for one that is not waiting."""
        return self.store.queue_position(run_id)

    def machine(self) -> Machine | None:
        """This machine; until its description is there, as it was at the last start; None before the very first.

        Raises the error that made describing it fail; it is tried again when somebody asks after a while.
        """
        described = self._machine
        if not described.done():
            return self.store.machine()
        if described.exception() is not None:
            self._describe_again(described)
        return described.result()

    def _describe_again(self, failed: Future[Machine]) -> None:
        """Once per failure, and not at every rerun of a page."""
        with _guard:
            if self._machine is not failed or time.monotonic() - self._described_at < DESCRIBE_AGAIN_S:
                return
            self._machine, self._described_at = Future(), time.monotonic()
        background("machine", partial(self._describe, self._machine)).start()

    def _stored_result(self, experiment: Experiment) -> Run | None:
        # A description from the last start is not enough here: a library may have been updated since.
        if not self._machine.done():
            return None
        environment = environment_of(self._machine.result(), experiment)
        found = self.store.find_done(experiment.digest, environment.fingerprint)
        return None if found and changed_since(found) else found

    def _describe(self, described: Future[Machine]) -> None:
        settle(described, self._describe_machine)
        self._supervisor.look()
        if described.exception() is None:
            # Remembered only for the next start's first seconds; a full disk is said where something is lost by it.
            with suppress(StorageError):
                self.store.set_machine(described.result())


# The worker of this process. Module state is safe from Streamlit's hot reload: that forgets only modules beside the main
# script (pages/) and on PYTHONPATH, and .streamlit/config.toml keeps engine/ out of the latter.
_guard = threading.Lock()
_worker: Worker | None = None


def start(worker: Worker | None = None) -> Worker:
    """This server's worker, made and started if there is none; a test may give one of its own to start.

    Raises `StorageError` when the data folder cannot be used; the next call tries again.
    """
    global _worker  # noqa: PLW0603
    with _guard:
        if _worker is None:
            made = worker or Worker(Store())
            made.start()
            _worker = made
        return _worker


def get() -> Worker:
    """This server's worker. Raises `StorageError` while the data folder cannot be used."""
    return start()


def stop() -> None:
    """Stop this server's worker, if there is one."""
    global _worker
    with _guard:
        worker, _worker = _worker, None
    if worker:
        worker.stop()
