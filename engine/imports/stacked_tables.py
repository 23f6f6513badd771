"""Several tables in one file: where another header begins. Small files are joined there, large ones are refused."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd

from engine.imports import delimiters
from engine.imports.numbers import looks_numeric


def begins_another(row: Sequence[str], previous: Sequence[str], following: Sequence[str], header: list[str]) -> bool:
    """Whether a row is the header of a further table: any after a blank line, without one the same names reordered."""
    return _is_reordered([cell.strip() for cell in row], header) or (not previous and _is_header(row, following))


def _is_reordered(names: list[str], header: list[str]) -> bool:
    return len(names) > 1 and names != header and sorted(names) == sorted(header)


def _is_header(row: Sequence[str], following: Sequence[str]) -> bool:
    names = [cell.strip() for cell in row]
    is_header = len(set(names)) == len(names) > 1 and all(names) and not any(map(looks_numeric, names))
    return is_header and len(following) == len(row) and any(map(looks_numeric, following))


def find_line(utf8: bytes, delimiter: str, start: int, header: list[str]) -> int | None:
    """The number of the first line after a blank one that is another header than `header`, which stands at byte `start`."""
    mark = re.escape(delimiter.encode())
    blank = re.compile(rb"\n(?:(?:[ \t" + mark + rb"]*|[ \t]*#[^\n]*)\n)+")
    for gap in blank.finditer(utf8, start):
        end = utf8.find(b"\n", utf8.find(b"\n", gap.end()) + 1)
        two_lines = utf8[gap.end() : end if end > gap.end() else None].decode("utf-8", "ignore")
        row, following = [*islice(delimiters.split(two_lines, delimiter), 2), [], []][:2]
        if [cell.strip() for cell in row] != header and _is_header(row, following):
            return utf8.count(b"\n", 0, gap.end()) + 1
    return None


def find_rows(cells: pd.DataFrame) -> tuple[pd.Index[Any], pd.Index[Any]]:
    """Labels of the rows that repeat the header, and of those that name its columns in another order."""
    names = [str(name) for name in cells]
    is_header = np.full(len(cells), len(names) > 1)
    for column in cells:
        texts = cells[column].cat.categories.str.strip()
        is_header &= np.isin(cells[column].cat.codes.to_numpy(), np.flatnonzero(texts.isin(names)))
        if not is_header.any():
            break
    found = cells[is_header].astype(object)
    rows = [[str(cell).strip() for cell in row] for row in found.itertuples(index=False, name=None)]
    is_same = np.array([row == names for row in rows], bool)
    is_moved = np.array([_is_reordered(row, names) for row in rows], bool)
    return found.index[is_same], found.index[is_moved]
