"""Ratios -> the rows that page, command line and exports all show: base units and words, one row per arm."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from engine import formatting
from engine.device_comparison.arm import DeviceArm
from engine.device_comparison.ratios import Ratio
from engine.device_comparison.summary import Cost

DEVICE_FACTS = ("torch", "backend", "driver", "protocol", "precision", "cache_state", "threads", "weights")
"""Conditions shown beside every comparison."""


def table(own: Sequence[Ratio], between: Sequence[Ratio], priced: Iterable[Cost] = ()) -> pd.DataFrame:
    """One row per arm, in the order of `own`: its value, both speed-ups with verdict and reason, cost, circumstances."""
    against = {id(one.arm): one for one in between}
    cost = {id(one.arm): one.per_million_calls for one in priced}
    return pd.DataFrame([_row(one, against.get(id(one.arm)), cost.get(id(one.arm))) for one in own])


def _row(own: Ratio, between: Ratio | None, cost: float | None) -> dict[str, Any]:
    arm = own.arm
    return {
        "device": arm.device,
        "technique": arm.label,
        "point": str(arm.point),
        "dtype": arm.dtype,
        "value": value_text(arm),
        "evidence": arm.evidence,
        "speedup": own.speedup,
        "interval": interval_text(own),
        "verdict": str(own.verdict),
        "against_device": between.speedup if between else None,
        "against_device_interval": interval_text(between) if between else formatting.UNKNOWN,
        "reason": own.reason or (between.reason if between else ""),
        "badges": badges(own, between),
        "p95_s": None if arm.is_rate else arm.p95,
        "first_call_s": arm.first_call_s,
        "set_up_s": arm.set_up_s,
        "memory_bytes": arm.memory_bytes,
        "floor_share": floor_share(arm),
        "cost_per_million_calls": cost,
        **{fact: arm.conditions.get(fact) for fact in DEVICE_FACTS},
        "source": arm.source,
    }


def value_text(arm: DeviceArm) -> str:
    """The arm's value with its unit."""
    if arm.value is None:
        return formatting.UNKNOWN
    if not arm.is_rate:
        return formatting.seconds(arm.value)
    units: Mapping[str, str] = {"bytes_per_second": "B/s", "flops_per_second": "FLOP/s", "per_second": "/s"}
    return formatting.rate(arm.value, units.get(arm.unit, arm.unit))


def interval_text(one: Ratio) -> str:
    """The 95 % interval of a speed-up, "-" where there is none."""
    return formatting.interval(one.interval.low, one.interval.high) if one.interval else formatting.UNKNOWN


def badges(*ratios: Ratio | None) -> str:
    """What a reader must know beside an arm's numbers: remarks of its file, and what differs from the other side."""
    known = [one for one in ratios if one]
    said = [one.arm.remark for one in known if one.arm.remark]
    return "; ".join(dict.fromkeys((*said, *(str(difference) for one in known for difference in one.differences))))


def floor_share(arm: DeviceArm) -> float | None:
    """Floor over value: how much of what the device can do at best is reached; 1 is all of it."""
    return None if arm.floor_s is None or arm.value is None or arm.is_rate else arm.floor_s / arm.value
