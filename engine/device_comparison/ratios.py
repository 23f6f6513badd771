"""How many times faster one arm is than another: over each device's own baseline, and between devices.

Within one run blocks of one round are divided by the baseline's (METHOD 1.6); between runs the process sets are independent,
so the interval is Welch's over ln(median per process). Without three process sets on either side there is no interval.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import t

from engine import stats
from engine.catalog import VARIANTS
from engine.device_comparison.arm import DeviceArm, find_baseline
from engine.device_comparison.fairness import Difference, Pair, join, pair
from engine.stats import CONFIDENCE, Interval
from engine.verdict import Verdict, word_for

MIN_PROCESSES = 3
"""Fewer process sets carry no interval, as in `engine.spec.Protocol.gives_verdicts`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """A speed-up of `arm` over `reference`: 2.0 is twice as fast, whatever the measure. None with a reason is no ratio."""

    arm: DeviceArm
    reference: DeviceArm | None
    speedup: float | None
    interval: Interval | None = None
    verdict: Verdict
    reason: str = ""
    differences: tuple[Difference, ...] = ()

    @property
    def is_reference(self) -> bool:
        """Whether this is the arm that the others are divided by."""
        return self.arm is self.reference


def over_own_baseline(arms: Sequence[DeviceArm], baseline: str | None) -> list[Ratio]:
    """Every arm against its device's baseline at the same point: the catalog's for known variants, else `baseline`."""
    by_key: dict[object, DeviceArm] = {(arm.device, arm.key): arm for arm in arms}
    counts = _comparisons(arms, baseline)
    ratios = []
    for arm in arms:
        name = baseline_of(arm, baseline)
        reference = by_key.get((arm.device, (name, *arm.key[1:])))
        if reference is None:
            ratios.append(_without_reference(arm, name))
        else:
            ratios.append(ratio(pair(arm, reference), counts[arm.device]))
    return ratios


def over_device(arms: Sequence[DeviceArm], device: str) -> tuple[list[Ratio], list[DeviceArm]]:
    """Every arm against the same work on `device`; and the arms without a partner there, or, of `device`, anywhere."""
    theirs = [arm for arm in arms if arm.device == device]
    ratios: list[Ratio] = [ratio(Pair(arm, arm)) for arm in theirs]
    unmatched: list[DeviceArm] = []
    partners: set[int] = set()
    for other in dict.fromkeys(arm.device for arm in arms if arm.device != device):
        mine = [arm for arm in arms if arm.device == other]
        joined = join(mine, theirs)
        ratios += [ratio(one, max(1, len(joined.pairs))) for one in joined.pairs]
        unmatched += joined.only_mine
        partners |= {id(one.reference) for one in joined.pairs}
    has_others = len(theirs) < len(arms)
    return ratios, [*unmatched, *(arm for arm in theirs if has_others and id(arm) not in partners)]


def over_arm(arms: Sequence[DeviceArm], device: str, variant: str) -> tuple[list[Ratio], list[DeviceArm]]:
    """Every arm against one technique on one device, at the same point; and the arms at points where that is missing.

    For files whose devices or techniques do not match.
    """
    references = {(arm.key[1:]): arm for arm in arms if arm.device == device and arm.variant == variant}
    pairs = [pair(arm, references[arm.key[1:]]) for arm in arms if arm.key[1:] in references]
    compared = sum(one.arm is not one.reference for one in pairs)
    ratios = [ratio(Pair(one.arm, one.arm) if one.arm is one.reference else one, max(1, compared)) for one in pairs]
    return ratios, [arm for arm in arms if arm.key[1:] not in references]


def baseline_of(arm: DeviceArm, chosen: str | None) -> str | None:
    """The variant an arm is divided by on its own device."""
    known = VARIANTS.get(arm.variant)
    return known.baseline if known else chosen


def ratio(one: Pair, comparisons: int = 1) -> Ratio:
    """Speed-up and verdict of a pair; whatever forbids one is the reason instead."""
    arm, reference = one.arm, one.reference
    if arm is reference:
        return Ratio(arm=arm, reference=arm, speedup=None if arm.value is None else 1.0, verdict=_own_verdict(arm))
    if one.withheld:
        return _none(one, Verdict.NOT_COMPARABLE, one.withheld)
    if arm.value is None or reference.value is None:
        side = "failed" if arm.value is None else "the other side failed"
        return _none(one, Verdict.FAILED, f"{side}: {arm.failure or reference.failure or 'no value'}")
    interval = _interval(arm, reference, comparisons)
    estimate = interval.estimate if interval else _of_values(arm.value, reference.value, arm.is_rate)
    verdict = word_for(interval)
    if doubt := arm.doubt or reference.doubt:
        verdict = Verdict.UNSTABLE
    return Ratio(
        arm=arm, reference=reference, speedup=estimate, interval=interval, verdict=verdict,
        reason=doubt or _reason(arm, reference, verdict), differences=one.differences,
    )  # fmt: skip


def _own_verdict(arm: DeviceArm) -> Verdict:
    return Verdict.FAILED if arm.value is None else Verdict.UNSTABLE if arm.doubt else Verdict.BASELINE


def _none(one: Pair, verdict: Verdict, reason: str) -> Ratio:
    return Ratio(
        arm=one.arm, reference=one.reference, speedup=None, verdict=verdict, reason=reason, differences=one.differences
    )


def _without_reference(arm: DeviceArm, baseline: str | None) -> Ratio:
    return without_partner(arm, f"{baseline} was not measured here" if baseline else "no baseline is known; choose one")


def without_partner(arm: DeviceArm, reason: str) -> Ratio:
    """An arm that there is nothing to divide by, and why; a failed one says that it failed."""
    if arm.value is None:
        return Ratio(arm=arm, reference=None, speedup=None, verdict=Verdict.FAILED, reason=arm.failure or "no value")
    return Ratio(arm=arm, reference=None, speedup=None, verdict=Verdict.NOT_COMPARABLE, reason=reason)


def _of_values(mine: float, theirs: float, is_rate: bool) -> float:
    return mine / theirs if is_rate else theirs / mine


def _comparisons(arms: Iterable[DeviceArm], baseline: str | None) -> dict[str, int]:
    """k of METHOD 1.6 by device: how many variants are compared with a baseline there."""
    compared: dict[str, set[str]] = {}
    for arm in arms:
        others = compared.setdefault(arm.device, set())
        if arm.samples and arm.variant != baseline_of(arm, baseline):
            others.add(arm.variant)
    return {device: max(1, len(variants)) for device, variants in compared.items()}


def _interval(arm: DeviceArm, reference: DeviceArm, comparisons: int) -> Interval | None:
    if arm.is_summary or reference.is_summary:
        return None
    if arm.experiment and arm.experiment == reference.experiment:
        paired = (reference.log_blocks - arm.log_blocks).dropna()
        per_process = stats.process_log_ratios(paired)
        interval = stats.speedup_interval(per_process, comparisons)
        return interval if interval is None or interval.processes >= MIN_PROCESSES else _without_ends(interval)
    return welch(_per_process(reference), _per_process(arm), comparisons, arm.is_rate)


def _without_ends(interval: Interval) -> Interval:
    return Interval(interval.estimate, None, None, interval.processes)


def _per_process(arm: DeviceArm) -> pd.Series[float]:
    """ln(value) of every process: the median over its rounds."""
    return arm.log_blocks.groupby(level="process").median() if arm.log_blocks.size else arm.log_blocks


def welch(
    reference: Sequence[float] | pd.Series[float],
    values: Sequence[float] | pd.Series[float],
    comparisons: int,
    is_rate: bool,
) -> Interval | None:
    """Speed-up exp(mean(reference) - mean(values)) of ln values of independent processes, with Welch's t-interval."""
    theirs, mine = np.asarray(reference, float), np.asarray(values, float)
    if min(theirs.size, mine.size) < MIN_PROCESSES:
        return None
    sign = -1.0 if is_rate else 1.0
    difference = sign * float(theirs.mean() - mine.mean())
    parts = np.array([theirs.var(ddof=1) / theirs.size, mine.var(ddof=1) / mine.size])
    error = math.sqrt(float(parts.sum()))
    if error == 0:
        return Interval(math.exp(difference), math.exp(difference), math.exp(difference), min(theirs.size, mine.size))
    freedom = float(parts.sum() ** 2 / (parts**2 / (np.array([theirs.size, mine.size]) - 1)).sum())
    half = float(t.ppf(1 - (1 - CONFIDENCE) / 2 / comparisons, freedom)) * error
    low, high = math.exp(difference - half), math.exp(difference + half)
    return Interval(math.exp(difference), low, high, min(theirs.size, mine.size))


def _reason(arm: DeviceArm, reference: DeviceArm, verdict: Verdict) -> str:
    """Why there is no verdict, or what the reader should know about an open one."""
    n = min(arm.samples, reference.samples)
    if verdict is Verdict.NO_VERDICT:
        if arm.is_summary or reference.is_summary:
            return "summary only: no verdict"
        return f"{'a single value on one side' if n < 2 else _processes(arm, reference)}: no verdict"
    if verdict is Verdict.INCONCLUSIVE:
        contradiction = _contradiction(arm, reference)
        return f"{contradiction}, n = {n}" if contradiction else f"n = {n}"
    return ""


def _processes(arm: DeviceArm, reference: DeviceArm) -> str:
    """Why the processes on both sides carry no interval."""
    mine, theirs = arm.processes, reference.processes
    if not mine or not theirs:
        return "the processes are not stated"
    if min(mine, theirs) >= MIN_PROCESSES:
        return "too few rounds in common"
    if mine == theirs:
        return "one process per side" if mine == 1 else f"{mine} processes per side, {MIN_PROCESSES} are needed"
    return f"{mine} against {theirs} processes, {MIN_PROCESSES} per side are needed"


def _contradiction(arm: DeviceArm, reference: DeviceArm) -> str:
    """ "means say compile, medians say eager": two honest figures that name different winners."""
    if arm.mean is None or reference.mean is None or arm.value is None or reference.value is None:
        return ""
    by_mean = _of_values(arm.mean, reference.mean, arm.is_rate)
    by_median = _of_values(arm.value, reference.value, arm.is_rate)
    if (by_mean - 1) * (by_median - 1) >= 0:
        return ""
    winner, loser = (arm.label, reference.label) if by_mean > 1 else (reference.label, arm.label)
    return f"means say {winner}, medians say {loser}"


def usual_baseline(arms: Sequence[DeviceArm]) -> str | None:
    """The baseline of a set's variants that the catalog does not know."""
    return find_baseline(list(dict.fromkeys(arm.variant for arm in arms)))
