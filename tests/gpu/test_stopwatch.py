"""T2 and T8: the clock, the event timer behind its spin and the throughput mode tell the truth about a GPU (METHOD 1.1, 6)."""

import itertools
from collections.abc import Callable
from statistics import median
from typing import Any

import pytest

from engine.child.measurement import BlockTimes, Stopwatch

ROUNDS = 10
SPIN_CYCLES = 16_000_000
"""Four times METHOD's, about 8 ms: a synchronise of some 10 us then stays far below the tolerance of `wall`."""
TRUTH_TOLERANCE = 0.005
FEED: Any = itertools.repeat({})


@pytest.fixture
def stopwatch(cuda: str) -> Stopwatch:
    import torch

    from engine.child.gpu_timer import make_gpu_timer

    return Stopwatch(synchronize=lambda: torch.cuda.synchronize(cuda), gpu=make_gpu_timer(cuda))


def spin(cycles: int) -> Callable[[Any], None]:
    import torch

    return lambda _: torch.cuda._sleep(cycles)


def ratio(pairs: list[tuple[float, float]]) -> float:
    return median(first / second for first, second in pairs)


@pytest.mark.parametrize("share", [1 / 2.0, 1 / 1.25, 1 / 1.04987])
def test_the_ratio_of_two_spins_is_the_ratio_of_their_cycles_by_every_clock(stopwatch: Stopwatch, share: float) -> None:
    """T2, blocks in turns."""
    calls = (spin(SPIN_CYCLES), spin(round(SPIN_CYCLES * share)))
    pairs: list[tuple[BlockTimes, BlockTimes]] = []
    throughput: list[tuple[float, float]] = []
    for _ in range(ROUNDS):
        one, other = (stopwatch.block(call, FEED, samples=3, calls_per_sample=1, throw_away=1) for call in calls)
        pairs.append((one, other))
        one_s, other_s = (stopwatch.throughput(call, FEED, call_s=0.05) for call in calls)
        throughput.append((one_s, other_s))
    wall = ratio([(median(one.wall_s), median(other.wall_s)) for one, other in pairs])
    gpu = ratio(
        [(median(filter(None, one.gpu_s or ())), median(filter(None, other.gpu_s or ()))) for one, other in pairs]
    )
    assert wall == pytest.approx(1 / share, rel=TRUTH_TOLERANCE)
    assert gpu == pytest.approx(1 / share, rel=TRUTH_TOLERANCE)
    assert ratio(throughput) == pytest.approx(1 / share, rel=TRUTH_TOLERANCE)


def test_without_waiting_for_the_device_almost_nothing_would_be_seen(stopwatch: Stopwatch) -> None:
    """M1 on a real device: the host returns at once, the work takes milliseconds. Guard: the synchronise in `sample`."""
    sample = stopwatch.sample(spin(SPIN_CYCLES), [{}])
    assert sample.host_s < 0.1 * sample.wall_s


def test_gpu_time_leaves_launching_out(stopwatch: Stopwatch) -> None:
    """Many tiny kernels: the caller waits for the launches, the GPU hardly works."""
    import torch

    x = torch.zeros(1, device="cuda")

    def call(_: Any) -> None:
        for _ in range(50):
            x.add_(1)

    times = stopwatch.block(call, FEED, samples=20, calls_per_sample=1, throw_away=3)
    known = [value for value in times.gpu_s or () if value is not None]
    assert known, "every spin ended before its launches were queued"
    assert median(known) < 0.8 * median(times.wall_s)


def test_cold_gpu_time_agrees_with_tritons_benchmark(cuda: str) -> None:
    """T8: a matrix product of more than 100 us, caches flushed before each sample by both."""
    import torch

    from engine.child.devices import make_flush
    from engine.child.gpu_timer import make_gpu_timer
    from engine.child.limits import last_level_cache_bytes

    testing = pytest.importorskip("triton.testing")
    a, b = (torch.randn(4096, 4096, device=cuda, dtype=torch.float16) for _ in range(2))
    watch = Stopwatch(
        synchronize=lambda: torch.cuda.synchronize(cuda),
        flush=make_flush(cuda, last_level_cache_bytes(cuda)),
        gpu=make_gpu_timer(cuda),
    )
    ours, theirs = [], []
    for _ in range(5):
        times = watch.block(lambda _: torch.mm(a, b), FEED, samples=50, calls_per_sample=1, throw_away=5)
        ours.append(median(value for value in times.gpu_s or () if value is not None))
        theirs.append(testing.do_bench(lambda: torch.mm(a, b), return_mode="median") / 1e3)
    assert median(theirs) > 100e-6
    assert median(ours) == pytest.approx(median(theirs), rel=0.05)
