"""One unit for a whole axis: seconds or bytes become the unit in which the largest value has one to four digits."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scale:
    """Divide by `factor`, write `unit` (spelled out, for an axis title)."""

    factor: float
    unit: str


_TIMES = (Scale(1e-9, "nanoseconds"), Scale(1e-6, "microseconds"), Scale(1e-3, "milliseconds"), Scale(1.0, "seconds"))


def time_scale(largest_s: float) -> Scale:
    """The unit for an axis whose largest value is `largest_s` seconds."""
    return next((scale for scale in reversed(_TIMES) if largest_s >= scale.factor), _TIMES[0])
