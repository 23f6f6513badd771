"""The stopwatch and the warm-up rule, exact, with a fake clock and a fake device."""

import gc
import itertools
from dataclasses import replace
from typing import Any

import pytest
from fake_device import FakeClock, FakeDevice, scripted

from engine.child.measurement import Stopwatch, collector_off, is_steady, warm_up
from engine.spec import PROTOCOLS

PROTOCOL = PROTOCOLS["standard"]


def nothing() -> None:
    return None


def on_cpu(clock: FakeClock) -> Stopwatch:
    return Stopwatch(synchronize=nothing, now_ns=clock)


def endless() -> Any:
    return itertools.cycle([{}])


def test_queued_work_is_waited_for_so_no_latency_is_launch_time_alone() -> None:
    """Launch 0.01 ms, work 5 ms: without the synchronise before the second reading this reports 0.01 ms."""
    clock = FakeClock()
    device = FakeDevice(clock)
    watch = Stopwatch(synchronize=device.synchronize, now_ns=clock)
    sample = watch.sample(lambda _: device.launch(1e-5, 5e-3), [{}])
    assert sample.wall_s == pytest.approx(5.01e-3)
    assert sample.host_s == pytest.approx(1e-5)
    assert device.synchronized == 2


def test_work_left_over_from_before_is_not_billed_to_a_sample() -> None:
    """Without the synchronise before the first reading the sample would be 105 ms."""
    clock = FakeClock()
    device = FakeDevice(clock)
    device.queue(0.1)
    watch = Stopwatch(synchronize=device.synchronize, now_ns=clock)
    assert watch.sample(lambda _: device.launch(0, 5e-3), [{}]).wall_s == pytest.approx(5e-3)


def test_a_sample_of_several_calls_reports_time_per_call() -> None:
    clock = FakeClock()
    sample = on_cpu(clock).sample(scripted(clock, [1e-6, 3e-6]), [{}] * 2)
    assert sample.wall_s == pytest.approx(2e-6)


def test_every_call_gets_the_next_input() -> None:
    seen: list[Any] = []
    feed = itertools.cycle([{"x": 1}, {"x": 2}, {"x": 3}])
    on_cpu(FakeClock()).block(
        lambda inputs: seen.append(inputs["x"]), feed, samples=2, calls_per_sample=2, throw_away=1
    )
    assert seen == [1, 2, 3, 1, 2]


def test_outputs_are_alive_until_the_clock_has_stopped() -> None:
    """Freeing a large output costs time that belongs to no call."""
    clock = FakeClock()

    class Output:
        def __del__(self) -> None:
            clock.advance(1.0)

    assert on_cpu(clock).sample(lambda _: Output(), [{}]).wall_s == 0


def test_throw_away_calls_leave_no_samples() -> None:
    clock = FakeClock()
    times = on_cpu(clock).block(scripted(clock, [9.0, 9.0, 1.0]), endless(), 3, 1, throw_away=2)
    assert times.wall_s == (1.0, 1.0, 1.0)
    assert times.gpu_s is None


def test_caches_are_flushed_before_each_sample_and_outside_it() -> None:
    clock = FakeClock()
    flushes: list[int] = []

    def flush() -> None:
        flushes.append(clock.ns)
        clock.advance(10.0)

    watch = replace(on_cpu(clock), flush=flush)
    assert watch.block(scripted(clock, [1.0]), endless(), 3, 1, throw_away=0).wall_s == (1.0, 1.0, 1.0)
    assert len(flushes) == 3


def test_first_calls_of_30_and_19_seconds_never_reach_the_steady_samples() -> None:
    """The set-up phases of a fake runner whose calls take 30, 19, 0.05, 0.05 ... seconds."""
    clock = FakeClock()
    watch, call = on_cpu(clock), scripted(clock, [30.0, 19.0, 0.05])
    first = [watch.sample(call, [{}]).wall_s for _ in range(3)]
    warmed_up = warm_up(watch, call, endless(), min(first), PROTOCOL)
    assert first == pytest.approx([30.0, 19.0, 0.05])
    assert set(warmed_up.latency_s) == {0.05}
    assert warmed_up.is_steady
    assert warmed_up.call_s == pytest.approx(0.05)


def test_warm_up_lasts_a_second_on_a_cpu_even_when_calls_agree_at_once() -> None:
    clock = FakeClock()
    warmed_up = warm_up(on_cpu(clock), scripted(clock, [0.05]), endless(), 0.05, PROTOCOL)
    assert len(warmed_up.latency_s) == 20


def test_warm_up_goes_on_until_two_windows_agree() -> None:
    clock = FakeClock()
    falling = [0.1 * 0.97**step for step in range(40)]
    warmed_up = warm_up(on_cpu(clock), scripted(clock, [*falling, 0.02]), endless(), 0.1, PROTOCOL)
    assert warmed_up.is_steady
    assert len(warmed_up.latency_s) > 50
    assert warmed_up.call_s == pytest.approx(0.02)


def test_calls_that_never_settle_end_at_the_limit_and_are_kept() -> None:
    clock = FakeClock()
    growing = [0.01 * 1.02**step for step in range(400)]
    warmed_up = warm_up(on_cpu(clock), scripted(clock, growing), endless(), 0.01, PROTOCOL)
    assert not warmed_up.is_steady
    assert PROTOCOL.warmup_max_s <= sum(warmed_up.latency_s) < PROTOCOL.warmup_max_s * 1.1


def test_slow_calls_are_judged_by_smaller_windows() -> None:
    """Calls of 0.9 s: twenty of them would not fit into the limit."""
    clock = FakeClock()
    warmed_up = warm_up(on_cpu(clock), scripted(clock, [0.9]), endless(), 0.9, PROTOCOL)
    assert warmed_up.is_steady
    assert len(warmed_up.latency_s) == 10


@pytest.mark.parametrize(
    ("calls_s", "count", "expected"),
    [
        ([2.5], 4, True),  # the limit is reached after four calls
        ([5.0], 4, True),  # and after two: two windows take four
        ([1.3], 8, True),
        ([3.0, 3.0, 2.0, 2.0], 4, False),
    ],
)
def test_calls_too_slow_for_ten_within_the_limit_are_judged_by_what_there_is(
    calls_s: list[float], count: int, expected: bool
) -> None:
    """DistilBERT at batch 8 and 512 tokens takes 2.5 s here: it was "no steady state" however even its calls were."""
    clock = FakeClock()
    warmed_up = warm_up(on_cpu(clock), scripted(clock, calls_s), endless(), min(calls_s), PROTOCOL)
    assert (len(warmed_up.latency_s), warmed_up.is_steady) == (count, expected)


def test_very_short_calls_are_warmed_up_many_at_a_time() -> None:
    clock = FakeClock()
    warmed_up = warm_up(on_cpu(clock), scripted(clock, [5e-6]), endless(), 5e-6, PROTOCOL)
    assert warmed_up.calls_per_sample == 1000
    assert warmed_up.call_s == pytest.approx(5e-6)
    assert len(warmed_up.latency_s) == 200


@pytest.mark.parametrize(
    ("latency_s", "expected"),
    [
        ([], False),
        ([1.0], False),
        ([1.0, 1.0], True),
        ([1.0, 1.02], False),
        ([1.0] * 10 + [1.009] * 10, True),
        ([1.0] * 10 + [1.011] * 10, False),
        ([5.0] * 30 + [1.0] * 20, True),
    ],
)
def test_steady_means_that_two_windows_differ_by_less_than_a_percent(latency_s: list[float], expected: bool) -> None:
    assert is_steady(latency_s) is expected


def test_throughput_is_many_calls_and_one_wait() -> None:
    clock = FakeClock()
    device = FakeDevice(clock)
    watch = Stopwatch(synchronize=device.synchronize, now_ns=clock)
    per_call = watch.throughput(lambda _: device.launch(1e-3, 5e-3), endless(), call_s=6e-3)
    assert device.synchronized == 2
    assert per_call == pytest.approx(5e-3, rel=0.01)


def test_the_harness_reports_what_timing_nothing_costs() -> None:
    clock = FakeClock()

    def reading() -> int:
        clock.advance(1e-7)
        return clock.ns

    watch = Stopwatch(synchronize=lambda: clock.advance(2e-6), now_ns=reading)
    floor = watch.floor()
    assert floor["empty"] == pytest.approx(2e-7)
    assert floor["synchronize"] == pytest.approx(2.2e-6)


def test_no_garbage_is_collected_inside_a_block_and_it_is_again_after_an_error() -> None:
    with pytest.raises(ZeroDivisionError), collector_off():
        assert not gc.isenabled()
        _ = 1 / 0
    assert gc.isenabled()
