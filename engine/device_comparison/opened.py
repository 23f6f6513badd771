"""A comparison set ready to be shown: its files, the runs measured here that belong to it, and all arms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from engine.device_comparison.arm import DeviceArm
from engine.device_comparison.arms import measures_of, summarise
from engine.device_comparison.collection import Collection
from engine.result import Run


@dataclass(frozen=True, slots=True)
class Opened:
    """What every view of a set needs, worked out once per change of the set."""

    collection: Collection
    runs: tuple[Run, ...]
    arms: tuple[DeviceArm, ...]

    @classmethod
    def of(cls, collection: Collection, runs: Sequence[Run]) -> Opened:
        """Read everything and summarise it."""
        return cls(collection, tuple(runs), tuple(summarise(collection.readings(runs))))

    @property
    def measures(self) -> list[str]:
        """What was measured, times first."""
        return list(measures_of(list(self.arms)))

    def of_measure(self, measure: str) -> list[DeviceArm]:
        """The arms of one measure."""
        return [arm for arm in self.arms if arm.measure == measure]

    def readings(self) -> pd.DataFrame:
        """All readings again, for the merged export."""
        return self.collection.readings(self.runs)
