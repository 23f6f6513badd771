"""Runs to DataFrames: one row per timed sample, one row per outcome. Every statistic is derived from these two."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from engine.result import Measurement, Run
from engine.spec import Workload

WORKLOAD_COLUMNS = ("model", "operator", "batch_size", "sequence_length", "elements", "operations", "dtype")
KEY_COLUMNS = (
    "experiment", "technique", "variant", *WORKLOAD_COLUMNS, "device", "process", "round", "call", "phase", "calls_per_sample",
)  # fmt: skip
TIME_COLUMNS = ("latency_s", "host_s", "gpu_s")
SAMPLE_COLUMNS = KEY_COLUMNS + TIME_COLUMNS
TEXT_COLUMNS = ("experiment", "technique", "variant", "model", "operator", "dtype", "device", "phase")
PHASES = ("first_call", "warmup", "steady")


class Segment(NamedTuple):
    """Consecutive samples of one measurement that share every key but `call`."""

    workload: Workload
    phase: str
    round: int | None
    calls_per_sample: int
    latency_s: Sequence[float]
    host_s: Sequence[float] | None = None
    gpu_s: Sequence[float | None] | None = None


def segments(measurement: Measurement) -> Iterator[Segment]:
    """A measurement's samples in the one order every table and file uses: points' first calls and warm-up, then blocks."""
    for workload, point in zip(measurement.workloads, measurement.points, strict=True):
        yield Segment(workload, "first_call", None, 1, point.first_calls_s)
        yield Segment(workload, "warmup", None, point.warmup_calls_per_sample, point.warmup_s)
    for block in measurement.blocks:
        workload = measurement.workloads[block.workload]
        yield Segment(
            workload, "steady", block.round, block.calls_per_sample, block.latency_s, block.host_s, block.gpu_s
        )


def samples_frame(runs: Iterable[Run]) -> pd.DataFrame:
    """One row per timed sample, columns `SAMPLE_COLUMNS`; `latency_s` is seconds per call, unknown times are NaN."""
    runs = list(runs)
    parts = [segment for run in runs for measurement in _measurements(run) for segment in segments(measurement)]
    frame = key_frame(runs, [len(part.latency_s) for part in parts])
    frame["latency_s"] = np.fromiter(chain.from_iterable(part.latency_s for part in parts), float, len(frame))
    frame["host_s"] = _times((part.host_s, len(part.latency_s)) for part in parts)
    frame["gpu_s"] = _times((part.gpu_s, len(part.latency_s)) for part in parts)
    return frame


def key_frame(runs: Iterable[Run], counts: Sequence[int]) -> pd.DataFrame:
    """The columns that say what a sample is; `counts` holds the number of samples of every segment of the runs, in order."""
    heads = _text_as_categories(pd.DataFrame(list(_heads(runs)), columns=[k for k in KEY_COLUMNS if k != "call"]))
    for column in ("batch_size", "sequence_length", "elements", "operations", "process", "round", "calls_per_sample"):
        heads[column] = heads[column].astype("Int64")
    sizes = np.asarray(counts, dtype=np.int64)
    frame = heads.take(np.repeat(np.arange(len(heads)), sizes)).reset_index(drop=True)
    calls = np.arange(len(frame)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    frame.insert(KEY_COLUMNS.index("call"), "call", calls)
    return frame


def at_workload(samples: pd.DataFrame, workload: Workload) -> pd.DataFrame:
    """The rows of a samples frame that were timed at one workload."""
    is_there = pd.Series(True, index=samples.index)
    for column, value in workload_row(workload).items():
        is_there &= samples[column].isna() if value is None else (samples[column] == value).fillna(False)
    return samples[is_there]


def outcomes_frame(runs: Iterable[Run]) -> pd.DataFrame:
    """One row per outcome: what happened, set-up seconds, memory by kind and facts; what an outcome lacks is missing."""
    return pd.DataFrame([_outcome_row(run, outcome) for run in runs for outcome in run.outcomes])


def workload_row(workload: Workload) -> dict[str, Any]:
    """A workload's part of a row: `WORKLOAD_COLUMNS`."""
    return {column: getattr(workload, column) for column in WORKLOAD_COLUMNS}


def technique_of(variant: str) -> str:
    """Key of the technique a variant key belongs to; uploaded names without a slash stand for themselves."""
    return variant.split("/", 1)[0]


def _measurements(run: Run) -> Iterator[Measurement]:
    return (outcome for outcome in run.outcomes if isinstance(outcome, Measurement))


def _heads(runs: Iterable[Run]) -> Iterator[tuple[Any, ...]]:
    for run in runs:
        for measurement in _measurements(run):
            variant = measurement.variant
            for part in segments(measurement):
                yield (
                    run.id, technique_of(variant), variant, *workload_row(part.workload).values(), run.experiment.device,
                    measurement.process, part.round, part.phase, part.calls_per_sample,
                )  # fmt: skip


def _text_as_categories(frame: pd.DataFrame) -> pd.DataFrame:
    for column in TEXT_COLUMNS:
        values = frame[column].astype("str").where(frame[column].notna())
        frame[column] = pd.Categorical(values, categories=PHASES if column == "phase" else None)
    return frame


def _times(parts: Iterable[tuple[Sequence[float | None] | None, int]]) -> np.ndarray[Any, np.dtype[np.float64]]:
    arrays = [np.full(size, np.nan) if times is None else np.asarray(times, dtype=float) for times, size in parts]
    return np.concatenate(arrays) if arrays else np.empty(0)


def _outcome_row(run: Run, outcome: Any) -> dict[str, Any]:
    row = {
        "experiment": run.id,
        "technique": technique_of(outcome.variant),
        "variant": outcome.variant,
        "device": run.experiment.device,
        "process": outcome.process,
        "workloads": len(outcome.workloads),
    }
    if not isinstance(outcome, Measurement):
        return {**row, "failure": outcome.kind, "stage": outcome.stage, "message": outcome.message}
    times = {key: getattr(outcome, key) for key in ("load_s", "apply_s", "compile_s", "autotune_s", "compile_cache")}
    return {**row, "failure": None, **times, **outcome.memory, **outcome.facts}
