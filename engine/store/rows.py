"""Between dataclasses and rows of the database."""

from __future__ import annotations

import sqlite3
from functools import lru_cache
from typing import Any

from engine.result import Environment, Failure, Limits, Measurement, Outcome, Run
from engine.serial import from_json, to_json
from engine.spec import Experiment

COLUMNS = (
    "sequence, id, status, submitted_at, started_at, finished_at, label, note, message, experiment, environment, limits"
)


def insert_run(connection: sqlite3.Connection, run: Run) -> int:
    """Write a run without its outcomes; returns its sequence number."""
    values = {
        "id": run.id,
        "digest": run.experiment.digest,
        "fingerprint": run.environment and run.environment.fingerprint,
        "status": run.status,
        "submitted_at": run.submitted_at,
        "started_at": run.started_at,
        "finished_at": run.finished_at,
        "label": run.label,
        "note": run.note,
        "message": run.message,
        "experiment": run.experiment.to_json(),
        "environment": run.environment and to_json(run.environment),
        "limits": run.limits and to_json(run.limits),
    }
    query = f"INSERT INTO runs ({', '.join(values)}) VALUES ({', '.join('?' * len(values))})"
    sequence = connection.execute(query, tuple(values.values())).lastrowid
    return int(sequence or 0)


def insert_outcome(connection: sqlite3.Connection, sequence: int, outcome: Outcome) -> None:
    """Write one outcome of the run with this sequence number."""
    failure = outcome.kind if isinstance(outcome, Failure) else None
    connection.execute(
        "INSERT INTO outcomes (run, failure, body) VALUES (?, ?, ?)", (sequence, failure, to_json(outcome))
    )


def described(row: sqlite3.Row) -> dict[str, Any]:
    """What a run and its summary have in common."""
    plain = ("id", "status", "submitted_at", "started_at", "finished_at", "label", "note", "message")
    return {
        **{name: row[name] for name in plain},
        "experiment": _experiment(row["experiment"]),
        "environment": row["environment"] and _environment(row["environment"]),
    }


# Lists show hundreds of runs whose experiments and environments are often the same text; parsing one takes longer than
# reading ten. Frozen values may be shared.
@lru_cache(maxsize=1024)
def _experiment(text: str) -> Experiment:
    return Experiment.from_json(text)


@lru_cache(maxsize=1024)
def _environment(text: str) -> Environment:
    return from_json(text, Environment)


def limits_of(row: sqlite3.Row) -> Limits | None:
    """The limits stored with a run."""
    return from_json(row["limits"], Limits) if row["limits"] else None


def parse_outcome(failure: str | None, body: str) -> Outcome:
    """Inverse of `insert_outcome`."""
    return from_json(body, Failure) if failure else from_json(body, Measurement)
