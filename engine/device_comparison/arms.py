"""Readings -> arms: one per device, technique, point and set of conditions. Vectorised; a million readings in seconds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from engine import stats
from engine.catalog import is_twin
from engine.device_comparison.arm import QUANTILES, UNNAMED_DEVICE, DeviceArm, Point
from engine.imports.readings import CONDITION_COLUMNS, POINT_COLUMNS

_ARM = ("device", "variant", "technique", *POINT_COLUMNS, "dtype", "measure", "unit")
_APART = ("source", "experiment", *CONDITION_COLUMNS)
"""Readings that differ in one of these are never pooled, even when they speak of the same arm."""
_ARM_FIELDS = ("device", "variant", "technique", "dtype", "measure", "unit", "source", "experiment", "remark")
_PREFERRED = ("median", "mean", "p95", "p99")
_POINT_NUMBERS = ("batch_size", "sequence_length", "elements", "operations")


def summarise(frame: pd.DataFrame) -> list[DeviceArm]:
    """Every arm of a set's readings, in the order of the readings; A/A twins are checks and are left out."""
    twins = [variant for variant in frame["variant"].cat.categories if is_twin(variant)]
    frame = frame[~frame["variant"].isin(twins)] if twins else frame
    if frame.empty:
        return []
    group = _groups(frame)
    heads = _heads(frame, group)
    value = frame["latency_s"].fillna(frame["rate"])
    sampled = _samples(frame, group, value)
    reported = _reported(frame, group, value)
    extras = _extras(frame, group)
    arms = []
    for number, head in heads.iterrows():
        numbers = sampled.get(number, {}) | _from_report(reported.get(number, {}))
        arms.append(_arm(head, numbers or {"statistic": "sample", "value": None}, extras[number]))
    return arms


def _groups(frame: pd.DataFrame) -> pd.Series:
    """Number of the arm each reading belongs to. Columns that hold one value throughout cannot tell arms apart."""
    telling = [name for name in (*_ARM, *_APART) if frame[name].nunique(dropna=False) > 1]
    if not telling:
        return pd.Series(0, index=frame.index)
    return frame.groupby(telling, dropna=False, observed=True, sort=False).ngroup()


def _heads(frame: pd.DataFrame, group: pd.Series) -> pd.DataFrame:
    """One row per arm: its keys, conditions and what is said of it; devices named so that no two arms are the same."""
    first = frame.loc[~group.duplicated(), [*_ARM, *_APART, "remark"]].astype(object)
    first.index = pd.Index(group[~group.duplicated()])
    first["device"] = first["device"].fillna(UNNAMED_DEVICE)
    for column in _APART:
        first["device"] = _apart(first, column)
    return first


def _apart(heads: pd.DataFrame, column: str) -> pd.Series:
    """Device names, with the value of `column` where one device has the same arm twice and `column` tells them apart."""
    key = [name for name in _ARM if name != "technique"]
    several = heads.groupby(key, dropna=False)[column].nunique(dropna=False)
    devices = set(several[several > 1].index.get_level_values("device"))
    told = heads[column].map(lambda value: _told(column, value), na_action=None)
    return heads["device"].where(~heads["device"].isin(devices), heads["device"] + " (" + told + ")")


def _told(column: str, value: Any) -> str:
    """What tells a device from its namesake: the file's whole name, or the condition."""
    if column == "source":
        return str(value)
    return f"{column.replace('_', ' ')} {'not stated' if pd.isna(value) else value}"


def _samples(frame: pd.DataFrame, group: pd.Series, value: pd.Series) -> dict[Any, dict[str, Any]]:
    """Statistics of the steady samples of every arm that has some."""
    phase = frame["phase"]
    is_steady = phase.isna() | (phase == "steady")
    steady = ((frame["statistic"] == "sample") & is_steady & value.notna() & (frame["status"] != "failed")).to_numpy()
    ordered = pd.DataFrame({"group": group[steady], "value": value[steady]}).sort_values(["group", "value"])
    blocks = _log_blocks(frame[steady], group[steady], value[steady])
    calls = frame["calls_per_sample"][steady].fillna(1).groupby(group[steady]).max()
    found = {}
    for number, values in ordered.groupby("group")["value"]:
        array = values.to_numpy()
        p95 = stats.percentile(array, 0.95) if calls[number] == 1 else None  # a mean of calls hides the slow one
        found[number] = {
            "statistic": "median of samples" if array.size > 1 else "single value",
            "value": float(np.median(array)),
            "mean": float(array.mean()),
            "samples": int(array.size),
            "calls_per_sample": int(calls[number]),
            "grid": tuple(np.quantile(array, QUANTILES).tolist()),
            "p95": p95.value if p95 and not p95.missing else None,
            "log_blocks": blocks.get(number, pd.Series(dtype=float)),
        }
    return found


def _log_blocks(frame: pd.DataFrame, group: pd.Series, value: pd.Series) -> dict[Any, pd.Series]:
    """ln(median value) by process and round, for arms whose readings name their process; no round counts as one round."""
    known = frame["process"].notna().to_numpy()
    keys = {
        "group": group[known],
        "process": frame["process"][known].astype("int64"),
        "round": frame["round"][known].fillna(0).astype("int64"),
    }
    medians = np.log(value[known].groupby([keys["group"], keys["process"], keys["round"]]).median())
    return {number: part.droplevel(0) for number, part in medians.groupby(level=0)}


def _reported(frame: pd.DataFrame, group: pd.Series, value: pd.Series) -> dict[Any, dict[str, float]]:
    """Figures that the file states instead of samples, by statistic."""
    stated = (frame["statistic"].isin(_PREFERRED) & value.notna()).to_numpy()
    medians = value[stated].groupby([group[stated], frame.loc[stated, "statistic"].astype(object)]).median()
    found: dict[Any, dict[str, float]] = {}
    for (number, statistic), figure in zip(medians.index, medians, strict=True):
        found.setdefault(number, {})[str(statistic)] = float(figure)
    return found


def _from_report(summaries: dict[str, float]) -> dict[str, Any]:
    """The best figure stated; it is what the file's author would quote, so it goes before the samples' own."""
    statistic = next((name for name in _PREFERRED if name in summaries), None)
    if statistic is None:
        return {}
    beside = {name: summaries[name] for name in ("mean", "p95") if name in summaries}
    return {"statistic": statistic, "value": summaries[statistic]} | beside


def _extras(frame: pd.DataFrame, group: pd.Series) -> dict[Any, dict[str, Any]]:
    """First call, set-up, memory, floor, failure and doubt of every arm."""
    grouped = frame.groupby(group)
    numbers = grouped[["memory_bytes", "set_up_s", "floor_s"]].max()
    numbers["first_call_s"] = _first_calls(frame, group)
    found = {number: _known(row) for number, row in numbers.iterrows()}
    words = pd.DataFrame({"status": frame["status"], "reason": frame["reason"], "group": group})
    for status, reason, number in (
        words.dropna().drop_duplicates("group").astype(object).itertuples(index=False, name=None)
    ):
        found[number]["failure" if status == "failed" else "doubt"] = str(reason)
    return found


def _first_calls(frame: pd.DataFrame, group: pd.Series) -> pd.Series:
    """The first call of every arm, the slowest of its processes; files count calls from 0 or from 1."""
    of_first = (frame["phase"] == "first_call").to_numpy()
    first, arm = frame[of_first], group[of_first]
    call = first["call"].fillna(0)
    return first["latency_s"].where(call == call.groupby(arm).transform("min")).groupby(arm).max()


def _known(row: pd.Series) -> dict[str, Any]:
    return {str(name): float(value) for name, value in row.items() if pd.notna(value)}


def _arm(head: pd.Series, numbers: dict[str, Any], extra: dict[str, Any]) -> DeviceArm:
    if numbers.get("value") is not None and "failure" in extra:
        extra["doubt"] = f"some rows failed: {extra.pop('failure')}"
    if numbers.get("value") is None:
        extra.setdefault("failure", "no steady call: first calls or warm-up only")
    said = {str(name): value for name, value in head.items() if pd.notna(value)}
    point: dict[str, Any] = {name: said[name] for name in POINT_COLUMNS if name in said}
    point |= {name: int(point[name]) for name in _POINT_NUMBERS if name in point}
    fields: dict[str, Any] = {name: said.get(name) for name in _ARM_FIELDS} | numbers | extra
    blocks = numbers.get("log_blocks", pd.Series(dtype=float))
    return DeviceArm(
        **fields,
        point=Point(**point),
        processes=int(blocks.index.get_level_values("process").nunique()) if blocks.size else 0,
        conditions={name: str(said[name]) for name in CONDITION_COLUMNS if name in said},
    )


def devices_of(arms: list[DeviceArm]) -> list[str]:
    """Device names in order of appearance."""
    return list(dict.fromkeys(arm.device for arm in arms))


def variants_of(arms: list[DeviceArm]) -> list[str]:
    """Techniques in order of appearance."""
    return list(dict.fromkeys(arm.variant for arm in arms))


def points_of(arms: list[DeviceArm]) -> list[Point]:
    """Points in order of appearance."""
    return list(dict.fromkeys(arm.point for arm in arms))


def measures_of(arms: list[DeviceArm]) -> Iterator[str]:
    """Measures, times before rates."""
    ordered = sorted(arms, key=lambda arm: arm.is_rate)
    return iter(dict.fromkeys(arm.measure for arm in ordered))
