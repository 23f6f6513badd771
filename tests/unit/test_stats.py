"""Statistics with exact numbers, and simulations of what they promise: coverage, false words, power (METHOD 6, T3-T5)."""

import math
from functools import cache

import numpy as np
import pandas as pd
import pytest

from engine import stats
from engine.spec import PROTOCOLS
from engine.stats import DELTA, Interval
from engine.verdict import Verdict, word_for

TRIALS = 2000
STANDARD = PROTOCOLS["standard"]


def test_block_medians_of_different_sizes_keep_their_places() -> None:
    blocks = [(3.0, 1.0, 2.0), (5.0,), (9.0, 7.0, 8.0), ()]
    assert stats.block_medians(blocks)[:3].tolist() == [2.0, 5.0, 8.0]
    assert math.isnan(stats.block_medians(blocks)[3])


def test_a_processs_log_ratio_is_the_median_over_its_rounds() -> None:
    index = pd.MultiIndex.from_product([[0, 1], [0, 1, 2]], names=["process", "round"])
    log_ratios = pd.Series([0.1, 0.2, 9.0, 0.3, 0.3, 0.0], index=index)
    assert stats.process_log_ratios(log_ratios).tolist() == [0.2, 0.3]


def test_the_interval_is_the_t_interval_over_processes_with_its_textbook_numbers() -> None:
    values = np.log([1.10, 1.20, 1.15])
    interval = stats.speedup_interval(values)
    half = 4.302653 * values.std(ddof=1) / math.sqrt(3)
    assert interval is not None
    assert interval.estimate == pytest.approx((1.10 * 1.20 * 1.15) ** (1 / 3))
    assert (interval.low, interval.high) == pytest.approx(
        (math.exp(values.mean() - half), math.exp(values.mean() + half)), rel=1e-6
    )
    assert interval.processes == 3


def test_the_interval_widens_with_the_number_of_compared_variants() -> None:
    one, four = (stats.speedup_interval([0.0, 0.01, 0.02, 0.0, 0.01], comparisons=k) for k in (1, 4))
    assert one is not None and four is not None
    assert one.half_width is not None and four.half_width is not None
    # t(4, 1 - 0.025) = 2.7764 and t(4, 1 - 0.025/4) = 4.3147
    assert math.log1p(four.half_width) / math.log1p(one.half_width) == pytest.approx(4.3147 / 2.7764, rel=1e-3)


def test_one_process_set_gives_an_estimate_and_no_interval() -> None:
    assert stats.speedup_interval([math.log(2)]) == Interval(pytest.approx(2.0), None, None, 1)
    assert stats.speedup_interval([]) is None


@pytest.mark.parametrize(
    ("low", "high", "word"),
    [
        (1.011, 1.2, Verdict.FASTER),
        (1.009, 1.2, Verdict.INCONCLUSIVE),
        (0.8, 0.98, Verdict.SLOWER),
        (0.8, 0.995, Verdict.INCONCLUSIVE),
        (0.992, 1.009, Verdict.NO_DIFFERENCE),
        (0.98, 1.02, Verdict.INCONCLUSIVE),
        (None, None, Verdict.NO_VERDICT),
    ],
)
def test_the_word_follows_from_the_interval_alone(low: float | None, high: float | None, word: Verdict) -> None:
    assert word_for(Interval(1.0, low, high, 5)) is word


def test_one_percent_of_calls_half_again_as_long_moves_p99_and_not_the_median_ratio() -> None:
    """T3. A ratio of means would move by 0.5 %, and a p99 that drops outliers would stay."""
    calls = np.full((20, 50), 1.0) + np.random.default_rng(3).normal(0, 1e-3, (20, 50))
    mixed = calls * np.where(np.random.default_rng(4).random(calls.shape) < 0.011, 1.5, 1.0)
    ratio = np.median(np.log(stats.block_medians(calls.tolist()) / stats.block_medians(mixed.tolist())))
    assert abs(math.expm1(ratio)) < 0.002
    p99 = stats.percentile(mixed.ravel(), 0.99)
    assert p99 is not None and p99.high is not None
    assert p99.high == pytest.approx(1.5, rel=0.01)


@cache
def simulated(true_speedup: float) -> list[Interval]:
    """2,000 standard experiments: between-process sd 0.5 %, calls scattered by 1 %, a slow drift common to both arms."""
    random = np.random.default_rng([20250630, round(1000 * true_speedup)])
    sets, rounds, calls = STANDARD.process_sets, STANDARD.rounds, STANDARD.min_calls_per_block
    drift = np.linspace(0, 0.05, rounds)

    def log_block_medians(log_mean: float) -> stats.Floats:
        process = random.normal(0, 0.005, (TRIALS, sets, 1, 1))
        noise = random.normal(0, 0.01, (TRIALS, sets, rounds, calls))
        return np.median(log_mean + process + noise, axis=-1) + drift

    d = np.median(log_block_medians(0.0) - log_block_medians(-math.log(true_speedup)), axis=-1)
    intervals = [stats.speedup_interval(row) for row in d]
    return [interval for interval in intervals if interval is not None]


@pytest.mark.parametrize("truth", [1.0, 1.03, 2.0])
def test_95_percent_intervals_contain_the_truth_in_93_to_97_percent_of_experiments(truth: float) -> None:
    """T4, T5."""
    assert 0.93 <= np.mean([interval.contains(truth) for interval in simulated(truth)]) <= 0.97


def test_identical_arms_are_called_different_in_at_most_one_percent_of_experiments() -> None:
    """T4."""
    words = [word_for(interval) for interval in simulated(1.0)]
    assert sum(word in (Verdict.FASTER, Verdict.SLOWER) for word in words) / TRIALS <= 0.01


def test_a_true_three_percent_is_called_faster_in_at_least_ninety_percent_of_experiments() -> None:
    """T5."""
    words = [word_for(interval) for interval in simulated(1.03)]
    assert words.count(Verdict.FASTER) / TRIALS >= 0.90


def test_pooled_calls_of_one_process_would_call_identical_arms_different_most_of_the_time() -> None:
    """Why the interval is over processes: the same noise, judged by the spread of one process's rounds (METHOD 0.5)."""
    random = np.random.default_rng(1)
    rounds = (
        random.normal(0, 0.005, (TRIALS, 1))
        - random.normal(0, 0.005, (TRIALS, 1))
        + random.normal(0, 0.005, (TRIALS, 20))
    )
    half = stats.t_quantile(20, 1) * rounds.std(axis=1, ddof=1) / math.sqrt(20)
    assert np.mean(np.abs(rounds.mean(axis=1)) > half) > 0.5


def test_wording_claims_nothing_for_means_of_1_00_and_0_99_with_a_deviation_of_0_05() -> None:
    """R21: the difference is inside the noise."""
    random = np.random.default_rng(21)
    before, after = random.normal(1.00, 0.05, (5, 20)), random.normal(0.99, 0.05, (5, 20))
    word = word_for(stats.speedup_interval(np.median(np.log(before / after), axis=1)))
    assert word in (Verdict.INCONCLUSIVE, Verdict.NO_DIFFERENCE)


@pytest.mark.parametrize(
    ("quantile", "count", "low", "high"), [(0.95, 200, 184, 197), (0.99, 1000, 983, 997), (0.95, 100, 90, 100)]
)
def test_a_percentiles_interval_lies_between_two_order_statistics(
    quantile: float, count: int, low: int, high: int
) -> None:
    found = stats.percentile(range(1, count + 1), quantile)
    assert found is not None
    assert (found.low, found.high) == (low, high)


@pytest.mark.parametrize(("quantile", "first_with_interval"), [(0.95, 72), (0.99, 368)])
def test_too_few_samples_carry_no_interval(quantile: float, first_with_interval: int) -> None:
    below, at = (stats.percentile(range(count), quantile) for count in (first_with_interval - 1, first_with_interval))
    assert below is not None and at is not None
    assert below.high is None
    assert at.high is not None


@pytest.mark.parametrize(("quantile", "useful_from"), [(0.95, 200), (0.99, 1000)])
def test_a_percentile_says_how_many_samples_it_still_needs(quantile: float, useful_from: int) -> None:
    few, enough = (stats.percentile(range(count), quantile) for count in (100, useful_from))
    assert few is not None and enough is not None
    assert few.missing == useful_from - 100
    assert enough.missing == 0


def test_two_minutes_of_tuning_pay_back_after_600_000_calls_at_a_fifth_of_a_millisecond() -> None:
    """R11."""
    even = stats.break_even(120, Interval(2e-4, 1e-4, 4e-4, 5))
    assert (even.calls, even.low, even.high) == pytest.approx((600_000, 300_000, 1_200_000))


@pytest.mark.parametrize(
    "saving", [Interval(-1e-4, -2e-4, -1e-5, 5), Interval(0.0, 0.0, 0.0, 5), Interval(2e-4, -1e-5, 4e-4, 5)]
)
def test_a_saving_that_is_not_established_never_pays_back(saving: Interval) -> None:
    """R11: the last saving is positive, but its interval includes 0."""
    assert stats.break_even(120, saving).is_never


def test_the_saving_has_the_ends_of_the_speedups_interval() -> None:
    saving = stats.saving_per_call(0.06, Interval(1.2, 1.0, 1.5, 5))
    assert (saving.estimate, saving.low, saving.high) == pytest.approx((0.01, 0.0, 0.02))


def test_set_up_is_what_first_calls_cost_beyond_steady_ones() -> None:
    assert stats.set_up_seconds([30, 19, 0.05], 0.05, apply_s=2.0) == pytest.approx(50.9)
    assert stats.set_up_seconds([0.01], 0.05) == 0.0


def by_round(processes: int, values: list[float]) -> "pd.Series[float]":
    index = pd.MultiIndex.from_product([range(processes), range(len(values))], names=["process", "round"])
    return pd.Series(values * processes, index=index)


def test_a_ratio_that_moves_by_fifteen_percent_is_drifting() -> None:
    """R24."""
    found = stats.drift(by_round(5, np.log(np.linspace(1.00, 1.15, 20)).tolist()))
    assert found is not None and found.is_drifting
    assert found.rank_correlation == pytest.approx(1.0)
    assert found.change == pytest.approx(0.105, abs=0.01)


@pytest.mark.parametrize("change", [0.0, 0.01])
def test_a_ratio_that_stays_or_moves_by_one_percent_is_not(change: float) -> None:
    found = stats.drift(by_round(5, np.linspace(0, change, 20).tolist()))
    assert found is not None and not found.is_drifting


def test_differences_between_process_sets_are_no_drift() -> None:
    index = pd.MultiIndex.from_product([range(5), range(20)], names=["process", "round"])
    log_ratios = pd.Series(np.repeat([0.0, 0.1, 0.2, 0.3, 0.4], 20), index=index)
    found = stats.drift(log_ratios)
    assert found is not None and not found.is_drifting


def test_drift_is_unknown_with_too_few_rounds() -> None:
    assert stats.drift(by_round(5, [0.0] * 5)) is None


def test_raw_change_compares_the_last_tenth_with_the_first() -> None:
    """R24: 100 samples, 1.00 rising to 1.15."""
    assert stats.raw_change(np.linspace(1.00, 1.15, 100)) == pytest.approx(0.135, abs=0.002)
    assert stats.raw_change([1.0, 2.0]) is None


def test_extra_process_sets_are_those_that_would_clear_the_band() -> None:
    spread = np.array([-0.01, 0.0, 0.01, -0.01, 0.01])
    extra = stats.extra_process_sets_needed(spread)
    assert extra is not None
    total = spread.size + extra
    half = stats.t_quantile(total, 1) * spread.std(ddof=1) / math.sqrt(total)
    fewer = stats.t_quantile(total - 1, 1) * spread.std(ddof=1) / math.sqrt(total - 1)
    assert half < math.log1p(DELTA) <= fewer


def test_a_difference_at_the_very_edge_of_the_band_is_not_decided_by_more_data() -> None:
    assert stats.extra_process_sets_needed(np.array([-0.01, 0.0, 0.01]) + math.log1p(DELTA)) is None
