"""One measurement at a time on this machine, whichever server, command line or user started it.

The lock file lies in the temporary folder, not in a data folder, so that two servers with different data share it. A note
beside it says who holds it; the operating system frees the lock when its holder dies, however it dies.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from engine.errors import UserError
from engine.runner.child_process import RunCancelled

RETRY_S = 0.5


def default_lock_path() -> Path:
    """Where this machine's lock is."""
    return Path(tempfile.gettempdir()) / "latency-lab.lock"


@contextlib.contextmanager
def hold_machine(what: str, path: Path, cancelled: threading.Event, on_wait: Callable[[str], None]) -> Iterator[None]:
    """Hold the machine for `what`. While another run has it, `on_wait` is told which, once per holder.

    Raises `RunCancelled` when cancelled while waiting, `UserError` when the lock cannot be made.
    """
    # Readable and writable by all: another user's run has to wait for this one too.
    lock = FileLock(path, mode=0o666, thread_local=False)
    _wait_for(lock, path, cancelled, on_wait)
    note = _note_path(path)
    try:
        _write_note(note, what)
        yield
    finally:
        with contextlib.suppress(OSError):
            note.unlink()
        lock.release()


def _wait_for(lock: FileLock, path: Path, cancelled: threading.Event, on_wait: Callable[[str], None]) -> None:
    told = None
    while True:
        try:
            lock.acquire(blocking=False)
            return
        except Timeout:
            holder = _read_note(_note_path(path))
        except OSError as error:
            raise UserError(
                f"The machine's lock file {path} cannot be opened ({error.strerror}). Remove it or set TMPDIR to a "
                "folder that can be written."
            ) from error
        if holder != told:
            told = holder
            on_wait(holder)
        if cancelled.wait(RETRY_S):
            raise RunCancelled


def _note_path(path: Path) -> Path:
    return path.with_suffix(".json")


def _write_note(note: Path, what: str) -> None:
    """Say who holds the lock; a note that cannot be written (another user's is in the way) costs only the explanation."""
    with contextlib.suppress(OSError):
        note.write_text(json.dumps({"what": what, "process": os.getpid(), "since": time.time()}))


def _read_note(note: Path) -> str:
    try:
        value = json.loads(note.read_text())
        since = time.strftime("%H:%M:%S", time.localtime(value["since"]))
        return f"{value['what']} (process {value['process']}, since {since})"
    except (OSError, ValueError, KeyError, TypeError):
        return "another measurement on this machine"
