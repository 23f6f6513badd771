"""A program whose duration is known: a busy-wait with injected noise, slow calls and drift. The truth of the self-tests."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Spin:
    """How long one call takes, in seconds, and how that varies.

    `call_noise` and `process_noise` are relative standard deviations between calls and between processes. `slow_every` makes
    each n-th call `slow_by` times longer (0: none). From `drift_start` (seconds of the machine's monotonic clock, shared by
    all processes) on, calls grow over `drift_s` seconds to `1 + drift` times their length.
    """

    call_s: float
    call_noise: float = 0.0
    process_noise: float = 0.0
    slow_every: int = 0
    slow_by: float = 1.0
    drift: float = 0.0
    drift_start: float = 0.0
    drift_s: float = 1.0

    def started(self, seed: str) -> Callable[[], None]:
        """The program as one process runs it: `seed` decides its noise."""
        noise = random.Random(seed)
        level = self.call_s * noise.lognormvariate(0.0, self.process_noise)
        calls = 0

        def call() -> None:
            nonlocal calls
            start = time.perf_counter_ns()
            calls += 1
            is_slow = self.slow_every and calls % self.slow_every == 0
            length = level * (self.slow_by if is_slow else noise.lognormvariate(0.0, self.call_noise)) * self._drifted()
            deadline = start + round(length * 1e9)
            while time.perf_counter_ns() < deadline:
                pass

        return call

    def _drifted(self) -> float:
        if not self.drift:
            return 1.0
        passed = (time.monotonic() - self.drift_start) / self.drift_s
        return 1.0 + self.drift * min(1.0, max(0.0, passed))
