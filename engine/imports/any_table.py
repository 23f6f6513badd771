"""Any table of times or rates: columns by their roles -> readings. Nothing is guessed: open questions leave the frame empty."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import pandas as pd

from engine.errors import UnreadableFile
from engine.imports import readings, roles
from engine.imports.cold_calls import separate
from engine.imports.devices import named_devices, names_in
from engine.imports.numbers import find_decimal_mark
from engine.imports.table import Table
from engine.imports.table_readings import TableReader
from engine.imports.understanding import (
    VALUE_ROLES,
    Column,
    Corrections,
    Imported,
    Question,
    Understanding,
    quoted,
    refuse,
)

FORMAT = "table of times"
_MARK_SAMPLE = 2000
_MAX_COMMENTS = 5
_NEEDED = "At least one row with a latency above zero is needed"


def read(file: str, table: Table, encoding: str, corrections: Corrections) -> Imported:
    """Readings of a table, or what has to be asked first; raises `UnreadableFile` when nothing in it can be used."""
    columns = roles.assign(file, table, corrections)
    mark = corrections.decimal_mark or _decimal_mark(table, columns)
    understood = Understanding(
        file=file,
        format=FORMAT,
        encoding=encoding,
        delimiter=table.delimiter,
        decimal_mark=mark or "?",
        has_header=table.has_header,
        columns=columns,
        rows_read=table.rows_read,
        set_aside=table.set_aside,
        cells_set_aside=len(table.set_aside),
        notes=(*(f"Comment line: {comment[:200]}" for comment in table.comments[:_MAX_COMMENTS]), *table.notes),
        questions=_questions(table, columns, mark),
    )
    if understood.questions:
        return Imported(understood, readings.empty())
    return _finish(understood, TableReader(table, columns, mark or "."), corrections)


def _decimal_mark(table: Table, columns: tuple[Column, ...]) -> str | None:
    used = [column.name for column in columns if column.role in (*VALUE_ROLES, "memory", "set_up")]
    names = used or table.names
    return find_decimal_mark(text for name in names for text in islice(table.cells[name].cat.categories, _MARK_SAMPLE))


def _questions(table: Table, columns: tuple[Column, ...], mark: str | None) -> tuple[Question, ...]:
    questions = roles.questions(table, columns)
    if mark is None:
        text = "Is the comma in this file's numbers a decimal mark (1,5 is one and a half) or does it group thousands?"
        questions += (Question(kind="decimal_mark", text=text, options=(",", ".")),)
    return questions


def _finish(understood: Understanding, reader: TableReader, corrections: Corrections) -> Imported:
    frame = reader.read()
    if not frame["status"].isna().any():
        raise _no_values(understood.file, reader)
    frame, cold = separate(frame)
    frame, source = named_devices(frame, understood.file, corrections.devices)
    frame["source"] = pd.Series(understood.file, index=frame.index).astype("category")
    return Imported(
        replace(
            understood,
            devices=names_in(frame),
            device_source=source,
            rows_kept=int(frame["row"].nunique()),
            rows_failed=int(frame.loc[frame["status"].notna(), "row"].nunique()),
            cells_set_aside=reader.cells_set_aside,
            set_aside=tuple(reader.set_aside),
            notes=(*understood.notes, *cold),
        ),
        frame,
    )


def _no_values(file: str, reader: TableReader) -> UnreadableFile:
    if not reader.set_aside:
        return refuse(file, "no timing values", _NEEDED)
    first = reader.set_aside[0]
    what = f"row {first.row}, column {quoted(first.column)} is {quoted(first.value)}: {first.reason}"
    return refuse(file, f"no timing values; {what}", _NEEDED)
