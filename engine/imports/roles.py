"""Which column means what: names first, then the cells, then a person's corrections. What cannot be known is asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice

import pandas as pd

from engine.imports.headers import TECHNIQUE_WORDS, Heading, may_be_times, understand
from engine.imports.numbers import looks_numeric, parse_cell
from engine.imports.table import Table
from engine.imports.understanding import ROLES, VALUE_ROLES, Column, Corrections, Question, quoted, refuse
from engine.imports.units import BYTE_UNITS, RATE_UNITS, TIME_UNITS, UNITS, words

_LOOKED_AT = 500
"""Different cells looked at to tell a column of numbers from a column of words."""
UNIT_CHOICES = {
    "latency": TIME_UNITS,
    "rate": RATE_UNITS,
    "technique_values": (*TIME_UNITS, *RATE_UNITS),
    "memory": BYTE_UNITS,
    "set_up": TIME_UNITS,
}
ALL_UNITS = (*TIME_UNITS, *RATE_UNITS, *BYTE_UNITS)
_MAX_SETTING_VALUES = 30
"""A column of words with more different values than this is a remark, not a setting that keeps rows apart."""
_TEXT_ROLES = ("device", "technique", "model", "operator", "dtype")


def assign(file: str, table: Table, corrections: Corrections) -> tuple[Column, ...]:
    """The columns with their roles; raises `UnreadableFile` when no column can hold times."""
    headings = [understand(name) if table.has_header else Heading(name, None, None) for name in table.names]
    numeric = [_is_numeric(table.cells[name]) for name in table.names]
    columns = [
        _column(table.cells[name], heading, is_number, position == 0)
        for position, (name, heading, is_number) in enumerate(zip(table.names, headings, numeric, strict=True))
    ]
    columns = _wide(_with_technique(columns, table.cells), headings, numeric)
    columns = _once([_corrected(column, corrections) for column in columns])
    columns = [_used(column, columns, table.cells) for column in columns]
    if not corrections.roles:
        _refuse_without_times(file, table, columns, headings)
    return tuple(columns)


def _column(cells: pd.Series, heading: Heading, is_number: bool, is_first: bool) -> Column:
    name, role = str(cells.name), heading.role
    if (
        role in (*VALUE_ROLES, "memory", "set_up", "batch_size", "sequence_length", "elements", "call")
        and not is_number
    ):
        role = "ignored"
    if role in ("process", "round") and not is_number:
        role = None
    if role == "device" and is_number:
        role = "ignored"
    if role is None:
        role = "ignored" if is_number or _is_row_number(name, is_first) or not _is_setting(cells) else "setting"
    unit = heading.unit.key if heading.unit and role in (*VALUE_ROLES, "memory", "set_up") else None
    return Column(name=name, role=role, unit=unit, statistic=heading.statistic, example=_example(cells))


def _example(cells: pd.Series) -> str:
    return next((text[:40] for text in cells.cat.categories if text.strip()), "")


def _texts(cells: pd.Series) -> Iterator[str]:
    return islice((text for text in cells.cat.categories if text.strip()), _LOOKED_AT)


def _is_numeric(cells: pd.Series) -> bool:
    """Numbers, and at most words that stand for a missing or failed one."""
    return any(looks_numeric(text) for text in _texts(cells))


def _is_row_number(name: str, is_first: bool) -> bool:
    return is_first and (name in ("column 1", "Unnamed: 0", "index"))


def _is_setting(cells: pd.Series) -> bool:
    texts = [text for text in cells.cat.categories if text.strip()]
    return 0 < len(texts) <= _MAX_SETTING_VALUES and words(str(cells.name))[:1] != ["column"]


def _wide(columns: list[Column], headings: list[Heading], numeric: list[bool]) -> list[Column]:
    """Tables with one column of values per technique: "eager, compile, graphs" or "Fused (GB/s), PyTorch (GB/s)"."""
    roles = {column.role for column in columns}
    if roles & {"technique", "latency"}:
        return columns
    return [
        _technique_values(column, heading) if is_number and _names_a_technique(heading) else column
        for column, heading, is_number in zip(columns, headings, numeric, strict=True)
    ]


def _names_a_technique(heading: Heading) -> bool:
    known = set(words(heading.name)) & TECHNIQUE_WORDS
    measured = heading.role is None and heading.unit is not None and heading.unit.kind not in ("bytes", "fraction")
    return bool(known and heading.role in (None, "set_up", "torch")) or bool(measured)


def _technique_values(column: Column, heading: Heading) -> Column:
    unit = heading.unit.key if heading.unit else None
    return replace(column, role="technique_values", unit=unit, statistic="sample")


def misfit(name: str, role: str, unit: object) -> str:
    """Why a unit cannot be that of a column of this role, in one sentence; empty where it can, or where none is given."""
    allowed = UNIT_CHOICES.get(role)
    if allowed is None or not isinstance(unit, str) or unit in allowed:
        return ""
    return f'{quoted(name)}: {unit} is no unit of "{ROLES[role]}". Choose one of {", ".join(allowed)}.'


def _corrected(column: Column, corrections: Corrections) -> Column:
    """The column as a person says it is; a unit of another kind is none, so that it is asked for again."""
    role = corrections.roles.get(column.name, column.role)
    unit = corrections.units.get(column.name, column.unit)
    return replace(column, role=role, unit=None if misfit(column.name, role, unit) else unit)


def _with_technique(columns: list[Column], cells: pd.DataFrame) -> list[Column]:
    """Without a technique column, a backend column that tells rows apart (CUDA, OpenCL) is one."""
    if any(column.role == "technique" for column in columns):
        return columns
    return [
        replace(column, role="technique") if column.role == "backend" and cells[column.name].nunique() > 1 else column
        for column in columns
    ]


def _used(column: Column, columns: list[Column], cells: pd.DataFrame) -> Column:
    """A rate without a unit beside latencies is not worth a question: it is not used until someone gives it a unit."""
    has_latency = any(other.role == "latency" for other in columns)
    return (
        replace(column, role="ignored")
        if column.role == "rate" and has_latency and not has_unit(cells[column.name], column)
        else column
    )


def _once(columns: list[Column]) -> list[Column]:
    """A second column of a role that a row can have only once keeps rows apart as a setting, or is not used."""
    taken: set[str] = set()
    result = []
    for column in columns:
        role = column.role
        if role in taken and role not in (*VALUE_ROLES, "setting", "ignored"):
            role = "setting" if role in _TEXT_ROLES else "ignored"
        taken.add(role)
        result.append(replace(column, role=role))
    return result


def _refuse_without_times(file: str, table: Table, columns: list[Column], headings: list[Heading]) -> None:
    if any(column.role in VALUE_ROLES for column in columns):
        return
    numeric = [_is_numeric(table.cells[name]) for name in table.names]
    if not any(numeric):
        raise refuse(
            file, f"no timing values{_first_text(table, headings)}", "At least one column of latencies is needed"
        )
    possible = [is_number and may_be_times(heading) for heading, is_number in zip(headings, numeric, strict=True)]
    if table.has_header and not any(possible):
        names = ", ".join(column.name[:40] for column in columns[:12])
        raise refuse(file, f"no timing column among {names}", "A column named like latency, time or p50 is needed")


def _first_text(table: Table, headings: list[Heading]) -> str:
    """Where a column named like a time holds something else."""
    for name, heading in zip(table.names, headings, strict=True):
        texts = table.cells[name][table.cells[name].astype(object).str.strip() != ""]
        if heading.role == "latency" and len(texts):
            return f"; row {texts.index[0]}, column {quoted(name)} is {quoted(texts.iloc[0])}: expected a number"
    return ""


def questions(table: Table, columns: Iterable[Column]) -> tuple[Question, ...]:
    """What must be answered before the file counts: roles first, then the units of the columns that hold values."""
    columns = tuple(columns)
    if not any(column.role in VALUE_ROLES for column in columns):
        what = (
            "The first row holds numbers, so there is no header"
            if not table.has_header
            else "No column is known to hold times of calls"
        )
        return (Question(kind="roles", text=f"{what}: choose what each column means."),)
    if any(column.role == "unit" for column in columns):
        return ()
    open_ = [
        column for column in columns if column.role in VALUE_ROLES and not has_unit(table.cells[column.name], column)
    ]
    by_role = {role: tuple(column.name for column in open_ if column.role == role) for role in VALUE_ROLES}
    return tuple(
        Question(
            kind="unit",
            columns=names,
            text=f"In which unit are the values of {', '.join(names)}?",
            options=UNIT_CHOICES[role],
        )
        for role, names in by_role.items()
        if names
    )


def has_unit(cells: pd.Series, column: Column) -> bool:
    """The column's unit is known, or every number in it brings its own."""
    if column.unit in UNITS:
        return True
    numbers = [text for text in islice(cells.cat.categories, _LOOKED_AT) if looks_numeric(text)]
    return bool(numbers) and all(map(_brings_unit, numbers))


def _brings_unit(text: str) -> bool:
    return any(cell.unit is not None for cell in (parse_cell(text, "."), parse_cell(text, ",")))
