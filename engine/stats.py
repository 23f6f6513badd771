"""From samples to numbers: block medians, the speed-up interval, percentiles, break-even, drift. Pure: no judgement in words.

Sources: levels process > round > call and the interval over the highest level, Kalibera & Jones, ISMM 2013 (METHOD 1.4, 1.6);
order-statistic intervals of quantiles, Hahn & Meeker, Statistical Intervals; equivalence by two one-sided tests (TOST).
scipy.stats is imported where it is used: it takes as long to load as a page, and most of what imports this needs a median.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

CONFIDENCE = 0.95
DELTA = 0.01
"""Region of practical equivalence: speed-ups between 1/1.01 and 1.01 make no difference. A constant; a band taken from the
A/A twin's width would find a true +3 % in only 7-50 % of runs (METHOD 1.6)."""

DRIFT_RANK_CORRELATION = 0.5
DRIFT_CHANGE = 0.02
"""Both must be exceeded for drift: a trend over the rounds, and one that matters (METHOD 1.3)."""

USEFUL_SAMPLES = {0.95: 200, 0.99: 1000}
"""Samples from which a percentile is worth reading: p95's interval then spans p92-p98.5, p99's p98.3-p99.7 (METHOD 1.6)."""

MAX_PROCESS_SETS = 100
"""The largest protocol; an estimate of more than this is "more data will not decide it"."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with its 95 % interval over `processes` process sets; `low` and `high` are None when one set gives none."""

    estimate: float
    low: float | None
    high: float | None
    processes: int

    @property
    def half_width(self) -> float | None:
        """Relative half-width of a ratio's interval: 0.03 means +-3 %."""
        if self.low is None or self.high is None:
            return None
        return math.sqrt(self.high / self.low) - 1

    def contains(self, value: float) -> bool:
        """Whether `value` lies inside; nothing lies inside an interval that does not exist."""
        return self.low is not None and self.high is not None and self.low <= value <= self.high


@dataclass(frozen=True, slots=True)
class Percentile:
    """A percentile of timed calls with its order-statistic interval (None where too few samples carry one).

    `useful_from` is the number of samples from which it is worth reading.
    """

    value: float
    low: float | None
    high: float | None
    samples: int
    useful_from: int

    @property
    def missing(self) -> int:
        """How many more samples it needs; 0 when it may be read."""
        return max(0, self.useful_from - self.samples)


@dataclass(frozen=True, slots=True)
class BreakEven:
    """Calls after which a set-up has paid back, between `low` and `high`; all None: never, on this evidence."""

    calls: float | None
    low: float | None = None
    high: float | None = None

    @property
    def is_never(self) -> bool:
        """The saving is not established, so nothing pays back on this evidence."""
        return self.calls is None


@dataclass(frozen=True, slots=True)
class Drift:
    """How log ratios moved over the rounds: rank correlation, and last third over first third as a fraction (0.02 = 2 %)."""

    rank_correlation: float
    change: float

    @property
    def is_drifting(self) -> bool:
        """A trend, and one that matters."""
        return abs(self.rank_correlation) > DRIFT_RANK_CORRELATION and abs(self.change) > DRIFT_CHANGE


def median(samples: ArrayLike) -> float | None:
    """Median of `samples` (n,), None where there are none."""
    values = np.asarray(samples, dtype=float)
    return float(np.median(values)) if values.size else None


def block_medians(blocks: Sequence[Sequence[float]]) -> Floats:
    """Median of every block's samples, (blocks,): blocks of one size together, a million samples in a tenth of a second."""
    sizes = np.array([len(block) for block in blocks])
    medians = np.full(len(blocks), np.nan)
    for size in set(sizes.tolist()) - {0}:
        chosen = np.flatnonzero(sizes == size).tolist()
        medians[chosen] = np.median(np.array([blocks[index] for index in chosen], dtype=np.float64), axis=1)
    return medians


def process_log_ratios(log_ratios: pd.Series[float]) -> pd.Series[float]:
    """d[p]: per process set the median over rounds of ln(baseline block / technique block); index (process, round)."""
    return log_ratios.groupby(level="process").median()


@lru_cache(maxsize=1024)
def t_quantile(processes: int, comparisons: int) -> float:
    """Two-sided 95 % quantile for the mean of `processes` values, simultaneous over `comparisons` (Bonferroni)."""
    from scipy.stats import t

    return float(t.ppf(1 - (1 - CONFIDENCE) / 2 / comparisons, processes - 1))


def speedup_interval(log_ratios: ArrayLike, comparisons: int = 1) -> Interval | None:
    """Speed-up exp(mean) over per-process log ratios (processes,), with its t-interval; None without any process."""
    values = np.asarray(log_ratios, dtype=float)
    if values.size == 0:
        return None
    mean = float(values.mean())
    if values.size == 1:
        return Interval(math.exp(mean), None, None, 1)
    half = t_quantile(values.size, comparisons) * float(values.std(ddof=1)) / math.sqrt(values.size)
    return Interval(math.exp(mean), math.exp(mean - half), math.exp(mean + half), int(values.size))


def extra_process_sets_needed(log_ratios: ArrayLike, comparisons: int = 1) -> int | None:
    """Further process sets after which an interval would clear the equivalence band, if estimate and spread stay.

    METHOD 1.6: n ~ (t * sd / distance)^2, the distance being that from the estimate to the nearer edge of the band. None when
    no protocol is large enough, which is so for a difference that lies at the very edge, and when one set gives no spread.
    """
    values = np.asarray(log_ratios, dtype=float)
    if values.size < 2:
        return None
    distance = abs(abs(float(values.mean())) - math.log1p(DELTA))
    spread = float(values.std(ddof=1))
    for count in range(values.size + 1, MAX_PROCESS_SETS + 1):
        if t_quantile(count, comparisons) * spread / math.sqrt(count) < distance:
            return count - values.size
    return None


def percentile(samples: ArrayLike, quantile: float) -> Percentile | None:
    """Percentile of `samples` (n,) with the interval between two order statistics, distribution-free."""
    from scipy.stats import binom

    ordered = np.sort(np.asarray(samples, dtype=float))
    count = ordered.size
    if count == 0:
        return None
    tail = (1 - CONFIDENCE) / 2
    lower, upper = int(binom.ppf(tail, count, quantile)), int(binom.ppf(1 - tail, count, quantile)) + 1
    exists = lower >= 1 and upper <= count
    return Percentile(
        value=float(np.quantile(ordered, quantile)),
        low=float(ordered[lower - 1]) if exists else None,
        high=float(ordered[upper - 1]) if exists else None,
        samples=count,
        useful_from=USEFUL_SAMPLES.get(quantile, 1),
    )


def saving_per_call(baseline_s: float, speedup: Interval) -> Interval:
    """Seconds a call is shorter than the baseline's, with the ends the speed-up's interval gives."""

    def saving(ratio: float | None) -> float | None:
        return None if ratio is None else baseline_s * (1 - 1 / ratio)

    return Interval(
        baseline_s * (1 - 1 / speedup.estimate), saving(speedup.low), saving(speedup.high), speedup.processes
    )


def break_even(setup_s: float, saving: Interval) -> BreakEven:
    """Calls after which `setup_s` is earned back; "never" as soon as the saving's interval includes 0 (METHOD 1.6)."""
    worst = saving.estimate if saving.low is None else saving.low
    if saving.estimate <= 0 or worst <= 0:
        return BreakEven(None)
    setup = max(0.0, setup_s)
    return BreakEven(
        calls=setup / saving.estimate,
        low=None if saving.high is None else setup / saving.high,
        high=None if saving.low is None else setup / saving.low,
    )


def set_up_seconds(first_calls_s: Sequence[float], steady_s: float, apply_s: float = 0.0) -> float:
    """What the first calls cost beyond steady ones, plus the time to apply the technique (METHOD 1.3)."""
    # First calls that happen to be a little faster than the steady median cost nothing; they do not give time back.
    return apply_s + max(0.0, math.fsum(first_calls_s) - len(first_calls_s) * steady_s)


def drift(log_ratios: pd.Series[float]) -> Drift | None:
    """Drift of paired log ratios, index (process, round); None with fewer than six rounds.

    Each process set's own level is removed and the sets are averaged round by round first, so that one noisy set of many does
    not look like a trend while a trend common to the sets stands out of the noise.
    """
    from scipy.stats import spearmanr

    centred = log_ratios - log_ratios.groupby(level="process").transform("median")
    by_round = centred.groupby(level="round").mean().sort_index().to_numpy(dtype=float)
    if by_round.size < 6:
        return None
    third = by_round.size // 3
    change = math.expm1(float(np.median(by_round[-third:]) - np.median(by_round[:third])))
    if np.ptp(by_round) == 0:
        return Drift(0.0, change)
    return Drift(float(spearmanr(np.arange(by_round.size), by_round).statistic), change)


def raw_change(samples: ArrayLike) -> float | None:
    """Median of the last tenth over the first tenth of one arm's own times, minus 1: information, never a verdict."""
    values = np.asarray(samples, dtype=float)
    tenth = values.size // 10
    return None if tenth == 0 else float(np.median(values[-tenth:]) / np.median(values[:tenth]) - 1)
