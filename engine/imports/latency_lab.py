"""Our own results -> readings: result CSVs (read losslessly by `engine.results_csv`) and runs stored on this machine.

A row whose verdict forbids a speed-up (did not run, wrong result, ...) becomes a failed one here: what its page does not
show as a result is not ranked against other devices either.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from engine import results_csv
from engine.comparison import ComparisonRow, compare_run
from engine.errors import UserError
from engine.frames import SAMPLE_COLUMNS, WORKLOAD_COLUMNS, samples_frame, workload_row
from engine.imports import readings
from engine.imports.devices import named_devices, names_in
from engine.imports.understanding import Corrections, Imported, Understanding, refuse
from engine.result import Measurement, Run
from engine.results_csv.layout import HEADER_HASH, ROWS_HASH, sha256, take_apart
from engine.results_csv.reading import runs_of
from engine.verdict import Verdict

FORMAT = "Latency Lab result CSV"
_ARM = ("experiment", "variant", *WORKLOAD_COLUMNS)
_OWN_COLUMNS = tuple(name for name in SAMPLE_COLUMNS if name != "device")
"""What a sample says itself; the rest is said of its arm."""
_MEMORY = ("peak_reserved_bytes", "peak_process_bytes")
"""The kind of memory shown beside a device: what the GPU's allocator held, else what the process held."""

matches = results_csv.is_result_csv


def read(file: str, data: bytes, corrections: Corrections) -> Imported:
    """Readings of a result CSV; a note says when it was changed after it was exported."""
    parts = take_apart(data, file)
    is_changed = any(
        parts.hashes.get(kind) != sha256(data) for kind, data in ((HEADER_HASH, parts.header), (ROWS_HASH, parts.rows))
    )
    runs = runs_of(parts)
    del parts  # its copy of the rows is as large as the file
    frame = _frame_of_changed(runs, file) if is_changed else frame_of(runs, file)
    if not frame["latency_s"].notna().any():
        raise refuse(file, "no timing values: every variant failed", "At least one measured variant is needed")
    frame, source = named_devices(frame, file, corrections.devices)
    understood = Understanding(
        file=file,
        format=FORMAT,
        encoding="UTF-8",
        delimiter=",",
        devices=names_in(frame),
        device_source=source,
        rows_read=len(frame),
        rows_kept=len(frame),
        rows_failed=int((frame["status"] == "failed").sum()),
        notes=("Changed after it was exported; `python -m engine verify` says where.",) if is_changed else (),
    )
    return Imported(understood, frame)


def _frame_of_changed(runs: Sequence[Run], file: str) -> pd.DataFrame:
    """The same of a file that somebody edited, which may say what no run ever did; as exported, a failure is a bug."""
    try:
        return frame_of(runs, file)
    except (UserError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        what = f"changed after it was exported, and no run can be like that ({type(error).__name__}: {error})"
        raise refuse(file, what[:300], "Use the file as it was exported") from error


def frame_of(runs: Sequence[Run], source: str) -> pd.DataFrame:
    """Readings of runs: every sample with its arm's circumstances, and one failed row per arm without samples."""
    samples = samples_frame(runs)
    by_id = {run.id: run for run in runs}
    rows = {_key_of(row): row for run in runs for row in compare_run(run)}
    group = samples.groupby(list(_ARM), dropna=False, observed=True, sort=False).ngroup().to_numpy()
    heads = samples.loc[~pd.Series(group).duplicated(), list(_ARM)].astype(object)
    measured = [_key(head) for head in heads.itertuples(index=False, name=None)]
    said = readings.complete(pd.DataFrame([_said_of(rows[key], by_id[key[0]]) for key in measured]))
    columns = {name: said[name].take(group) for name in readings.COLUMNS if name not in _OWN_COLUMNS}
    columns |= {name: samples[name] for name in _OWN_COLUMNS} | {"row": pd.Series(range(1, len(samples) + 1))}
    silent = [_said_of(row, by_id[key[0]]) for key, row in rows.items() if key not in measured and not row.is_twin]
    frame = readings.complete(columns)
    frame = readings.merge([frame, readings.complete(pd.DataFrame(silent))]) if silent else frame
    return frame.assign(source=pd.Categorical.from_codes(np.zeros(len(frame), np.int8), pd.Index([source])))


def _key(values: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(None if pd.isna(value) else value for value in values)


def _key_of(row: ComparisonRow) -> tuple[Any, ...]:
    return (row.run_id, row.variant, *workload_row(row.workload).values())


def _said_of(row: ComparisonRow, run: Run) -> dict[str, Any]:
    """What all readings of one arm share."""
    is_failed = row.verdict.hides_speedup or row.verdict is Verdict.WRONG_RESULT
    status = "failed" if is_failed else "unstable" if row.verdict is Verdict.UNSTABLE else None
    return {
        "experiment": row.run_id,
        "variant": row.variant,
        "technique": row.technique,
        **workload_row(row.workload),
        "device": row.device_name,
        "measure": readings.LATENCY,
        "unit": "seconds",
        "statistic": "sample",
        "setting": "cold caches" if row.workload.operator and run.experiment.cache_mode == "cold" else None,
        "status": status,
        "reason": f"{row.verdict}: {row.reason}" if status else None,
        "remark": ", ".join(badge.text for badge in row.badges) or None,
        "floor_s": row.floor_s,
        "set_up_s": row.setup_cold_s,
        "memory_bytes": next((size for kind in _MEMORY if (size := row.memory.get(kind))), None),
        **_conditions(row, run),
        **_set_up_conditions(row, run),
    }


def _set_up_conditions(row: ComparisonRow, run: Run) -> dict[str, Any]:
    """The compile cache that the arm's first process set found, and whose weights the model had; None where nobody knows.

    What compiles nothing has the run's cache state too: it says what the run's set-up times mean.
    """
    badges = {badge.key for badge in row.badges}
    measured = [each for each in run.outcomes if isinstance(each, Measurement)]
    arm = [each for each in measured if each.variant == row.variant and row.workload in each.workloads]
    states = _states(arm) or _states(measured)
    cache = "warm" if "warm_cache" in badges or states == {"warm"} else "cold" if "cold" in states else None
    notes = [str(note) for each in arm if (note := each.facts.get("model_note"))]
    weights = "pretrained" if notes and all(note.startswith("real weights") for note in notes) else None
    return {
        "cache_state": None if "not_cold" in badges else cache,
        "weights": "random" if "random_weights" in badges else weights,
    }


def _states(measurements: Iterable[Measurement]) -> set[str]:
    return {each.compile_cache for each in measurements if each.compile_cache}


def _conditions(row: ComparisonRow, run: Run) -> dict[str, Any]:
    conditions: dict[str, Any] = {
        "protocol": run.experiment.protocol.name,
        "precision": run.experiment.matmul_precision,
    }
    if run.environment is None:
        return conditions
    device = run.environment.device
    return conditions | {
        "torch": run.environment.machine.versions.get("torch"),
        "backend": device.backend,
        "driver": device.driver,
        # Threads decide on a CPU only; a GPU's host may have any number of them.
        "threads": str(run.environment.threads) if device.backend == "cpu" else None,
    }
