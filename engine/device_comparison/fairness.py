"""What may be compared with what: rows are joined on their full key, and what differs besides is said or withholds the ratio.

Different work (dtype, model) withholds a ratio. Different circumstances (torch, precision, protocol, caches, which figure was
reported) put a badge on it, with both values; so does a dtype or precision that neither side states.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from engine.device_comparison.arm import DeviceArm

CIRCUMSTANCES = {
    "torch": "torch",
    "precision": "matmul precision",
    "protocol": "protocol",
    "cache_state": "compile cache",
    "threads": "threads",
    "weights": "weights",
}
"""Conditions whose difference is worth a badge. Backend and driver belong to the device and are shown beside it."""
UNSTATED = "not stated"


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that differs between the two sides of a ratio, or may, since neither side states it."""

    facet: str
    mine: str
    theirs: str

    def __str__(self) -> str:
        return f"{self.facet} {self.mine if self.mine == self.theirs else f'{self.mine} against {self.theirs}'}"


@dataclass(frozen=True, slots=True)
class Pair:
    """Two arms side by side. `withheld` says why no ratio may be shown; `differences` are the badges of one that may."""

    arm: DeviceArm
    reference: DeviceArm
    differences: tuple[Difference, ...] = ()
    withheld: str | None = None


@dataclass(frozen=True, slots=True)
class Joined:
    """Two lists of arms joined on the full key, and what is left over on either side: listed, never averaged in."""

    pairs: tuple[Pair, ...]
    only_mine: tuple[DeviceArm, ...]
    only_theirs: tuple[DeviceArm, ...]


def pair(arm: DeviceArm, reference: DeviceArm) -> Pair:
    """`arm` against `reference`, with every reason not to compare them, or to read the ratio with care."""
    return Pair(arm, reference, tuple(_differences(arm, reference)), _different_work(arm, reference))


def join(mine: Sequence[DeviceArm], theirs: Sequence[DeviceArm]) -> Joined:
    """Pairs of the same technique, point, dtype and measure; then pairs that differ in dtype or model alone, withheld."""
    by_key = {arm.key: arm for arm in theirs}
    pairs = [pair(arm, by_key[arm.key]) for arm in mine if arm.key in by_key]
    taken = {one.arm.key for one in pairs}
    left = [arm for arm in mine if arm.key not in taken]
    right = [arm for arm in theirs if arm.key not in taken]
    for facet in ("dtype", "model"):
        close = _almost(left, right, facet)
        pairs += close
        left = [arm for arm in left if all(arm is not one.arm for one in close)]
        right = [arm for arm in right if all(arm is not one.reference for one in close)]
    return Joined(tuple(pairs), tuple(left), tuple(right))


def _almost(mine: Iterable[DeviceArm], theirs: Iterable[DeviceArm], facet: str) -> list[Pair]:
    """Pairs that are the same but for `facet`, where that leaves exactly one partner."""
    partners: dict[object, list[DeviceArm]] = {}
    for arm in theirs:
        partners.setdefault(_key_without(arm, facet), []).append(arm)
    found = ((arm, partners.get(_key_without(arm, facet), [])) for arm in mine)
    return [pair(arm, others[0]) for arm, others in found if len(others) == 1]


def _key_without(arm: DeviceArm, facet: str) -> object:
    if facet == "dtype":
        return replace(arm, dtype=None).key
    return replace(arm, point=replace(arm.point, model=None)).key


def _different_work(arm: DeviceArm, reference: DeviceArm) -> str | None:
    for mine, theirs in ((arm.dtype, reference.dtype), (arm.point.model, reference.point.model)):
        if mine and theirs and mine != theirs:
            return f"{mine} against {theirs}: not the same work"
    if arm.unit != reference.unit:
        return f"{arm.unit} against {reference.unit}: not the same measure"
    return None


def _differences(arm: DeviceArm, reference: DeviceArm) -> Iterable[Difference]:
    if arm.device != reference.device and arm.variant != reference.variant:
        yield Difference("device", arm.device, reference.device)
    if (arm.dtype is None) != (reference.dtype is None):
        yield Difference("dtype", arm.dtype or UNSTATED, reference.dtype or UNSTATED)
    for key, facet in CIRCUMSTANCES.items():
        mine, theirs = arm.conditions.get(key), reference.conditions.get(key)
        if mine != theirs:
            yield Difference(facet, mine or UNSTATED, theirs or UNSTATED)
    if arm.value is not None and reference.value is not None and _figure(arm) != _figure(reference):
        yield Difference("figure", _figure(arm), _figure(reference))
    if (arm.device, arm.source) != (reference.device, reference.source):
        yield from _unstated(arm, reference)


def _unstated(arm: DeviceArm, reference: DeviceArm) -> Iterable[Difference]:
    """What decides about the speed of the same work and is said on neither side."""
    if arm.dtype is None and reference.dtype is None:
        yield Difference("dtype", UNSTATED, UNSTATED)
    is_wide = arm.dtype in (None, "float32")  # only products of float32 have a precision to choose
    if is_wide and "precision" not in arm.conditions and "precision" not in reference.conditions:
        yield Difference(CIRCUMSTANCES["precision"], UNSTATED, UNSTATED)


def _figure(arm: DeviceArm) -> str:
    """Medians of samples and reported medians are the same figure; a mean is another."""
    return "median" if arm.statistic in ("median of samples", "median", "single value") else arm.statistic
