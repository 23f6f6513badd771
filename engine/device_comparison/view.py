"""One comparison as chosen by a reader: which measure, which reference device, which baseline, prices; all rows follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from engine.catalog import label_of
from engine.device_comparison.arm import DeviceArm, Point
from engine.device_comparison.arms import devices_of, points_of
from engine.device_comparison.ratios import Ratio, over_arm, over_device, over_own_baseline, without_partner
from engine.device_comparison.summary import Cost, Mean, cheapest, costs, over_arm_sentences, sentences, technique_means
from engine.device_comparison.table import table


@dataclass(frozen=True, kw_only=True)
class View:
    """Everything shown of some arms of one measure, worked out when it is first asked for.

    Devices are compared technique by technique, or, with `reference_technique`, all with that technique on the reference device.
    """

    arms: Sequence[DeviceArm]
    reference: str
    baseline: str | None
    prices: Mapping[str, float]
    reference_technique: str | None = None

    @property
    def reference_label(self) -> str:
        """What stands on the other side of the ratios between devices, in words."""
        return (
            f"{label_of(self.reference_technique)} on {self.reference}" if self.reference_technique else self.reference
        )

    @property
    def has_reference(self) -> bool:
        """Whether there is anything else to hold against the reference."""
        return len(self.devices) > 1 or self.reference_technique is not None

    @cached_property
    def devices(self) -> list[str]:
        """Devices in order of appearance; their place decides their colour."""
        return devices_of(list(self.arms))

    @cached_property
    def own(self) -> list[Ratio]:
        """Every arm over its own device's baseline."""
        return over_own_baseline(self.arms, self.baseline)

    @cached_property
    def _between(self) -> tuple[list[Ratio], list[DeviceArm]]:
        if self.reference_technique:
            return over_arm(self.arms, self.reference, self.reference_technique)
        return over_device(self.arms, self.reference)

    @property
    def between(self) -> list[Ratio]:
        """Every arm over the same work on the reference device, or over the reference technique there."""
        return self._between[0]

    @property
    def unmatched(self) -> list[DeviceArm]:
        """Arms without a partner on the other side: listed, never averaged in."""
        return self._between[1]

    @cached_property
    def means(self) -> list[Mean]:
        """The heat map's cells."""
        return technique_means(self.own)

    @cached_property
    def priced(self) -> list[Cost]:
        """Costs, the cheapest first."""
        return costs(self.arms, self.prices)

    def cheapest(self, point: Point, limit_s: float | None = None) -> list[Cost]:
        """The cheapest row of every dtype at a point, of those whose 95th percentile is below `limit_s` where one is given."""
        return cheapest(self.priced, point, limit_s)

    @cached_property
    def sentences(self) -> list[str]:
        """The comparison in words, the most important sentence first."""
        first = over_arm_sentences(self.between, self.reference_label) if self.reference_technique else None
        return sentences(self.between, self.own, self.devices, len(self.unmatched), first)

    @property
    def paragraph(self) -> str:
        """All of it, to be pasted into a chat."""
        return " ".join(self.sentences)

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row per arm."""
        return table(self.own, self.between, self.priced)

    def at(self, point: Point, axis: str) -> list[Ratio]:
        """The bars of one point; on the device axis those without a partner stay, with the reason in words."""
        ratios = [*self.between, *self._alone] if axis == "device" else self.own
        return [one for one in ratios if one.arm.point == point]

    @cached_property
    def _alone(self) -> list[Ratio]:
        """The arms without a partner on the reference device, each with the reason in the place of a ratio."""
        if self.reference_technique:
            return [without_partner(arm, f"no {self.reference_label} at this point") for arm in self.unmatched]
        others = [arm for arm in self.unmatched if arm.device != self.reference]
        devices: dict[object, set[str]] = {}
        for arm in others:
            devices.setdefault(arm.key, set()).add(arm.device)
        return [
            without_partner(arm, f"not on {self.reference}" if len(devices[arm.key]) > 1 else "only on this device")
            for arm in others
        ]

    @cached_property
    def points(self) -> list[Point]:
        """Points, those that most devices have first."""
        known = [arm for arm in self.arms if arm.value is not None] or list(self.arms)
        shared = {point: len({arm.device for arm in known if arm.point == point}) for point in points_of(known)}
        return sorted(shared, key=lambda point: -shared[point])
