"""A clock that moves only when told, and a device with a queue: launching is quick, the work is done when waited for."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

MS = 1_000_000


class FakeClock:
    """Nanoseconds since its making."""

    def __init__(self) -> None:
        self.ns = 0

    def __call__(self) -> int:
        return self.ns

    def advance(self, seconds: float) -> None:
        self.ns += round(seconds * 1e9)


class FakeDevice:
    """An asynchronous device: `launch` queues work behind what is queued already, `synchronize` waits for the last."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        self.is_idle_at_ns = 0
        self.synchronized = 0

    def launch(self, host_s: float, work_s: float) -> None:
        self.clock.advance(host_s)
        self.queue(work_s)

    def queue(self, work_s: float) -> None:
        self.is_idle_at_ns = max(self.is_idle_at_ns, self.clock.ns) + round(work_s * 1e9)

    def synchronize(self) -> None:
        self.synchronized += 1
        self.clock.ns = max(self.clock.ns, self.is_idle_at_ns)

    def make_event(self) -> FakeEvent:
        return FakeEvent(self)


class FakeEvent:
    """Fires when everything queued before it is done."""

    def __init__(self, device: FakeDevice) -> None:
        self.device = device
        self.fires_at_ns = 0

    def record(self) -> None:
        self.fires_at_ns = max(self.device.is_idle_at_ns, self.device.clock.ns)

    def query(self) -> bool:
        return self.device.clock.ns >= self.fires_at_ns

    def elapsed_time(self, later: FakeEvent) -> float:
        return (later.fires_at_ns - self.fires_at_ns) / MS


def scripted(clock: FakeClock, seconds: list[float]) -> Callable[[Any], None]:
    """A call that takes the listed times one after another, and the last one from then on."""
    left = deque(seconds)

    def call(_: Any) -> None:
        clock.advance(left.popleft() if len(left) > 1 else left[0])

    return call
