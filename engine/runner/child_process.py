"""One measured child: started in a process group of its own, asked one question at a time, ended without leftovers.

The parent sleeps in `select` on the child's event pipe; it never spins. It knows nothing about what is measured.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from engine.errors import InvalidSpec
from engine.formatting import seconds
from engine.messages import Command, Event, Failed, PhaseChanged, decode, encode
from engine.result import FailureKind
from engine.runner.child_end import explain_end, read_kernel_kills, read_tail

WAKE_S = 0.25
"""How often a waiting parent looks whether it was cancelled: four short wake-ups a second disturb no measurement."""
TERMINATE_S = 3.0
"""Time between asking a group to end and killing it; compilers remove their temporary files in it."""
ROOT = Path(__file__).resolve().parents[2]

AnswerT = TypeVar("AnswerT")


class ChildFailed(Exception):
    """The child did not answer; it is gone. Becomes a `Failure` of the arm it served."""

    def __init__(self, stage: str, kind: FailureKind, message: str, log_tail: str) -> None:
        super().__init__(message)
        self.stage = stage
        self.kind = kind
        self.message = message
        self.log_tail = log_tail


class RunCancelled(Exception):
    """Somebody asked for the run to end while a child was working."""


class ChildProcess:
    """A running child; `stage` is the phase it is in: the last it named, or what its owner set.

    Whoever makes one calls `end` in the end, whatever happened; `ask` has ended it already when it raises `ChildFailed`.
    Raises `ChildFailed` when the command cannot be started.
    """

    def __init__(
        self, command: Sequence[str], log: Path, environment: Mapping[str, str], cancelled: threading.Event
    ) -> None:
        self.log = log
        self.stage = "start"
        self._cancelled = cancelled
        self._pending = b""
        self._kills_before = read_kernel_kills()
        log.parent.mkdir(parents=True, exist_ok=True)
        self._events, write_end = os.pipe()
        try:
            self._process = _start(command, log, environment, write_end)
        except OSError as error:
            os.close(self._events)
            raise ChildFailed("start", "error", f"The measured process could not be started: {error}.", "") from error
        finally:
            os.close(write_end)
        assert self._process.stdin is not None
        self._stdin = self._process.stdin
        self._is_ended = False

    @property
    def pid(self) -> int:
        """Process id, which is also the id of the child's process group."""
        return self._process.pid

    def ask(
        self,
        command: Command,
        answer: type[AnswerT],
        limit_s: float,
        on_phase: Callable[[PhaseChanged], None] = lambda _: None,
    ) -> AnswerT:
        """Send a command and wait for its answer; raises `ChildFailed` after `limit_s` seconds, `RunCancelled` on cancel."""
        deadline = time.monotonic() + limit_s
        self._send(command)
        while True:
            event = self._receive(deadline, limit_s)
            if isinstance(event, answer):
                return event
            if isinstance(event, PhaseChanged):
                self.stage = event.phase
                on_phase(event)
            elif isinstance(event, Failed):
                raise self._failed(event.failure_kind, event.message, stage=event.stage)
            else:
                raise self._failed("error", f"The measured process answered out of turn: {event}.")

    def end(self, grace_s: float = 0.0) -> None:
        """End the whole group: wait `grace_s` for it to end by itself, ask it to end, then kill what is left."""
        if self._is_ended:  # the process id may belong to somebody else by now
            return
        self._is_ended = True
        if not self._ends_within(grace_s):
            self._signal(signal.SIGTERM)
            self._ends_within(TERMINATE_S)
        self._signal(signal.SIGKILL)
        self._process.wait()
        os.close(self._events)
        with contextlib.suppress(BrokenPipeError):
            self._stdin.close()

    def _ends_within(self, limit_s: float) -> bool:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(limit_s)
        return self._process.returncode is not None

    def _send(self, command: Command) -> None:
        # A child that is already gone is reported by the read that follows, with its exit code.
        with contextlib.suppress(BrokenPipeError):
            self._stdin.write(encode(command))
            self._stdin.flush()

    def _receive(self, deadline: float, limit_s: float) -> Event | Command:
        while b"\n" not in self._pending:
            if self._cancelled.is_set():
                raise RunCancelled
            left = deadline - time.monotonic()
            if left <= 0:
                raise self._failed("timeout", self._too_late(limit_s))
            # Asked before reading: a line written just before the end is in the pipe by then and is read first.
            is_over = self._process.poll() is not None
            if select.select([self._events], [], [], 0 if is_over else min(left, WAKE_S))[0]:
                part = os.read(self._events, 65536)
                self._pending += part
                is_over = not part
            if is_over and b"\n" not in self._pending:
                raise self._ended()
        line, self._pending = self._pending.split(b"\n", 1)
        try:
            return decode(line)
        except InvalidSpec as error:
            raise self._failed("error", f"The measured process wrote something else than an event. {error}") from error

    def _too_late(self, limit_s: float) -> str:
        return (
            f"No answer for {seconds(limit_s)} in phase '{self.stage}', the time limit; the process was ended. "
            "Choose a smaller workload or fewer threads, or look into the log."
        )

    def _failed(self, kind: FailureKind, message: str, stage: str | None = None) -> ChildFailed:
        # A child that reported its own failure is still writing the traceback to its log.
        self.end(grace_s=TERMINATE_S if stage else 0.0)
        return ChildFailed(stage or self.stage, kind, message, read_tail(self.log))

    def _ended(self) -> ChildFailed:
        """The failure for a child that closed its event pipe: it is ending or has ended."""
        if not self._ends_within(TERMINATE_S):
            return self._failed("crashed", "The measured process closed its event pipe but did not end; it was ended.")
        kills = read_kernel_kills()
        during = None if kills is None or self._kills_before is None else kills - self._kills_before
        return self._failed(*explain_end(self._process.returncode, read_tail(self.log), during))

    def _signal(self, number: int) -> None:
        # macOS answers "not permitted" for a group of zombies, Linux "no such process".
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)


def _start(command: Sequence[str], log: Path, environment: Mapping[str, str], events: int) -> subprocess.Popen[bytes]:
    with log.open("wb") as output:
        return subprocess.Popen(
            [*command, "--events-fd", str(events)],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=output,
            pass_fds=(events,),
            env=dict(environment),
            cwd=ROOT,
            process_group=0,
            # A child that hangs before it reads must not block the parent's write: the longest command fits.
            pipesize=2**20,
        )
