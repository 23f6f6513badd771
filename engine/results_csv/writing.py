"""Runs to the bytes of a result CSV."""

from __future__ import annotations

import contextlib
import io
import math
import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import pandas as pd
import pyarrow as pa
import pyarrow.csv as pacsv

from engine.comparison import compare_run, plain_row
from engine.errors import InvalidSpec, StorageError
from engine.frames import SAMPLE_COLUMNS, TEXT_COLUMNS, samples_frame, segments
from engine.result import Measurement, Outcome, Run
from engine.results_csv.layout import (
    FORMAT,
    FORMULA_STARTS,
    HEADER_HASH,
    MAGIC,
    OUTCOME,
    ROWS_HASH,
    RUN,
    STATISTICS,
    Row,
    header_line,
    sha256,
)
from engine.serial import unstructure


def write(runs: Sequence[Run], target: str | Path | IO[bytes]) -> None:
    """Write runs to a path (whole or not at all) or a binary stream; raises `StorageError` when the path cannot be written."""
    data = to_bytes(runs)
    if not isinstance(target, str | Path):
        target.write(data)
        return
    path = Path(target)
    try:
        _replace(path, data)
    except OSError as error:
        raise StorageError(
            f"{path} cannot be written: {error.strerror}. Choose another folder or free some space."
        ) from error


def to_bytes(runs: Sequence[Run]) -> bytes:
    """The whole file; raises `InvalidSpec` when two runs share an id, since rows name their run by it."""
    ids = [run.id for run in runs]
    if len(set(ids)) != len(ids):
        raise InvalidSpec(f"Runs to export must have different ids, got {', '.join(ids)}. Leave the duplicates out.")
    header = "".join(_header(runs)).encode()
    rows = _rows(runs)
    hashes = f"# {HEADER_HASH}: {sha256(header)}\n# {ROWS_HASH}: {sha256(rows)}\n"
    return header + hashes.encode() + rows


def statistics(run: Run) -> list[Row]:
    """Every number as shown, and the verdict: what `verify` computes again from the rows."""
    return [{key: _known(value) for key, value in plain_row(row).items()} for row in compare_run(run)]


def without_times(outcome: Outcome) -> Outcome:
    """The outcome without what the rows hold; whether host and GPU times exist at all stays visible."""
    if not isinstance(outcome, Measurement):
        return outcome
    return replace(
        outcome,
        points=tuple(replace(point, first_calls_s=(), warmup_s=()) for point in outcome.points),
        blocks=tuple(
            replace(
                block,
                latency_s=(),
                host_s=None if block.host_s is None else (),
                gpu_s=None if block.gpu_s is None else (),
            )
            for block in outcome.blocks
        ),
    )


def _header(runs: Sequence[Run]) -> Iterator[str]:
    yield f"# {MAGIC}: {FORMAT}\n"
    for run in runs:
        yield header_line(RUN, unstructure(replace(run, outcomes=())))
        for outcome in run.outcomes:
            yield header_line(OUTCOME, {"run": run.id, **_outcome(outcome)})
        for row in statistics(run):
            yield header_line(STATISTICS, row)


def _outcome(outcome: Outcome) -> Row:
    if not isinstance(outcome, Measurement):
        return {"failure": unstructure(outcome)}
    counts = [len(part.latency_s) for part in segments(outcome)]
    return {"measurement": unstructure(without_times(outcome)), "counts": counts}


def _rows(runs: Sequence[Run]) -> bytes:
    frame = samples_frame(runs)
    for column in TEXT_COLUMNS:
        frame[column] = frame[column].cat.rename_categories(_neutralised)
    table = pa.Table.from_pandas(frame[list(SAMPLE_COLUMNS)], preserve_index=False)
    buffer = io.BytesIO(",".join(SAMPLE_COLUMNS).encode() + b"\n")
    buffer.seek(0, io.SEEK_END)
    pacsv.write_csv(table, buffer, pacsv.WriteOptions(include_header=False))
    return buffer.getvalue()


def _neutralised(cell: str) -> str:
    return "'" + cell if cell.startswith(FORMULA_STARTS) else cell


def _known(value: Any) -> Any:
    """JSON has no NaN: unknown is null. Numbers of numpy and pandas become plain ones."""
    if value is None or value is pd.NA or (isinstance(value, float) and not math.isfinite(value)):
        return None
    return value


def _replace(path: Path, data: bytes) -> None:
    """A reader, or a machine that stops half-way, never sees half a file."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(temporary).unlink()
        raise
