"""How far a run is, how long it will still take, and where its time went."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable

from engine.estimate import Step, expected_s
from engine.runner.events import Progress, TimeSpent
from engine.spec import Protocol

TELL_EVERY_S = 0.3
"""Listeners may be slow (a database, a terminal): between two rounds they are told at most this often."""
PACE_FROM_SHARE = 0.1
"""From this share of a step on, its own pace says how long the rest takes."""


class RunClock:
    """Told what begins, it tells how far the run is.

    Of the time, every moment belongs to exactly one phase, so that the phases add up to the run.
    """

    def __init__(
        self,
        steps: Iterable[Step],
        protocol: Protocol,
        emit: Callable[[Progress], None],
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._remaining = Counter(steps)
        self._expected = {step: expected_s(step, protocol) for step in self._remaining}
        self._emit = emit
        self._now = now
        self._done_s = self._fraction = 0.0
        self._step: Step | None = None
        self._step_began = self._phase_began = now()
        self._told = now() - TELL_EVERY_S
        self._phase = "runner"
        self._spent: defaultdict[str, float] = defaultdict(float)

    def enter(self, phase: str) -> None:
        """From now on the time belongs to `phase`."""
        now = self._now()
        self._spent[self._phase] += now - self._phase_began
        self._phase, self._phase_began = phase, now

    def move(self, source: str, target: str, seconds: float) -> None:
        """Give `seconds` that were counted under one phase to another."""
        self._spent[source] -= seconds
        self._spent[target] += seconds

    def spent(self) -> TimeSpent:
        """Seconds by phase up to now."""
        self.enter(self._phase)
        return TimeSpent(seconds=dict(self._spent))

    def begin(self, step: Step) -> None:
        """A step begins, the one before is over; how long that took is what the next equal one is expected to take."""
        now = self._now()
        if self._step is not None:
            self._expected[self._step] = now - self._step_began
        self._done_s += now - self._step_began
        self._step, self._step_began = step, now
        self._remaining[step] -= 1

    def skip(self, *steps: Step) -> None:
        """Steps that will not be taken: their child is gone, or their result exists."""
        self._remaining.subtract(steps)

    def tell(
        self, phase: str, message: str, share: float | None = None, is_urgent: bool = True, variant: str | None = None
    ) -> None:
        """Report progress; `share` is how much of the step is done, None where only its duration so far can tell."""
        now = self._now()
        if not is_urgent and now - self._told < TELL_EVERY_S:
            return
        self._told = now
        elapsed = now - self._step_began
        left = self._rest_of_step_s(elapsed, share) + sum(
            self._expected[step] * count for step, count in self._remaining.items()
        )
        done = self._done_s + elapsed
        self._fraction = max(self._fraction, done / (done + left) if done + left > 0 else 0.0)
        told = Progress(phase=phase, fraction=self._fraction, seconds_left=left, message=message, variant=variant)
        self._emit(told)

    def _rest_of_step_s(self, elapsed: float, share: float | None) -> float:
        if self._step is None:
            return 0.0
        if share is not None and share > PACE_FROM_SHARE:
            return elapsed * (1 - share) / share
        return max(self._expected[self._step] - elapsed, 0.0)
