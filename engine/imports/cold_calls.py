"""Cold first calls inside samples: told apart where an iteration column says which call was first, else only pointed out."""

from __future__ import annotations

import pandas as pd

from engine.formatting import seconds
from engine.imports.readings import POINT_COLUMNS
from engine.imports.understanding import quoted

COLD_FACTOR = 5.0
"""A first call this many times the median of the rest is compilation or loading, not latency: of the published logs we have
read, real first calls were 10 to 5,000 times the rest, and noisy ones below 3 times."""
_GROUP = ("device", "variant", *POINT_COLUMNS, "dtype", "measure", "experiment", "process")
_MAX_NOTES = 10


def separate(frame: pd.DataFrame) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """`frame` with the first calls that are cold marked as `first_call`, and a note on each; `frame` itself if none is."""
    samples = frame[(frame["statistic"] == "sample") & frame["phase"].isna() & frame["latency_s"].notna()]
    if samples.empty:
        return frame, ()
    group = samples.groupby(list(_GROUP), dropna=False, observed=True, sort=False).ngroup()
    ordered = samples.assign(group=group).sort_values(["group", "call"], kind="stable")
    is_first = ~ordered["group"].duplicated()
    rest = ordered[~is_first].groupby("group")["latency_s"].agg(["median", "size"])
    first = ordered[is_first].join(rest, on="group")
    cold = first[(first["size"] >= 2) & (first["latency_s"] > COLD_FACTOR * first["median"])]
    known = cold[cold["call"].notna()]
    if not known.empty:
        phase = frame["phase"].cat.add_categories(
            [name for name in ("first_call",) if name not in frame["phase"].cat.categories]
        )
        frame = frame.assign(phase=phase)
        frame.loc[known.index, "phase"] = "first_call"
    return frame, _notes(cold)


def _notes(cold: pd.DataFrame) -> tuple[str, ...]:
    notes = [_note(row) for _, row in cold.head(_MAX_NOTES).iterrows()]
    return (*notes, *([f"{len(cold) - _MAX_NOTES} more first calls like these."] if len(cold) > _MAX_NOTES else []))


def _note(row: pd.Series) -> str:
    what = f"{quoted(row['variant'])} row {row['row']}: {seconds(row['latency_s'])} against {seconds(row['median'])} for the rest"
    if pd.isna(row["call"]):
        return f"{what}: likely a cold first call; kept, because no iteration column says so."
    return f"{what}: taken as the first call, not as latency."
