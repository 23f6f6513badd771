"""Large regular tables by pyarrow: all cells as categorical text, a million rows in about a second."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.csv as arrow_csv

from engine.imports.understanding import refuse


def read(
    file: str, utf8: bytes, delimiter: str, names: list[str], *, skip_rows: int
) -> tuple[pd.DataFrame, list[tuple[int, str, str]]]:
    """Cells with the row number as index, and the rows whose width differs from the header's: (row, text, reason)."""
    dropped: list[tuple[int, str, str]] = []

    def drop(row: Any) -> str:
        number = (row.number or 0) - skip_rows
        dropped.append((number, row.text, f"the row has {row.actual_columns} cells, the header {row.expected_columns}"))
        return "skip"

    # One thread: only then does pyarrow know the number of a row that it drops.
    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(utf8),
            read_options=arrow_csv.ReadOptions(column_names=names, skip_rows=skip_rows, use_threads=False),
            parse_options=arrow_csv.ParseOptions(
                delimiter=delimiter, newlines_in_values=True, invalid_row_handler=drop
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.dictionary(pa.int32(), pa.string())), strings_can_be_null=False
            ),
        )
    except pa.ArrowInvalid as error:
        raise refuse(file, f"not a text table: {error}", "Check that every quote is closed") from error
    cells = table.unify_dictionaries().to_pandas()
    cells.index = _numbers(len(cells), [row for row, _, _ in dropped])
    return cells, dropped


def _numbers(kept: int, dropped: list[int]) -> pd.Index[Any]:
    numbers = pd.RangeIndex(1, kept + len(dropped) + 1)
    return numbers.delete([row - 1 for row in dropped]) if dropped else numbers
