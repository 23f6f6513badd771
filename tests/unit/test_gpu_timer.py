"""GPU time behind a spin, on a fake stream: right when the launches fit behind the spin, None when they do not."""

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from fake_device import FakeClock, FakeDevice

from engine.child.gpu_timer import MAX_LEAKS, GpuTimer
from engine.child.measurement import Stopwatch


class Stream:
    """A fake GPU with its timer; `spins` are the lengths asked for."""

    def __init__(self, spin_truth: float = 1.0) -> None:
        self.device = FakeDevice(FakeClock())
        self.spins: list[float] = []
        self.spin_truth = spin_truth
        self.timer = GpuTimer(spin=self._spin, make_event=self.device.make_event, synchronize=self.device.synchronize)

    def _spin(self, seconds: float) -> None:
        self.spins.append(seconds)
        self.device.queue(seconds * self.spin_truth)

    def call(self, host_s: float, work_s: float) -> Callable[[Any], None]:
        return lambda _: self.device.launch(host_s, work_s)


def test_gpu_time_of_a_launch_bound_call_is_its_work_and_not_its_launching() -> None:
    """Launch 1 ms, work 0.2 ms: an event pair without the spin would say 1 ms."""
    stream = Stream()
    stream.timer.begin_block(host_s=1e-3)
    assert stream.timer.time(stream.call(1e-3, 2e-4), [{}]) == pytest.approx(2e-4)


def test_a_spin_that_ends_early_gives_no_sample_and_the_next_one_is_longer() -> None:
    """This GPU spins a third as long as asked: the launches of the first sample leak."""
    stream = Stream(spin_truth=0.3)
    stream.timer.begin_block(host_s=1e-3)
    call = stream.call(1e-3, 2e-4)
    times = [stream.timer.time(call, [{}]) for _ in range(4)]
    assert times[0] is None
    assert times[-1] == pytest.approx(2e-4)
    assert stream.spins == sorted(stream.spins)


def test_a_call_that_waits_for_the_device_itself_is_given_up() -> None:
    stream = Stream()
    stream.timer.begin_block(host_s=1e-3)

    def waiting(_: Any) -> None:
        stream.device.launch(1e-3, 2e-4)
        stream.device.synchronize()

    assert [stream.timer.time(waiting, [{}]) for _ in range(MAX_LEAKS + 3)] == [None] * (MAX_LEAKS + 3)
    assert len(stream.spins) == MAX_LEAKS


def test_a_region_too_short_for_events_is_repeated_inside_one_pair() -> None:
    """Work of 2.1 us: events resolve half a microsecond, so 24 calls share a pair of 50 us."""
    stream = Stream()
    stream.timer.begin_block(host_s=1e-5)
    calls = []

    def short(_: Any) -> None:
        calls.append(stream.device.clock.ns)
        stream.device.launch(1e-6, 2.1e-6)

    assert stream.timer.time(short, [{}]) == pytest.approx(2.1e-6, rel=0.01)
    assert len(calls) == 1 + 24  # the first pair, too short to be believed, is no sample
    calls.clear()
    assert stream.timer.time(short, [{}]) == pytest.approx(2.1e-6, rel=0.01)
    assert len(calls) == 24


def test_a_call_without_gpu_work_has_no_gpu_time() -> None:
    """Never 0, and never the gap between two events."""
    stream = Stream()
    stream.timer.begin_block(host_s=1e-5)
    assert [stream.timer.time(stream.call(1e-6, 0.0), [{}]) for _ in range(2)] == [None, None]
    assert len(stream.spins) == 2, "one call, then many in one pair, and the rest of the block is spared"


@pytest.mark.parametrize(("is_cold", "calls_made"), [(False, 2 + 1 + 2 * 24), (True, 2 + 1 + 1)])
def test_a_block_of_two_samples_repeats_short_regions_only_with_hot_caches(is_cold: bool, calls_made: int) -> None:
    stream = Stream()
    calls = []

    def short(_: Any) -> None:
        calls.append(1)
        stream.device.launch(1e-6, 2.1e-6)

    watch = Stopwatch(
        synchronize=stream.device.synchronize,
        now_ns=stream.device.clock,
        gpu=stream.timer,
        flush=(lambda: None) if is_cold else None,
    )
    times = watch.block(short, itertools.repeat({}), samples=2, calls_per_sample=1, throw_away=0)
    assert times.gpu_s == pytest.approx((2.1e-6, 2.1e-6), rel=0.01)
    assert len(calls) == calls_made


def test_with_cold_caches_nothing_is_repeated() -> None:
    """A second call in the same pair would find the caches warm."""
    stream = Stream()
    stream.timer.begin_block(host_s=1e-5, may_repeat=False)
    calls = []

    def short(_: Any) -> None:
        calls.append(1)
        stream.device.launch(1e-6, 2e-6)

    assert [stream.timer.time(short, [{}]) for _ in range(3)] == pytest.approx([2e-6] * 3)
    assert len(calls) == 3
