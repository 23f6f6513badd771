"""The comparison in a few numbers and one paragraph: geometric means over common points, cost, the cheapest fast device."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from engine import formatting
from engine.device_comparison.arm import DeviceArm, Point
from engine.device_comparison.ratios import Ratio
from engine.verdict import Verdict

SECONDS_PER_HOUR = 3600.0
CALLS_PRICED = 1_000_000
MOST_NAMED = 3
"""Techniques that one sentence names; the table has them all."""
_NOT_ESTABLISHED = {
    Verdict.NO_VERDICT: "without a verdict",
    Verdict.INCONCLUSIVE: "inconclusive",
    Verdict.UNSTABLE: "unstable",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean:
    """Geometric mean of the speed-ups of a device, or of a technique on it, over points that all of its rivals have too."""

    device: str
    variant: str | None
    speedup: float
    points: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What one million calls of an arm cost, one after another, at a price per hour; `p95` None where it is not known."""

    arm: DeviceArm
    price_per_hour: float
    per_million_calls: float


def geometric_means(ratios: Iterable[Ratio], devices: Sequence[str]) -> list[Mean]:
    """Per device over the work that *every* device in `devices` has a ratio for; the reference device is 1.0 by definition."""
    common = _common(ratios, devices)
    if not common:
        return []
    return [
        Mean(
            device=device,
            variant=None,
            speedup=_geometric(_speedups(found[device] for found in common)),
            points=len(common),
        )
        for device in devices
    ]


def _common(ratios: Iterable[Ratio], devices: Sequence[str]) -> list[dict[str, Ratio]]:
    """The work that every device in `devices` has a ratio for: its ratios by device."""
    found: dict[object, dict[str, Ratio]] = {}
    for one in ratios:
        if one.speedup is not None:
            found.setdefault(one.arm.key, {})[one.arm.device] = one
    return [by_device for by_device in found.values() if set(by_device) >= set(devices)]


def _speedups(ratios: Iterable[Ratio]) -> list[float]:
    return [one.speedup for one in ratios if one.speedup is not None]


def technique_means(ratios: Iterable[Ratio]) -> list[Mean]:
    """Per device and technique over the points where every device has that technique: the cells of the heat map."""
    usable = [one for one in ratios if one.speedup is not None and not one.is_reference]
    by_variant: dict[str, dict[str, dict[object, float]]] = {}
    for one in usable:
        place = by_variant.setdefault(one.arm.variant, {}).setdefault(one.arm.device, {})
        place[(one.arm.point, one.arm.dtype, one.arm.measure)] = one.speedup or math.nan
    means = []
    for variant, devices in by_variant.items():
        common = set.intersection(*map(set, devices.values()))
        for device, found in devices.items():
            if common:
                speedup = _geometric(found[point] for point in common)
                means.append(Mean(device=device, variant=variant, speedup=speedup, points=len(common)))
    return means


def common_points(means: Sequence[Mean]) -> str:
    """What the cells of the heat map are means over, which may be different points for every technique."""
    least, most = min(mean.points for mean in means), max(mean.points for mean in means)
    if most == 1:
        return "at the one common point"
    over = f"geometric mean over {f'{least} to ' if least < most else ''}{most} common points"
    return f"{over}, by technique" if least < most else over


def costs(arms: Iterable[DeviceArm], prices: Mapping[str, float]) -> list[Cost]:
    """Cost of a million calls for every arm with a time on a device with a price, the cheapest first."""
    found = [
        Cost(arm=arm, price_per_hour=price, per_million_calls=price / SECONDS_PER_HOUR * arm.value * CALLS_PRICED)
        for arm in arms
        if (price := prices.get(arm.device)) and arm.value is not None and not arm.is_rate
    ]
    return sorted(found, key=lambda cost: cost.per_million_calls)


def cheapest(priced: Iterable[Cost], point: Point, limit_s: float | None = None) -> list[Cost]:
    """The cheapest arm of every dtype at one point, of those whose 95th percentile is below `limit_s` where one is given.

    Another shape or dtype is other work: a call of batch 1 costs less than one of batch 32 on any device.
    """
    found: dict[str | None, Cost] = {}
    for cost in sorted(priced, key=lambda cost: cost.per_million_calls):
        is_fast = limit_s is None or (cost.arm.p95 is not None and cost.arm.p95 < limit_s)
        if cost.arm.point == point and is_fast:
            found.setdefault(cost.arm.dtype, cost)
    return list(found.values())


def sentences(
    ratios: Sequence[Ratio],
    own: Sequence[Ratio],
    devices: Sequence[str],
    unmatched: int,
    first: Sequence[str] | None = None,
) -> list[str]:
    """The whole comparison in words, the most important first: `first`, or how devices compare technique by technique.

    Names are quoted from files as they stand.
    """
    said = [*(_device_sentences(ratios, devices) if first is None else first), *technique_sentences(own, devices)] or [
        f"Results of {_list(devices)}."
    ]
    withheld = [one for one in ratios if one.verdict is Verdict.NOT_COMPARABLE]
    if withheld:
        are = "is" if len(withheld) == 1 else "are"
        said.append(f"{formatting.counted(len(withheld), 'ratio')} {are} withheld ({withheld[0].reason}).")
    different = {str(each): each.mine == each.theirs for one in ratios for each in one.differences}
    if different:  # what is known to differ comes before what neither side states
        said.append(f"Read with care: {'; '.join(sorted(different, key=different.__getitem__)[:3])}.")
    if unmatched:
        are = "exists on one side only and is" if unmatched == 1 else "exist on one side only and are"
        said.append(f"{formatting.counted(unmatched, 'row')} {are} not counted.")
    return said


def over_arm_sentences(ratios: Sequence[Ratio], reference: str) -> list[str]:
    """How many times as fast as one technique on one device the others are, the fastest first; means over their points."""
    compared: dict[tuple[str, str], list[Ratio]] = {}
    for one in ratios:
        if one.speedup is not None and not one.is_reference:
            compared.setdefault((one.arm.label, one.arm.device), []).append(one)
    if not compared:
        return [f"Nothing may be compared with {reference}."]
    means = {names: _geometric(_speedups(found)) for names, found in compared.items()}
    fastest = sorted(compared, key=means.__getitem__, reverse=True)
    said = [
        f"{label} on {device} is {formatting.speedup(means[label, device])} as fast as {reference} "
        f"over {_configurations(len(compared[label, device]))}"
        for label, device in fastest[:MOST_NAMED]
    ]
    left = len(fastest) - MOST_NAMED
    doubts = _counted_doubts(one for found in compared.values() for one in found)
    return [f"{_list(said)}{f'; {left} more gain less' if left > 0 else ''}{f' ({doubts})' if doubts else ''}."]


def _device_sentences(ratios: Sequence[Ratio], devices: Sequence[str]) -> list[str]:
    """Means over what all devices have; where that is nothing, each device over what it shares with the reference."""
    if len(devices) < 2:
        return []
    reference = next((one.arm.device for one in ratios if one.is_reference), devices[0])
    others = [device for device in devices if device != reference]
    if means := geometric_means(ratios, devices):
        said = _list([_as_fast(mean, reference) for mean in means if mean.device != reference])
        doubts = _doubts(ratios, devices)
        return [f"{said} (geometric mean over {_configurations(means[0].points)}{'; ' * bool(doubts)}{doubts})."]
    pairs = [
        (mean, _doubts(ratios, [reference, device]))
        for device in others
        for mean in geometric_means(ratios, [reference, device])
        if mean.device == device
    ]
    if not pairs:
        return [f"{_list(devices)} share no configuration that may be compared."]
    said = _list([_over_pair(mean, reference, doubts) for mean, doubts in pairs])
    return [f"{said}; no configuration is common to all."]


def _over_pair(mean: Mean, reference: str, doubts: str) -> str:
    said = f"{_as_fast(mean, reference)} over {_configurations(mean.points)}"
    return f"{said} ({doubts})" if doubts else said


def _doubts(ratios: Iterable[Ratio], devices: Sequence[str]) -> str:
    """What a mean rests on besides what is established: "2 ratios without a verdict, 1 ratio unstable"."""
    return _counted_doubts(found[device] for found in _common(ratios, devices) for device in devices)


def _counted_doubts(pairs: Iterable[Ratio]) -> str:
    verdicts = [one.verdict for one in pairs if not one.is_reference]
    counts = {words: verdicts.count(verdict) for verdict, words in _NOT_ESTABLISHED.items()}
    return ", ".join(f"{formatting.counted(number, 'ratio')} {words}" for words, number in counts.items() if number)


def _as_fast(mean: Mean, reference: str) -> str:
    return f"{mean.device} is {formatting.speedup(mean.speedup)} as fast as {reference}"


def _configurations(points: int) -> str:
    return f"{points} common configurations" if points > 1 else "one common configuration"


def technique_sentences(own: Sequence[Ratio], devices: Sequence[str]) -> list[str]:
    """Which technique is established to bring each device most, and where none is, in one sentence; empty without ratios."""
    best, without = [], []
    for device in devices:
        mine = [one for one in own if one.arm.device == device and one.speedup is not None and not one.is_reference]
        if any(one.verdict is Verdict.FASTER for one in mine):
            best.append(_largest(mine))
        elif mine:
            without.append(device)
    parts = [f"Largest speed-up over the device's own baseline: {_list(best)}"] if best else []
    if without:
        parts.append(f"{'no' if best else 'No'} technique is established as faster on {_list(without)}")
    return [f"{'; '.join(parts)}."] if parts else []


def _largest(mine: Sequence[Ratio]) -> str:
    """The technique that is faster by most on one device, over the configurations where that is established."""
    faster: dict[str, list[Ratio]] = {}
    for one in mine:
        if one.verdict is Verdict.FASTER:
            faster.setdefault(one.arm.variant, []).append(one)
    top = max(faster.values(), key=lambda ratios: _geometric(_speedups(ratios)))
    arm = top[0].arm
    measured = sum(one.arm.variant == arm.variant for one in mine)
    where = f", established for {len(top)} of {measured} configurations" if len(top) < measured else ""
    return f"{arm.label} on {arm.device} ({formatting.speedup(_geometric(_speedups(top)))}{where})"


def _list(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _geometric(values: Iterable[float]) -> float:
    logs = [math.log(value) for value in values]
    return math.exp(math.fsum(logs) / len(logs))
