"""The frame every format ends in: one row per reading, which is a timed call or a figure the file reports.

The columns of `engine.frames.samples_frame`, plus what files from elsewhere need: which figure it is (`measure`,
`statistic`), rates (`rate` in `unit`), failed rows, the conditions under which it was measured, and where it stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from engine.frames import SAMPLE_COLUMNS

POINT_COLUMNS = ("model", "operator", "batch_size", "sequence_length", "elements", "operations", "setting")
CONDITION_COLUMNS = ("torch", "backend", "precision", "protocol", "cache_state", "threads", "driver", "weights")
TEXT_COLUMNS = (
    "experiment", "technique", "variant", "model", "operator", "setting", "dtype", "device", "phase",
    "measure", "statistic", "unit", "status", "reason", "remark", "source", *CONDITION_COLUMNS,
)  # fmt: skip
NUMBER_COLUMNS = (
    "batch_size", "sequence_length", "elements", "operations", "process", "round", "call", "calls_per_sample", "row",
)  # fmt: skip
FLOAT_COLUMNS = ("latency_s", "host_s", "gpu_s", "rate", "memory_bytes", "set_up_s", "floor_s")
COLUMNS = tuple(dict.fromkeys((*SAMPLE_COLUMNS, *TEXT_COLUMNS, *NUMBER_COLUMNS, *FLOAT_COLUMNS)))
LATENCY = "latency"
RATE = "rate"
"""The measures of a format's main column of times, and of rates where it has no times."""

UNNAMED = "not named"
"""The technique of rows that name none."""

_DTYPES = {
    "fp64": "float64", "double": "float64", "fp32": "float32", "float": "float32", "f32": "float32", "fp16": "float16",
    "half": "float16", "f16": "float16", "bf16": "bfloat16",
}  # fmt: skip
_PHASES = {
    "first": "first_call", "first call": "first_call", "cold": "first_call", "compile": "first_call", "warm-up": "warmup",
    "warm_up": "warmup", "warm up": "warmup", "warm": "steady", "measure": "steady", "timed": "steady",
    "steady-state": "steady", "steady state": "steady",
}  # fmt: skip
PHASES = ("first_call", "warmup", "steady")


def from_rows(rows: Iterable[Mapping[str, Any]], source: str) -> pd.DataFrame:
    """Readings from dictionaries; a column that a row lacks is missing."""
    return complete(pd.DataFrame([{"source": source, **row} for row in rows], columns=list(COLUMNS), dtype=object))


def empty() -> pd.DataFrame:
    """No readings."""
    return from_rows((), "")


def complete(frame: pd.DataFrame | Mapping[str, pd.Series]) -> pd.DataFrame:
    """Columns as a frame with all of `COLUMNS`, in order, in their types: text as categories, missing as missing."""
    rows = max((len(column) for _, column in frame.items()), default=0)
    columns = {name: _typed(frame.get(name), name, rows) for name in COLUMNS}
    return pd.DataFrame({name: column.reset_index(drop=True) for name, column in columns.items()}, copy=False)


def _typed(column: pd.Series | None, name: str, rows: int) -> pd.Series:
    if column is None:
        column = pd.Series(np.full(rows, np.nan))
    if name in ("technique", "variant"):
        column = column.astype(object).where(column.notna(), UNNAMED) if column.isna().any() else column
    if name in TEXT_COLUMNS:
        return _as_category(column)
    return column.astype("Int64" if name in NUMBER_COLUMNS else float)


def _as_category(column: pd.Series) -> pd.Series:
    if isinstance(column.dtype, pd.CategoricalDtype) and column.cat.categories.dtype == "str":
        return column
    return column.astype("str").where(column.notna()).astype("category")


def respelled(column: pd.Series, name: str) -> pd.Series:
    """One spelling for what files spell in many ways: dtypes, phases; blank cells are missing."""
    spellings = {"dtype": _DTYPES, "phase": _PHASES}.get(name, {})
    stripped = {text: text.strip() for text in column.cat.categories}
    table = {text: spellings.get(word.lower().removeprefix("torch."), word) for text, word in stripped.items()}
    return _as_category(column.astype(object).map(table).replace("", np.nan) if column.size else column)


def merge(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """All readings in one frame, which is not to be changed; text stays categorical, so that a million rows stay small."""
    if len(frames) < 2:
        return frames[0] if frames else empty()
    columns: dict[str, Any] = {}
    for name in COLUMNS:
        parts = [frame[name] for frame in frames]
        columns[name] = (
            pd.api.types.union_categoricals(parts) if name in TEXT_COLUMNS else pd.concat(parts, ignore_index=True)
        )
    return pd.DataFrame(columns)
