"""Where a running run stands, folded from the runner's events and kept in memory. Nothing of it is stored."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from engine.result import Failure
from engine.runner.events import OutcomeReady, Progress, RunEvent, WaitingForMachine

LOG_LINES = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class RunProgress:
    """One moment of a run that is being measured. `fraction` and `seconds_left` are None where nobody knows,
    `variant` while none is set up by itself.

    `log` are the last lines, the newest last, each with the seconds since the run started.
    """

    phase: str
    fraction: float | None = None
    seconds_left: float | None = None
    message: str = ""
    variant: str | None = None
    log: tuple[str, ...] = ()


class ProgressLog:
    """Takes events on the worker's thread and answers with a `RunProgress` on any other."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._started = self._heard = clock()
        self._latest = Progress(phase="start", fraction=0.0, seconds_left=None, message="Starting")
        self._lines: deque[str] = deque(maxlen=LOG_LINES)
        self._lock = threading.Lock()

    def add(self, event: RunEvent) -> None:
        """Note one event; those that say nothing about progress are passed over."""
        with self._lock:
            if isinstance(event, WaitingForMachine):
                event = Progress(
                    phase="waiting",
                    fraction=self._latest.fraction,
                    seconds_left=None,
                    message=f"Waiting for {event.holder}",
                )
            if isinstance(event, Progress):
                if event.message and event.message != self._latest.message:
                    self._write(event.message)
                self._latest, self._heard = event, self._clock()
            elif isinstance(event, OutcomeReady) and isinstance(event.outcome, Failure):
                self._write(f"{event.outcome.variant} failed: {event.outcome.message}")

    def now(self) -> RunProgress:
        """Where the run stands at this moment: the estimate counts down between two events."""
        with self._lock:
            latest, silent_s = self._latest, self._clock() - self._heard
            left_s = None if latest.seconds_left is None else max(0.0, latest.seconds_left - silent_s)
            return RunProgress(
                phase=latest.phase,
                fraction=latest.fraction,
                seconds_left=left_s,
                message=latest.message,
                variant=latest.variant,
                log=tuple(self._lines),
            )

    def _write(self, line: str) -> None:
        self._lines.append(f"{self._clock() - self._started:7.1f} s  {line}")
