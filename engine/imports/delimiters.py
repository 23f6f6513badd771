"""Which character separates the cells of a text table, found on a sample; splitting lines into cells."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from itertools import islice

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar", " ": "space"}
SAMPLE_BYTES = 1 << 16
_SNIFF_ROWS = 200


def split(text: str, delimiter: str) -> Iterator[list[str]]:
    """Rows of cells; a blank line is a row without cells. Raises `csv.Error` for a cell that never ends."""
    lines = io.StringIO(text, newline="\n")
    for row in csv.reader(lines, delimiter=delimiter, skipinitialspace=delimiter == " "):
        yield row if any(cell.strip() for cell in row) else []


def is_comment(row: list[str]) -> bool:
    """Whether a row is a `#` line."""
    return bool(row) and row[0].lstrip().startswith("#")


def head(utf8: bytes) -> str:
    """The first complete lines of a file, enough to find out how it is written."""
    sample = utf8[:SAMPLE_BYTES].decode("utf-8", "ignore")
    return sample.rpartition("\n")[0] or sample if len(utf8) > SAMPLE_BYTES else sample


def find_delimiter(sample: str) -> str:
    """The delimiter that splits most rows of the sample into the same number (> 1) of cells; a comma when none does."""
    scores = {delimiter: _score(sample, delimiter) for delimiter in DELIMITERS}
    return max(scores, key=scores.__getitem__)


def _score(sample: str, delimiter: str) -> float:
    try:
        rows = [row for row in islice(split(sample, delimiter), _SNIFF_ROWS) if row and not is_comment(row)]
    except csv.Error:
        return 0.0
    widths = [len(row) for row in rows]
    usual = max(set(widths), key=widths.count, default=1)
    if usual == 1:
        return 0.0
    share = widths.count(usual) / len(widths)
    # "RTX 4070;eager;1;6,25" has two cells by commas too, but its header has one: headers decide.
    return share if widths[0] == usual else share / 2
