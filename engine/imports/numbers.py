"""Cells -> numbers: decimal and thousands marks, units inside cells, status words. Never evaluates anything."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from engine.imports.units import UNITS, Unit, find_unit

MISSING_WORDS = frozenset(
    {"", "-", "--", "–", "—", "n/a", "na", "#n/a", "none", "null", "nil", "?", "not run", "skipped", "skip"}
)
_FAILED_PHRASES = (
    "failed|fail|failure|error|err|oom|out of memory|cuda_oom|crash|crashed|timeout|timed out|timed_out|unsupported|exception|"
    "eager_failed|fail to run|fail_to_run|fail_accuracy|infra_error"
)
FAILED_WORDS = frozenset(_FAILED_PHRASES.split("|"))
_NOT_FINITE_WORDS = frozenset(("nan", "inf", "infinity", "1.#inf", "1.#qnan"))

NUMBER, MISSING, FAILED, PROBLEM = range(4)
"""What a cell holds."""
KINDS = tuple(dict.fromkeys(unit.kind for unit in UNITS.values()))

_DIGITS = r"[+-]?(?:\d[\d.,' \u00a0\u202f]*\d|\d[.,]?|[.,]\d+)(?:[eE][+-]?\d{1,4})?"
_CELL = re.compile(rf"^({_DIGITS})\s*([^\d\s].*)?$")
_PLAIN = {
    mark: re.compile(rf"^[+-]?(?:\d+{re.escape(mark)}?\d*|{re.escape(mark)}\d+)(?:e[+-]?\d+)?$", re.I) for mark in ".,"
}
_GROUPED = {
    mark: re.compile(rf"^[+-]?\d{{1,3}}(?:([{group}' \u00a0\u202f])\d{{3}})(?:\1\d{{3}})*(?:{re.escape(mark)}\d*)?$")
    for mark, group in ((".", ","), (",", "."))
}


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: a number with an optional unit of its own, a word that stands for none, or a problem in words."""

    state: int
    value: float = math.nan
    unit: Unit | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Cells:
    """A column of cells, as arrays of the column's length; `reasons` of problems by cell text.

    `factor` and `kind` (a place in `KINDS`) say which unit the cell brings; NaN and -1 where it brings none.
    """

    state: NDArray[np.int8]
    value: NDArray[np.float64]
    factor: NDArray[np.float64]
    kind: NDArray[np.int8]
    reasons: dict[str, str]


def parse_cell(text: str, decimal_mark: str = ".") -> Cell:
    """Read one cell: "6.1 ms", "1.234,50", "FAILED", "-"."""
    text = text.strip()
    word = text.lower()
    if word in MISSING_WORDS:
        return Cell(MISSING)
    if word in FAILED_WORDS:
        return Cell(FAILED, reason=text)
    if word.lstrip("+-") in _NOT_FINITE_WORDS:
        return Cell(PROBLEM, reason="not a finite number")
    return _quantity(text, decimal_mark)


def _quantity(text: str, decimal_mark: str) -> Cell:
    found = _CELL.match(text)
    value = _number(found[1], decimal_mark) if found else None
    unit = find_unit(found[2]) if found and found[2] else None
    if found is None or value is None or (found[2] and unit is None):
        return Cell(PROBLEM, reason="expected a number with an optional unit")
    return Cell(NUMBER, value, unit) if math.isfinite(value) else Cell(PROBLEM, reason="too large for a number")


def _number(text: str, decimal_mark: str) -> float | None:
    text = text.strip()
    if _PLAIN[decimal_mark].match(text):
        return float(text.replace(decimal_mark, "."))
    grouped = _GROUPED[decimal_mark].match(text)
    return float(text.replace(grouped[1], "").replace(decimal_mark, ".")) if grouped else None


def parse_column(column: pd.Series, decimal_mark: str = ".") -> Cells:
    """Read a categorical column of text; each different cell is looked at once."""
    texts = list(column.cat.categories)
    value = _plain_numbers(texts, decimal_mark)
    state = np.where(np.isfinite(value), NUMBER, MISSING).astype(np.int8)
    factor, kind = np.full(len(value), np.nan), np.full(len(value), -1, np.int8)
    reasons: dict[str, str] = {}
    for position in np.flatnonzero(~np.isfinite(value[:-1])):
        cell = parse_cell(texts[position], decimal_mark)
        state[position], value[position] = cell.state, cell.value
        if cell.unit:
            factor[position], kind[position] = cell.unit.factor, KINDS.index(cell.unit.kind)
        if cell.reason:
            reasons[texts[position]] = cell.reason
    codes = column.cat.codes.to_numpy()  # -1, a missing cell, picks the last element
    return Cells(state[codes], value[codes], factor[codes], kind[codes], reasons)


def _plain_numbers(texts: list[str], decimal_mark: str) -> NDArray[np.float64]:
    """What pandas reads as a number at once, NaN for the rest; one element more, for missing cells."""
    value = np.full(len(texts) + 1, np.nan)
    if decimal_mark == ".":
        value[:-1] = pd.to_numeric(pd.Series(texts, dtype=object), errors="coerce").to_numpy(float)
    return value


def find_decimal_mark(texts: Iterable[str]) -> str | None:
    """ "." or ",", from cells that allow only one of them; None when cells contradict each other or allow both.

    Without any comma in a number the mark is a point.
    """
    only_point = only_comma = either = False
    for text in texts:
        found = _CELL.match(text.strip())
        if found is None or not {",", "."} & set(found[1]):
            continue
        point, comma = _number(found[1], ".") is not None, _number(found[1], ",") is not None
        only_point |= point and not comma
        only_comma |= comma and not point
        either |= point and comma and "," in found[1]
    if only_point and only_comma:
        return None
    if only_comma:
        return ","
    return None if either and not only_point else "."


@lru_cache(maxsize=4096)
def looks_numeric(text: str) -> bool:
    """Whether a cell is a finite number under either decimal mark, unit or not."""
    return any(parse_cell(text, mark).state == NUMBER for mark in ".,")
