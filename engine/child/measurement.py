"""The stopwatch: one way of timing for every technique (METHOD 1.1, 1.3). Clock, synchronise and flush are injected.

Every sample synchronises the device before it starts and before it stops, so no queued work is missed and none is inherited.
Nothing here is averaged away, and what timing itself costs is measured but never subtracted.
"""

from __future__ import annotations

import gc
import itertools
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from engine.spec import Protocol

if TYPE_CHECKING:  # types alone: the stopwatch times anything, the spins of the self-tests without torch too
    from engine.child.gpu_timer import GpuTimer
    from engine.child.subject import Call, Inputs

GPU_WARMUP_MIN_S = 0.3
"""A GPU reaches its clocks sooner than a CPU warms its caches and page tables (METHOD 1.3)."""
STEADY_WINDOW = 10
STEADY_CHANGE = 0.01
"""Steady: the medians of the last two windows of calls differ by less than 1 % (METHOD 1.3)."""
SLOW_CALLS = 4
"""Calls so slow that fewer than ten reach the time limit are judged by what there is, and by two windows of two at least."""
SHORT_CALL_S = 1e-3
SHORT_SAMPLE_S = 5e-3
"""Calls under a millisecond are warmed up in samples of 5 ms: hundreds of numbers instead of hundreds of thousands."""
FLOOR_SAMPLES = 1000
THROUGHPUT_S = 0.25
MAX_THROUGHPUT_CALLS = 2000


@dataclass(frozen=True, slots=True)
class Sample:
    """Seconds per call. `host_s` stops when the call returned to Python, `wall_s` when the device had finished."""

    wall_s: float
    host_s: float


@dataclass(frozen=True, slots=True)
class BlockTimes:
    """One block's samples, seconds per call. `gpu_s` is None where the device has no event timer."""

    wall_s: tuple[float, ...]
    host_s: tuple[float, ...]
    gpu_s: tuple[float | None, ...] | None


@dataclass(frozen=True, slots=True)
class WarmedUpCalls:
    """Samples of `calls_per_sample` calls until the steady state, seconds per call."""

    latency_s: tuple[float, ...]
    calls_per_sample: int
    is_steady: bool

    @property
    def call_s(self) -> float:
        """Median of the last window."""
        return median(self.latency_s[-STEADY_WINDOW:])


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopwatch:
    """Times calls on one device. `flush` empties the caches before each sample where they are to be cold."""

    synchronize: Callable[[], object]
    now_ns: Callable[[], int] = time.perf_counter_ns
    flush: Callable[[], object] | None = None
    gpu: GpuTimer | None = None

    def sample(self, call: Call, batch: Sequence[Inputs]) -> Sample:
        """One sample: the call on every input of `batch`, back to back. Outputs stay alive until the clock has stopped."""
        if self.flush is not None:
            self.flush()
        self.synchronize()
        start = self.now_ns()
        for inputs in batch:
            outputs = call(inputs)
        returned = self.now_ns()
        self.synchronize()
        stopped = self.now_ns()
        del outputs
        scale = 1e9 * len(batch)
        return Sample(wall_s=(stopped - start) / scale, host_s=(returned - start) / scale)

    def block(
        self, call: Call, feed: Iterator[Inputs], samples: int, calls_per_sample: int, throw_away: int
    ) -> BlockTimes:
        """`throw_away` calls that do not count, then `samples` samples; GPU time in samples of its own, behind a spin."""
        if throw_away:
            self.sample(call, take(feed, throw_away))
        times = [self.sample(call, take(feed, calls_per_sample)) for _ in range(samples)]
        return BlockTimes(
            wall_s=tuple(sample.wall_s for sample in times),
            host_s=tuple(sample.host_s for sample in times),
            gpu_s=self._gpu_times(call, feed, calls_per_sample, times),
        )

    def _gpu_times(
        self, call: Call, feed: Iterator[Inputs], calls: int, times: Sequence[Sample]
    ) -> tuple[float | None, ...] | None:
        if self.gpu is None:
            return None
        self.gpu.begin_block(calls * median(sample.host_s for sample in times), may_repeat=self.flush is None)
        gpu_s = []
        for _ in times:
            if self.flush is not None:
                self.flush()
            gpu_s.append(self.gpu.time(call, take(feed, calls)))
        return tuple(gpu_s)

    def throughput(self, call: Call, feed: Iterator[Inputs], call_s: float) -> float:
        """Seconds per call with calls back to back and one synchronise at the end: what a batch server sees."""
        calls = min(max(3, math.ceil(THROUGHPUT_S / call_s)), MAX_THROUGHPUT_CALLS)
        return self.sample(call, take(feed, calls)).wall_s

    def floor(self) -> dict[str, float]:
        """What timing nothing costs, without and with this device's synchronise: medians, seconds."""
        bare = Stopwatch(synchronize=_nothing, now_ns=self.now_ns)
        synchronizing = Stopwatch(synchronize=self.synchronize, now_ns=self.now_ns)
        return {
            name: median(watch.sample(_nothing, [{}]).wall_s for _ in range(FLOOR_SAMPLES))
            for name, watch in (("empty", bare), ("synchronize", synchronizing))
        }


def warm_up(
    stopwatch: Stopwatch, call: Call, feed: Iterator[Inputs], fastest_s: float, protocol: Protocol
) -> WarmedUpCalls:
    """Call until steady: enough calls, enough time, two windows that agree; or the time limit, which slow calls reach early.

    All samples are kept. `fastest_s` is the shortest call seen so far; it decides how many calls make one sample.
    """
    calls = math.ceil(SHORT_SAMPLE_S / fastest_s) if fastest_s < SHORT_CALL_S else 1
    min_s = min(protocol.warmup_min_s, GPU_WARMUP_MIN_S) if stopwatch.gpu else protocol.warmup_min_s
    latency_s: list[float] = []
    spent_s = 0.0
    while True:
        latency_s.append(stopwatch.sample(call, take(feed, calls)).wall_s)
        spent_s += latency_s[-1] * calls
        has_enough = len(latency_s) >= protocol.warmup_min_calls and spent_s >= min_s
        if has_enough and is_steady(latency_s):
            return WarmedUpCalls(tuple(latency_s), calls, True)
        if spent_s >= protocol.warmup_max_s and len(latency_s) >= SLOW_CALLS:
            are_few = len(latency_s) < protocol.warmup_min_calls
            return WarmedUpCalls(tuple(latency_s), calls, are_few and is_steady(latency_s))


def is_steady(latency_s: Sequence[float]) -> bool:
    """Whether the medians of the last two windows agree; windows shrink to half of what there is for slow calls."""
    window = min(STEADY_WINDOW, len(latency_s) // 2)
    if window == 0:
        return False
    last, before = median(latency_s[-window:]), median(latency_s[-2 * window : -window])
    return abs(last - before) < STEADY_CHANGE * before


def take(feed: Iterator[Inputs], count: int) -> list[Inputs]:
    """The next `count` inputs, fetched before the clock starts."""
    return list(itertools.islice(feed, count))


@contextmanager
def collector_off() -> Iterator[None]:
    """Python's garbage collector neither runs during a block nor has old objects to look at (METHOD 1.4)."""
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _nothing(*_: Any) -> None:
    return None
