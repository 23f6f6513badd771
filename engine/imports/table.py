"""UTF-8 text -> a table of text cells: delimiter, header, comments, stacked tables, ragged and cut-off rows."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, takewhile

import pandas as pd

from engine.errors import UnreadableFile
from engine.imports import delimiters, large_table, stacked_tables
from engine.imports.numbers import looks_numeric
from engine.imports.stacked_tables import begins_another
from engine.imports.text import Text
from engine.imports.understanding import Corrections, SetAside, refuse

ROW_BY_ROW_BYTES = 8 * 2**20
"""Larger files are read by pyarrow, fifty times faster but with one table to a file."""
MAX_COLUMNS = 500
MAX_HEADER = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A text table. `cells` has one categorical column of text per column of the file; its index is the row number from 1."""

    cells: pd.DataFrame
    delimiter: str
    has_header: bool
    comments: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    set_aside: tuple[SetAside, ...] = ()

    @property
    def names(self) -> list[str]:
        """Column names."""
        return [str(name) for name in self.cells]

    def rows(self) -> Iterator[tuple[int, dict[str, str]]]:
        """Row number and cells by column name, for formats whose files are small."""
        for number, row in zip(self.cells.index, self.cells.astype(object).to_dict("records"), strict=True):
            yield int(number), {str(name): str(cell) for name, cell in row.items()}

    @property
    def rows_read(self) -> int:
        """Data rows of the file, those set aside included."""
        return len(self.cells) + len(self.set_aside)


@dataclass(slots=True)
class _Part:
    """One of the tables stacked in a file, while its rows are collected. `numbers` are their row numbers in the file."""

    header: list[str]
    rows: list[list[str | None]] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    short_rows: int = 0


def read(file: str, text: Text, corrections: Corrections) -> Table:
    """Split `text` into a table; raises `UnreadableFile` for a table without rows or with too many columns."""
    sample = delimiters.head(text.utf8)
    delimiter = corrections.delimiter or delimiters.find_delimiter(sample)
    try:
        first = _first_row(file, sample, delimiter)
        has_header = corrections.has_header
        if has_header is None:
            has_header = not any(map(looks_numeric, first))
        if len(text.utf8) > ROW_BY_ROW_BYTES:
            table = _read_large(file, text.utf8, delimiter, first, has_header)
        else:
            table = _read_rows(text.utf8, delimiter, has_header)
    except csv.Error as error:
        raise refuse(file, f"not a text table: {error}", "Check that every quote is closed") from error
    if table.cells.empty:
        raise refuse(file, "header only" if has_header else "no rows", "At least one row of values is needed")
    return table


def _first_row(file: str, sample: str, delimiter: str) -> list[str]:
    rows = (row for row in delimiters.split(sample, delimiter) if row and not delimiters.is_comment(row))
    first = next(rows, None)
    if first is None:
        raise refuse(file, "only comment lines", "A table with a header row and numbers is accepted")
    if len(first) > MAX_COLUMNS:
        raise refuse(
            file, f"{len(first):,} columns are above the limit of {MAX_COLUMNS}", "Send the timing columns only"
        )
    return first


def _read_large(file: str, utf8: bytes, delimiter: str, first: list[str], has_header: bool) -> Table:
    before = list(takewhile(_is_skipped, delimiters.head(utf8).split("\n")))
    names, start = _names(first, has_header), sum(len(line.encode()) + 1 for line in before)
    if has_header and (number := stacked_tables.find_line(utf8, delimiter, start, names)):
        raise _second_table(file, f"line {number:,}")
    cells, dropped = large_table.read(file, utf8, delimiter, names, skip_rows=len(before) + has_header)
    if has_header:
        repeated, reordered = stacked_tables.find_rows(cells)
        if len(reordered):
            raise _second_table(file, f"row {reordered[0]:,}")
        cells = cells.drop(index=repeated) if len(repeated) else cells
    return Table(
        cells=cells,
        delimiter=delimiter,
        has_header=has_header,
        comments=tuple(line for line in before if line.strip()),
        set_aside=tuple(SetAside(row=row, column="", value=value, reason=reason) for row, value, reason in dropped),
    )


def _second_table(file: str, where: str) -> UnreadableFile:
    limit = ROW_BY_ROW_BYTES // 2**20
    what = f"another table begins at {where}, and above {limit} MB a file may hold one"
    return refuse(file, what, "Split the file there")


def _is_skipped(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#")


def _read_rows(utf8: bytes, delimiter: str, has_header: bool) -> Table:
    lines = list(delimiters.split(utf8.decode(), delimiter))
    comments = tuple(delimiter.join(row) for row in lines if delimiters.is_comment(row))
    parts, set_aside = _collect([[] if delimiters.is_comment(row) else row for row in lines], has_header)
    if not utf8.endswith(b"\n"):
        set_aside += _cut_off_row(parts[-1])
    cells = pd.concat([pd.DataFrame(part.rows, part.numbers, part.header, dtype=object) for part in parts])
    return Table(
        cells=cells.fillna("").astype("category"),
        delimiter=delimiter,
        has_header=has_header,
        comments=comments,
        notes=_notes(parts),
        set_aside=tuple(set_aside),
    )


def _collect(lines: list[list[str]], has_header: bool) -> tuple[list[_Part], list[SetAside]]:
    """Rows by table. A further header starts another table; the header again is no row."""
    parts: list[_Part] = []
    set_aside: list[SetAside] = []
    number = 0
    previous: list[str] = []
    for row, following in zip(lines, [*lines[1:], []], strict=True):
        starts = not parts or (has_header and begins_another(row, previous, following, parts[-1].header))
        previous = row
        if row and starts:
            parts.append(_Part(_names(row, has_header)))
        is_header = has_header and bool(row) and (starts or _names(row, True) == parts[-1].header)
        if not row or is_header:
            continue
        number += 1
        set_aside += _add(parts[-1], number, row)
    return parts, set_aside


def _add(part: _Part, number: int, row: list[str]) -> list[SetAside]:
    width = len(part.header)
    if any(cell.strip() for cell in row[width:]):
        reason = f"the row has {len(row)} cells, the header {width}"
        return [SetAside(row=number, column="", value=row[width], reason=reason)]
    part.short_rows += len(row) < width
    part.numbers.append(number)
    part.rows.append([*row[:width], *[None] * (width - len(row))])
    return []


def _cut_off_row(part: _Part) -> list[SetAside]:
    """A last row without line end and with fewer cells than the header: writing the file stopped inside it."""
    if not part.rows or part.rows[-1][-1] is not None:
        return []
    part.short_rows -= 1
    cells = [cell for cell in part.rows.pop() if cell is not None]
    reason = "the file ends inside this row: it was cut off"
    return [SetAside(row=part.numbers.pop(), column=part.header[len(cells) - 1], value=cells[-1], reason=reason)]


def _names(row: list[str], has_header: bool) -> list[str]:
    """Column names, each once: "Latency (ms)" twice becomes "Latency (ms)" and "Latency (ms) #2"."""
    names = [cell.strip()[:MAX_HEADER] if has_header else "" for cell in row]
    names = [name or f"column {position}" for position, name in enumerate(names, start=1)]
    seen: dict[str, int] = {}
    unique = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        unique.append(name if seen[name] == 1 else f"{name} #{seen[name]}")
    return (
        unique
        if len(set(unique)) == len(unique)
        else [f"{name} ({place})" for place, name in enumerate(names, start=1)]
    )


def _notes(parts: list[_Part]) -> tuple[str, ...]:
    notes = []
    if len(parts) > 1:
        rows = ", ".join(str(len(part.rows)) for part in parts)
        notes.append(f"{len(parts)} tables in one file, joined by column name ({rows} rows).")
    if short := sum(part.short_rows for part in parts):
        notes.append(
            f"{short} {'rows have' if short > 1 else 'row has'} fewer cells than the header; the rest is empty."
        )
    doubled = [name for name in chain.from_iterable(part.header for part in parts) if " #" in name]
    if doubled:
        notes.append(f"Columns of the same name were numbered: {', '.join(doubled)}.")
    return tuple(notes)
