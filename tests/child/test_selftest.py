"""The short form of `make selftest`: known truths through the real runner, the real stopwatch and the real statistics."""

from dataclasses import replace

import pytest

from engine import stats
from engine.result import Machine
from engine.selftest import agreement, spins
from engine.selftest.spin import Spin
from tests.hand_made import MACHINE

pytestmark = pytest.mark.slow


@pytest.fixture
def machine() -> Machine:
    return MACHINE


@pytest.mark.parametrize("target_s", [1.000e-3, 1.600e-3, 1.905e-3])
def test_the_ratio_of_two_spins_is_the_ratio_of_their_targets(machine: Machine, target_s: float) -> None:
    """T1: within 0.5 %."""
    run = spins.measure_pair(machine, spins.QUICK, Spin(call_s=2e-3), Spin(call_s=target_s))
    assert spins.ratio_of(run).estimate == pytest.approx(2e-3 / target_s, rel=spins.TRUTH_TOLERANCE)


def test_one_slow_call_in_a_hundred_moves_p99_and_not_the_median_ratio(machine: Machine) -> None:
    """T3."""
    row = spins.mixture(machine)
    assert row.is_kept, row.measured
    assert row.samples >= stats.USEFUL_SAMPLES[0.99]


def test_interleaved_rounds_do_not_notice_a_machine_that_slows_and_sequential_ones_do(machine: Machine) -> None:
    """T6, with the sequential control that shows the test has teeth."""
    interleaved, sequential = spins.drift(machine)
    assert interleaved.is_kept, interleaved.measured
    assert sequential.is_kept, sequential.measured


def test_a_noisy_spin_against_itself_is_not_called_different(machine: Machine) -> None:
    """T4b, three trials of forty."""
    row = spins.same_against_same(machine, trials=3)
    assert row.is_kept and row.samples == 3, row.measured


def test_other_peoples_timers_agree_when_they_take_turns_with_ours(machine: Machine) -> None:
    """T7 and T9, three turns each. `make selftest` asks for 5 %; beside it these allow for a machine that others share."""
    for row in (
        agreement.with_torch_benchmark(machine, turns=3, min_run_s=0.3, tolerance=0.15),
        agreement.with_pyperf(turns=3, tolerance=0.15),
    ):
        assert row.is_kept, (row.key, row.measured)
        assert row.samples == 3 and row.limit == "within 15 %"


def test_a_real_difference_of_three_percent_is_seen_through_the_noise(machine: Machine) -> None:
    protocol = replace(spins.QUICK, process_sets=spins.SETS_OF_AA)
    faster = replace(spins.AA_SPIN, call_s=spins.AA_SPIN.call_s / 1.03)
    interval = spins.ratio_of(spins.measure_pair(machine, protocol, spins.AA_SPIN, faster))
    assert interval.contains(1.03)
    assert interval.low is not None and interval.low > 1.0
