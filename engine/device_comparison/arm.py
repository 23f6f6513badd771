"""What one device measured, or reports, for one technique at one point; the row of every table of the Compare page."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from engine.catalog import label_of
from engine.imports.units import words

UNNAMED_DEVICE = "device not named"
BASELINE_WORDS = ("eager", "baseline", "pytorch", "unfused", "reference", "naive")
"""What files call the arm that the others are compared with, the surest word first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """What was computed: a model at a shape, or an operator at a size, plus any setting that keeps rows apart."""

    model: str | None = None
    operator: str | None = None
    batch_size: int | None = None
    sequence_length: int | None = None
    elements: int | None = None
    operations: int | None = None
    setting: str | None = None

    def __str__(self) -> str:
        parts = (
            self.model,
            self.operator,
            f"batch {self.batch_size}" if self.batch_size else None,
            f"{self.sequence_length} tokens" if self.sequence_length else None,
            f"{self.elements:,} elements" if self.elements else None,
            f"{self.operations} operations" if self.operations else None,
            self.setting,
        )
        return " · ".join(part for part in parts if part) or "all rows"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceArm:
    """One technique at one point on one device. Base units; None is unknown.

    `value` is the figure the file reports, else the median of the samples, in `unit`; `statistic` says which. `grid` are the
    samples' quantiles at `QUANTILES`; where a sample is the mean of `calls_per_sample` calls (the most of them), they are not
    those of single calls and there is no `p95` of them. `log_blocks` is ln(median) of every block, index (process, round).
    `failure` says why there is no value, `doubt` why a value may not be relied on.
    """

    device: str
    variant: str
    technique: str
    point: Point
    dtype: str | None
    measure: str
    unit: str
    statistic: str
    value: float | None
    mean: float | None = None
    samples: int = 0
    calls_per_sample: int = 1
    processes: int = 0
    grid: tuple[float, ...] = ()
    p95: float | None = None
    log_blocks: pd.Series[float] = field(default_factory=lambda: pd.Series(dtype=float), compare=False)
    first_call_s: float | None = None
    set_up_s: float | None = None
    memory_bytes: float | None = None
    floor_s: float | None = None
    conditions: Mapping[str, str] = field(default_factory=dict)
    experiment: str | None = None
    failure: str | None = None
    doubt: str | None = None
    remark: str | None = None
    source: str = ""

    @property
    def label(self) -> str:
        """What users read for the technique."""
        return label_of(self.variant)

    @property
    def key(self) -> tuple[str, Point, str | None, str, str]:
        """What two arms must share to be the same work: technique, point, dtype, measure, unit."""
        return (self.variant, self.point, self.dtype, self.measure, self.unit)

    @property
    def is_rate(self) -> bool:
        """Whether higher is better."""
        return self.unit != "seconds"

    @property
    def is_summary(self) -> bool:
        """Whether the file reports a figure instead of samples."""
        return not self.samples and self.value is not None

    @property
    def evidence(self) -> str:
        """How much stands behind the value, in words."""
        if self.failure:
            return f"failed: {self.failure}"
        if self.is_summary:
            return f"summary only ({self.statistic})"
        processes = f", {self.processes} processes" if self.processes > 1 else ""
        of_calls = f"of {self.calls_per_sample:,} calls" if self.calls_per_sample > 1 else ""
        if self.samples > 1:
            return f"n = {self.samples:,}{f' means {of_calls}' if of_calls else ''}{processes}"
        return f"a single mean {of_calls}" if of_calls else "a single value"


QUANTILES: NDArray[np.float64] = np.linspace(0, 1, 101)
"""The browser gets these quantiles, never the samples."""


def find_baseline(variants: list[str]) -> str | None:
    """The variant the others are most likely compared with; None when no name says so. Shown, and changeable."""
    for word in BASELINE_WORDS:
        for variant in variants:
            if word in (*words(variant), *re.findall(r"[a-z]+", variant.lower())):
                return variant
    return None
