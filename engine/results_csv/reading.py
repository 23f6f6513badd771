"""The bytes of a result CSV back to runs, sample for sample."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pacsv
from numpy.typing import NDArray

from engine.errors import InvalidSpec, UnreadableFile, UserError
from engine.frames import KEY_COLUMNS, SAMPLE_COLUMNS, TEXT_COLUMNS, TIME_COLUMNS, key_frame, segments
from engine.result import Block, Failure, Measurement, Outcome, PointSetUp, Run
from engine.results_csv.layout import OUTCOME, RUN, Parts, Row, Source, take_apart
from engine.serial import structure

_TEXT = pa.dictionary(pa.int32(), pa.string())
_TYPES = {
    column: _TEXT if column in TEXT_COLUMNS else pa.float64() if column in TIME_COLUMNS else pa.int64()
    for column in SAMPLE_COLUMNS
}


_NO_RUN = (UserError, AttributeError, LookupError, OverflowError, TypeError, ValueError)
"""What a header that was edited by hand may cause while it is taken for a run."""


def read(source: Source, name: str | None = None) -> list[Run]:
    """Every run of a result CSV; `name` is what messages call the file. Raises `UnreadableFile` with line or row.

    Hashes are not checked here: a file whose numbers were changed reads as what it now says. `verify` tells.
    """
    return runs_of(take_apart(source, name))


def runs_of(parts: Parts) -> list[Run]:
    """Runs of a file already taken apart."""
    try:
        runs = [structure(value, Run) for value in parts.values.get(RUN, [])]
        outcomes = [_outcome(value) for value in parts.values.get(OUTCOME, [])]
        skeletons = [
            replace(run, outcomes=tuple(outcome for owner, outcome, _ in outcomes if owner == run.id)) for run in runs
        ]
        counts = {run.id: [n for owner, _, numbers in outcomes if owner == run.id for n in numbers] for run in runs}
        ordered = [count for run in runs for count in counts[run.id]]
        if sum(ordered) > len(parts.rows):
            raise InvalidSpec(f"{sum(ordered):,} samples in {len(parts.rows):,} bytes of rows")
        expected = key_frame(skeletons, ordered)
    except _NO_RUN as error:
        raise UnreadableFile(
            f"{parts.name}: its header does not describe a run ({error}). Use the original file."
        ) from error
    times = _Times(_in_order(parts, expected), iter(ordered))
    return [replace(run, outcomes=tuple(times.put_back(outcome) for outcome in run.outcomes)) for run in skeletons]


def _outcome(value: Row) -> tuple[str, Outcome, list[int]]:
    if "failure" in value:
        return value["run"], structure(value["failure"], Failure), []
    measurement, counts = structure(value["measurement"], Measurement), value["counts"]
    if len(counts) != len(list(segments(measurement))) or any(type(count) is not int or count < 0 for count in counts):
        raise InvalidSpec(f"counts of {measurement.variant} do not fit its blocks")
    return value["run"], measurement, counts


class _Times:
    """Hands the rows' times out to the places they were taken from, in the order of `engine.frames.segments`."""

    def __init__(self, rows: pd.DataFrame, counts: Iterator[int]) -> None:
        self._columns = {column: rows[column].tolist() for column in TIME_COLUMNS}
        self._counts = counts
        self._start = 0

    def put_back(self, outcome: Outcome) -> Outcome:
        """The outcome with its times."""
        if not isinstance(outcome, Measurement):
            return outcome
        points = tuple(self._point(point) for point in outcome.points)
        return replace(outcome, points=points, blocks=tuple(self._block(block) for block in outcome.blocks))

    def _point(self, point: PointSetUp) -> PointSetUp:
        first, warmup = self._next(), self._next()
        return replace(point, first_calls_s=self._take("latency_s", first), warmup_s=self._take("latency_s", warmup))

    def _block(self, block: Block) -> Block:
        place = self._next()
        gpu = None if block.gpu_s is None else self._take("gpu_s", place)
        return replace(
            block,
            latency_s=self._take("latency_s", place),
            host_s=None if block.host_s is None else self._take("host_s", place),
            gpu_s=gpu and tuple(None if math.isnan(value) else value for value in gpu),
        )

    def _next(self) -> slice:
        place = slice(self._start, self._start + next(self._counts))
        self._start = place.stop
        return place

    def _take(self, column: str, place: slice) -> tuple[float, ...]:
        return tuple(self._columns[column][place])


def _in_order(parts: Parts, expected: pd.DataFrame) -> pd.DataFrame:
    """The file's rows in the order the header names them; rows that were sorted in between are put back."""
    rows = _rows(parts)
    # Column by column: a second copy of a million rows' keys would double what reading needs.
    if len(rows) != len(expected) or not all(_is_same(expected[column], rows[column]) for column in KEY_COLUMNS):
        keys, found = (pd.DataFrame({c: _comparable(frame[c]) for c in KEY_COLUMNS}) for frame in (expected, rows))
        rows = keys.merge(pd.concat([found, rows[list(TIME_COLUMNS)]], axis=1), how="left", on=list(KEY_COLUMNS))
        missing = int(rows["latency_s"].isna().sum())
        if missing or len(found) != len(keys) or len(rows) != len(keys):
            raise UnreadableFile(
                f"{parts.name}: its header names {len(keys):,} samples, of which {missing:,} are missing among its "
                f"{len(found):,} rows. The file was cut or edited; use the original file."
            )
    return rows


def _rows(parts: Parts) -> pd.DataFrame:
    options = pacsv.ConvertOptions(
        column_types=_TYPES, include_columns=list(SAMPLE_COLUMNS), strings_can_be_null=True, null_values=[""]
    )
    try:
        table = pacsv.read_csv(io.BytesIO(parts.rows), convert_options=options)
    except (pa.ArrowInvalid, pa.ArrowKeyError) as error:
        raise UnreadableFile(f"{parts.name}: its rows cannot be read ({error}). Use the original file.") from error
    frame: pd.DataFrame = table.to_pandas()
    for column in TEXT_COLUMNS:
        texts = frame[column].cat.categories.str.removeprefix("'")
        if not texts.is_unique:
            text = texts[texts.duplicated()][0]
            raise UnreadableFile(
                f"{parts.name}: column {column} holds {text!r} with and without an apostrophe. Use the original file."
            )
        frame[column] = frame[column].cat.rename_categories(list(texts))
    for column in TIME_COLUMNS:
        _refuse_impossible(parts.name, column, frame[column].to_numpy(float))
    return frame


def _refuse_impossible(name: str, column: str, values: NDArray[np.float64]) -> None:
    """Every latency is a number above zero; the times beside it may be unknown, and zero, but never less or infinite."""
    is_latency = column == "latency_s"
    is_out = ~(values > 0) | np.isinf(values) if is_latency else (values < 0) | np.isinf(values)
    for row in np.flatnonzero(is_out)[:1]:
        found = "empty" if np.isnan(values[row]) else f"{values[row]:g}"
        allowed = "seconds above zero" if is_latency else "seconds"
        raise UnreadableFile(f"{name}, row {row + 1}: {column} is {found}, expected {allowed}. Use the original file.")


def _is_same(expected: pd.Series[Any], found: pd.Series[Any]) -> bool:
    """Whether a key column says the same in every row. Text by its codes: a million strings take seconds to compare."""
    if expected.name not in TEXT_COLUMNS:
        return np.array_equal(_comparable(expected), _comparable(found))
    recoded = found.cat.set_categories(expected.cat.categories)
    has_other_words = int(recoded.isna().sum()) != int(found.isna().sum())
    return not has_other_words and np.array_equal(recoded.cat.codes, expected.cat.codes)


def _comparable(column: pd.Series[Any]) -> NDArray[Any]:
    """A key column in one representation, whatever its dtype: text without missing values, numbers as floats."""
    if column.name in TEXT_COLUMNS:
        text: NDArray[Any] = column.astype(object).fillna("").to_numpy()
        return text
    return column.astype("Float64").fillna(-1).to_numpy(dtype=float)
