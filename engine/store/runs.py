"""Runs and their outcomes: kept, listed, found again, deleted."""

from __future__ import annotations

import secrets
import shutil
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from engine.errors import UnknownKey
from engine.result import Environment, Limits, Outcome, Run, RunStatus
from engine.serial import to_json
from engine.spec import Experiment
from engine.store.database import Database, now
from engine.store.rows import COLUMNS, described, insert_outcome, insert_run, limits_of, parse_outcome
from engine.store.sample_runs import samples


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """A run as lists show it: everything but the outcomes, and how many of those there are."""

    id: str
    experiment: Experiment
    status: RunStatus
    submitted_at: str
    environment: Environment | None
    started_at: str | None
    finished_at: str | None
    label: str
    note: str
    message: str
    measurements: int
    failures: int


class Runs(Database):
    """The runs of one data folder. Shipped samples can be read by their id like any other; they are never changed."""

    def __init__(self, folder: Path | None = None) -> None:
        super().__init__(folder)
        # A stored outcome never changes, and pages ask for the same runs at every click.
        self._outcome = lru_cache(maxsize=1024)(self._read_outcome)

    def add_run(self, experiment: Experiment, label: str = "", note: str = "") -> Run:
        """Put an experiment at the end of the queue."""
        run = _queued(experiment, label, note)
        with self._connect() as connection:
            insert_run(connection, run)
        return run

    def follow_or_add_run(self, experiment: Experiment, label: str = "", note: str = "") -> Run:
        """The run of the same experiment that waits or is being measured, else a new one at the end of the queue.

        One that somebody is cancelling is not followed.
        """
        run = _queued(experiment, label, note)
        query = (
            "SELECT id FROM runs WHERE digest = ? AND status IN ('queued', 'running') AND NOT cancel_requested "
            "ORDER BY sequence LIMIT 1"
        )
        with self._connect() as connection:
            # Looked for and added in one step: the two clicks of a double click arrive together.
            connection.execute("BEGIN IMMEDIATE")
            unfinished = connection.execute(query, (experiment.digest,)).fetchone()
            if unfinished is None:
                insert_run(connection, run)
        return run if unfinished is None else self.run(unfinished["id"])

    def import_run(self, run: Run) -> Run:
        """Keep a run that came from a file; one that is here already is not stored twice.

        A run exported before its end becomes "interrupted": nobody here is measuring it.
        """
        if run.status in ("queued", "running"):
            run = replace(run, status="interrupted", message=run.message or "Exported before the run had ended.")
        stored = self._find(run.id)
        if stored and (stored.experiment, stored.outcomes) == (run.experiment, run.outcomes):
            return stored
        if stored:
            run = replace(run, id=secrets.token_hex(5))
        with self._connect() as connection:
            sequence = insert_run(connection, run)
            for outcome in run.outcomes:
                insert_outcome(connection, sequence, outcome)
        return run

    def run(self, run_id: str) -> Run:
        """The run or shipped sample with this id and everything measured so far, or `UnknownKey`."""
        found = self._find(run_id) or next((sample for sample in samples() if sample.id == run_id), None)
        if found is None:
            raise UnknownKey(
                f"There is no run {run_id!r} here; it may have been deleted. Choose one on the Results page."
            )
        return found

    def runs(self) -> list[RunSummary]:
        """All runs, the newest first. Outcomes are counted, not read."""
        counts = "SELECT run, COUNT(*) AS outcomes, COUNT(failure) AS failures FROM outcomes GROUP BY run"
        query = (
            f"SELECT {COLUMNS}, IFNULL(outcomes, 0) AS outcomes, IFNULL(failures, 0) AS failures "
            f"FROM runs LEFT JOIN ({counts}) ON run = sequence ORDER BY sequence DESC"
        )
        return [
            RunSummary(**described(row), measurements=row["outcomes"] - row["failures"], failures=row["failures"])
            for row in self._rows(query)
        ]

    def find_done(self, digest: str, fingerprint: str) -> Run | None:
        """The newest finished run of the same experiment in the same environment.

        One with a failure that another attempt may not repeat (any kind but "unavailable") does not stand in for a new run.
        """
        query = (
            "SELECT id FROM runs WHERE digest = ? AND fingerprint = ? AND status = 'done' AND NOT EXISTS "
            "(SELECT 1 FROM outcomes WHERE run = sequence AND failure <> 'unavailable') "
            "ORDER BY sequence DESC LIMIT 1"
        )
        rows = self._rows(query, digest, fingerprint)
        return self._find(rows[0]["id"]) if rows else None

    def set_environment(self, run_id: str, environment: Environment) -> None:
        """Record where a run is measured, once that is known."""
        query = "UPDATE runs SET environment = ?, fingerprint = ? WHERE id = ?"
        self._change(query, to_json(environment), environment.fingerprint, run_id)

    def set_limits(self, run_id: str, limits: Limits) -> None:
        """Record what the device can do at best."""
        self._change("UPDATE runs SET limits = ? WHERE id = ?", to_json(limits), run_id)

    def set_label(self, run_id: str, label: str, note: str) -> None:
        """Name a run and say something about it."""
        query = "UPDATE runs SET label = ?, note = ? WHERE id = ?"
        if not self._change(query, label.strip(), note.strip(), run_id):
            raise UnknownKey(f"There is no stored run {run_id!r} to label. Choose one on the Results page.")

    def add_outcome(self, run_id: str, outcome: Outcome) -> None:
        """Commit one outcome: from here on no crash loses it."""
        with self._connect() as connection:
            row = connection.execute("SELECT sequence FROM runs WHERE id = ?", (run_id,)).fetchone()
            if row is None:
                raise UnknownKey(f"There is no run {run_id!r} to add an outcome to; it was deleted meanwhile.")
            insert_outcome(connection, row["sequence"], outcome)

    def delete_run(self, run_id: str) -> None:
        """Forget a run, its outcomes and its log files. One that is being measured must be cancelled first."""
        if not self._change("DELETE FROM runs WHERE id = ? AND status <> 'running'", run_id):
            raise UnknownKey(
                f"Run {run_id!r} is being measured or is not stored here. Cancel it first, then delete it."
            )
        shutil.rmtree(self.work_folder(run_id), ignore_errors=True)

    def work_folder(self, run_id: str) -> Path:
        """Where a run keeps its log files and compile caches."""
        return self.folder / "runs" / run_id

    def _find(self, run_id: str) -> Run | None:
        rows = self._rows(f"SELECT {COLUMNS} FROM runs WHERE id = ?", run_id)
        if not rows:
            return None
        return Run(**described(rows[0]), limits=limits_of(rows[0]), outcomes=self._outcomes(rows[0]["sequence"]))

    def _outcomes(self, sequence: int) -> tuple[Outcome, ...]:
        rows = self._rows("SELECT id FROM outcomes WHERE run = ? ORDER BY id", sequence)
        return tuple(self._outcome(row["id"]) for row in rows)

    def _read_outcome(self, outcome_id: int) -> Outcome:
        (row,) = self._rows("SELECT failure, body FROM outcomes WHERE id = ?", outcome_id)
        return parse_outcome(row["failure"], row["body"])


def _queued(experiment: Experiment, label: str, note: str) -> Run:
    return Run(
        id=secrets.token_hex(5),
        experiment=experiment,
        status="queued",
        submitted_at=now(),
        label=label.strip(),
        note=note.strip(),
    )
