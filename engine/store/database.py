"""The SQLite file: where it lies, its schema and versions, one connection per use, and errors in words.

A connection is opened for each use: opening costs well under a millisecond, and Streamlit makes a new thread for every
page run, so that connections kept per thread would only pile up.
"""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from engine.errors import StorageError

REPOSITORY = Path(__file__).resolve().parents[2]
BUSY_LIMIT_S = 10.0
"""How long a writer waits for another server's or command's writer; one write takes milliseconds."""

SCHEMA_1 = """
CREATE TABLE runs (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,  -- the order of the queue; never used twice
    id TEXT NOT NULL UNIQUE,
    digest TEXT NOT NULL,
    fingerprint TEXT,
    status TEXT NOT NULL,
    cancel_requested INTEGER NOT NULL DEFAULT 0,
    submitted_at TEXT NOT NULL,
    started_at TEXT,
    finished_at TEXT,
    label TEXT NOT NULL DEFAULT '',
    note TEXT NOT NULL DEFAULT '',
    message TEXT NOT NULL DEFAULT '',
    experiment TEXT NOT NULL,
    environment TEXT,
    limits TEXT
);
CREATE INDEX runs_by_digest ON runs (digest, fingerprint);
CREATE INDEX runs_by_status ON runs (status, sequence);
CREATE TABLE outcomes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    run INTEGER NOT NULL REFERENCES runs (sequence) ON DELETE CASCADE,
    failure TEXT,  -- the failure's kind; NULL for a measurement
    body TEXT NOT NULL
);
CREATE INDEX outcomes_by_run ON outcomes (run, failure);
CREATE TABLE comparison_sets (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    created_at TEXT NOT NULL,
    run_ids TEXT NOT NULL,
    details TEXT NOT NULL,
    frames TEXT NOT NULL
);
CREATE TABLE remembered (name TEXT PRIMARY KEY, value TEXT NOT NULL);
"""
SCHEMA_2 = """
ALTER TABLE comparison_sets ADD COLUMN version TEXT NOT NULL DEFAULT '';  -- names the folder of its frames
"""
MIGRATIONS = (SCHEMA_1, SCHEMA_2)
"""`MIGRATIONS[n]` leads from schema version n (SQLite's `user_version`) to n + 1. Append; never edit one that was released."""


def data_folder() -> Path:
    """The folder of everything written at run time: `LATENCY_LAB_DATA`, or `data/` beside the code."""
    return Path(os.environ.get("LATENCY_LAB_DATA") or REPOSITORY / "data").expanduser().absolute()


def now() -> str:
    """This moment in UTC, ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="seconds")


class Database:
    """One data folder with its SQLite file; made on construction, brought to the newest schema version."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or data_folder()
        self.path = self.folder / "latency-lab.sqlite3"
        with storage_errors(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
        with self._connect() as connection:
            self._migrate(connection)

    @contextmanager
    def _connect(self) -> Iterator[sqlite3.Connection]:
        """A connection for one use: committed when the block ends well, rolled back when it does not."""
        with (
            storage_errors(self.path),
            closing(sqlite3.connect(self.path, timeout=BUSY_LIMIT_S)) as connection,
            connection,
        ):
            connection.row_factory = sqlite3.Row
            connection.execute("PRAGMA foreign_keys = ON")
            yield connection

    def _rows(self, query: str, *values: object) -> list[sqlite3.Row]:
        with self._connect() as connection:
            return connection.execute(query, values).fetchall()

    def _change(self, query: str, *values: object) -> bool:
        """Execute one statement that writes; whether it changed a row."""
        with self._connect() as connection:
            return connection.execute(query, values).rowcount > 0

    def _migrate(self, connection: sqlite3.Connection) -> None:
        if self._version(connection) == len(MIGRATIONS):
            return
        # Write-ahead logging: pages read while the worker writes. The mode is stored in the file.
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("BEGIN IMMEDIATE")
        # Read again: another server may have migrated while this one waited for the lock.
        version = self._version(connection)
        if version > len(MIGRATIONS):
            raise StorageError(
                f"{self.path} was written by a newer Latency Lab (format {version}; this one knows {len(MIGRATIONS)}). "
                "Update Latency Lab, or set LATENCY_LAB_DATA to another folder."
            )
        for migration in MIGRATIONS[version:]:
            for statement in filter(str.strip, migration.split(";\n")):
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")

    @staticmethod
    def _version(connection: sqlite3.Connection) -> int:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


@contextmanager
def storage_errors(path: Path, *, only_when_full: bool = False) -> Iterator[None]:
    """Turn what SQLite or the operating system refuses about `path` into a `StorageError` that says what to do.

    `only_when_full` leaves every refusal but a full disk alone, for blocks that do more than store.
    """
    try:
        yield
    except OSError as error:
        if only_when_full and error.errno not in _FULL:
            raise
        raise StorageError(_refused(path, error.strerror or str(error), is_full=error.errno in _FULL)) from error
    except sqlite3.DatabaseError as error:
        # These three are mistakes in our own SQL, not something a person can mend.
        if isinstance(error, sqlite3.ProgrammingError | sqlite3.IntegrityError | sqlite3.InterfaceError):
            raise
        raise StorageError(_refused(path, str(error), is_full=error.sqlite_errorname == "SQLITE_FULL")) from error


_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def _refused(path: Path, reason: str, *, is_full: bool) -> str:
    if is_full:
        return (
            f"The disk that holds {path} is full, so nothing more can be saved. "
            "Free some space, or set LATENCY_LAB_DATA to a folder with more room."
        )
    return (
        f"{path} cannot be used to store results: {reason}. "
        "Make it a folder this program may write to, or set LATENCY_LAB_DATA to one."
    )
