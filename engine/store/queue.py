"""The queue: which run is next, and how a run goes from queued to its end. Every change is one statement, so that two
servers on one data folder cannot both make it."""

from __future__ import annotations

from typing import Literal

from engine.result import RunStatus
from engine.store.database import Database, now

SERVER_STOPPED = (
    "The server stopped while this run was being measured. What had finished is kept; run it again for the rest."
)
EndStatus = Literal["done", "cancelled", "interrupted", "failed"]


class Queue(Database):
    """Status changes of the runs of one data folder."""

    def next_queued(self) -> str | None:
        """Id of the run that has waited longest."""
        rows = self._rows("SELECT id FROM runs WHERE status = 'queued' ORDER BY sequence LIMIT 1")
        return rows[0]["id"] if rows else None

    def queue_position(self, run_id: str) -> int | None:
        """1 for the run that is measured next; None for one that is not waiting."""
        query = (
            "SELECT COUNT(*) AS place FROM runs WHERE status = 'queued' "
            "AND sequence <= (SELECT sequence FROM runs WHERE id = ? AND status = 'queued')"
        )
        return self._rows(query, run_id)[0]["place"] or None

    def status(self, run_id: str) -> RunStatus | None:
        """The status alone, quickly; None when there is no such run."""
        rows = self._rows("SELECT status FROM runs WHERE id = ?", run_id)
        return rows[0]["status"] if rows else None

    def start_run(self, run_id: str) -> bool:
        """Mark a queued run as running; False when it is no longer queued (cancelled or deleted meanwhile)."""
        query = "UPDATE runs SET status = 'running', started_at = ? WHERE id = ? AND status = 'queued'"
        return self._change(query, now(), run_id)

    def end_run(self, run_id: str, status: EndStatus, message: str = "") -> None:
        """Record how a run ended."""
        query = "UPDATE runs SET status = ?, message = ?, finished_at = ? WHERE id = ?"
        self._change(query, status, message, now(), run_id)

    def cancel_run(self, run_id: str) -> None:
        """Cancel a queued run at once; ask whoever measures a running one to end it. A run that has ended stays as it is."""
        queued = "UPDATE runs SET status = 'cancelled', finished_at = ? WHERE id = ? AND status = 'queued'"
        if not self._change(queued, now(), run_id):
            self._change("UPDATE runs SET cancel_requested = 1 WHERE id = ? AND status = 'running'", run_id)

    def is_cancel_requested(self, run_id: str) -> bool:
        """Whether somebody, perhaps at another server of this data folder, cancelled this running run."""
        return bool(self._rows("SELECT 1 FROM runs WHERE id = ? AND cancel_requested", run_id))

    def interrupt_unfinished(self, message: str = SERVER_STOPPED) -> list[str]:
        """Mark the runs that nobody measures any more; their ids. For the worker that holds the data folder's lock only."""
        query = (
            "UPDATE runs SET status = 'interrupted', message = ?, finished_at = ? WHERE status = 'running' RETURNING id"
        )
        with self._connect() as connection:
            return [row["id"] for row in connection.execute(query, (message, now())).fetchall()]
