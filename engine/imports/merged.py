"""A comparison set's readings <-> one CSV: a `#` line with the format version, then the readings, losslessly.

A text cell that a spreadsheet would take for a formula starts with an apostrophe in the file and loses it on reading.
"""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as arrow_csv

from engine.imports import readings
from engine.imports.devices import named_devices, names_in
from engine.imports.understanding import Corrections, Imported, Understanding, quoted, refuse
from engine.results_csv.layout import FORMULA_STARTS

FORMAT = "Latency Lab comparison CSV"
_MAGIC = b"# latency-lab comparison: 1\n"
_TYPES = {
    name: pa.dictionary(pa.int32(), pa.string())
    if name in readings.TEXT_COLUMNS
    else pa.int64()
    if name in readings.NUMBER_COLUMNS
    else pa.float64()
    for name in readings.COLUMNS
}
_OUR_FILE = "Use the file as it was exported"


def matches(data: bytes) -> bool:
    """Whether a file is an exported comparison."""
    return data.removeprefix(b"\xef\xbb\xbf").startswith(_MAGIC.strip())


def to_bytes(frame: pd.DataFrame) -> bytes:
    """The readings as a CSV file; columns that hold nothing are left out."""
    used = frame.dropna(axis="columns", how="all")
    safe = used.assign(
        **{name: _neutralised(used[name]) for name in used.columns.intersection(list(readings.TEXT_COLUMNS))}
    )
    buffer = io.BytesIO()
    buffer.write(_MAGIC)
    arrow_csv.write_csv(pa.Table.from_pandas(safe, preserve_index=False), buffer)
    return buffer.getvalue()


def read(file: str, data: bytes, corrections: Corrections) -> Imported:
    """Readings of an exported comparison, exactly as they were."""
    try:
        table = arrow_csv.read_csv(
            io.BytesIO(data.removeprefix(b"\xef\xbb\xbf")),
            read_options=arrow_csv.ReadOptions(skip_rows=1),
            parse_options=arrow_csv.ParseOptions(newlines_in_values=True),
            convert_options=arrow_csv.ConvertOptions(column_types=_TYPES, null_values=[""], strings_can_be_null=True),
        )
        names = table.column_names
    except (pa.ArrowInvalid, UnicodeDecodeError) as error:
        raise refuse(file, f"its rows cannot be read ({error})", _OUR_FILE) from error
    if missing := {"device", "variant", "measure"} - set(names):
        raise refuse(file, f"columns are missing: {', '.join(sorted(missing))}", _OUR_FILE)
    if len(set(names)) < len(names):
        raise refuse(file, "two columns of one name", _OUR_FILE)
    known = table.select([name for name in names if name in readings.COLUMNS])
    frame = readings.complete(_restored(file, known.unify_dictionaries().to_pandas()))
    _refuse_impossible(file, frame)
    if not (frame["latency_s"].notna() | frame["rate"].notna()).any():
        raise refuse(file, "no timing values", _OUR_FILE)
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
    )
    return Imported(understood, frame)


def _neutralised(column: pd.Series) -> pd.Series:
    return column.cat.rename_categories(lambda cell: f"'{cell}" if cell.startswith(FORMULA_STARTS) else cell)


def _restored(file: str, frame: pd.DataFrame) -> pd.DataFrame:
    for name in frame.columns.intersection(list(readings.TEXT_COLUMNS)):
        texts = frame[name].cat.categories.str.removeprefix("'")
        if not texts.is_unique:
            text = texts[texts.duplicated()][0]
            raise refuse(file, f"column {name} holds {quoted(text)} with and without an apostrophe", _OUR_FILE)
        frame[name] = frame[name].cat.rename_categories(list(texts))
    return frame


def _refuse_impossible(file: str, frame: pd.DataFrame) -> None:
    """No time and no rate is zero, negative or infinite; everything else that is measured is at least finite."""
    for name in readings.FLOAT_COLUMNS:
        values = frame[name].to_numpy(float)
        is_value = name in ("latency_s", "rate")
        is_out = np.isinf(values) | (values < 0) | ((values == 0) & is_value)
        for row in np.flatnonzero(is_out)[:1]:
            allowed = "a number above zero" if is_value else "a number, zero or above"
            raise refuse(file, f"row {row + 1}: {name} is {values[row]:g}, expected {allowed}", _OUR_FILE)
