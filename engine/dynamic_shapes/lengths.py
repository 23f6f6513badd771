"""Lengths people give: typed in a line, pasted as a column, uploaded as CSV. Refused with the row's number."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from engine.catalog import MODELS
from engine.catalog.dynamic_shapes import FEW_LENGTHS, TWELVE_LENGTHS
from engine.errors import InvalidSpec
from engine.imports.text import decode
from engine.spec import MAX_REQUESTS, MAX_SEQUENCE_LENGTH

MAX_LENGTHS = 64
"""Lengths to measure one by one; a request stream takes thousands."""
_WHOLE = re.compile(r"\d+(\.0*)?")
"""A spreadsheet may write 12 as 12.0."""


def default_lengths(device: str) -> tuple[int, ...]:
    """Few on a CPU, where a dozen takes hours; a dozen from 8 to 512 on a GPU."""
    return FEW_LENGTHS if device == "cpu" else TWELVE_LENGTHS


def longest_of(model: str) -> int | None:
    """How many tokens a model takes: a card of the catalog or a local folder says it; None where only loading it would."""
    card = next((card for card in MODELS if card.key == model), None)
    if card is not None:
        return card.longest
    path = Path(model) / "config.json"
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    longest = config.get("max_position_embeddings") if isinstance(config, dict) else None
    return longest if isinstance(longest, int) else None


def read_lengths(text: str, longest: int | None = None) -> tuple[int, ...]:
    """Different lengths to measure, from a line such as "11, 24, 60"; raises `InvalidSpec` naming the one that is wrong."""
    words = re.split(r"[\s,;]+", text.strip(" \t\r\n,;"))
    found = tuple(dict.fromkeys(_length(word, f"Length {place}", longest) for place, word in enumerate(words, start=1)))
    if len(found) > MAX_LENGTHS:
        raise InvalidSpec(f"{len(found)} lengths given; at most {MAX_LENGTHS} are measured one by one. Name fewer.")
    return found


def read_requests(text: str, longest: int | None = None) -> tuple[int, ...]:
    """Lengths of requests in their order, one per row; the first column of a CSV under a heading.

    Raises `InvalidSpec` naming the row that is no length, or that makes them too many.
    """
    rows = [(number, cells) for number, cells in enumerate(_rows(text), start=1) if any(map(str.strip, cells))]
    if rows and not re.search(r"\d", rows[0][1][0]):
        rows = rows[1:]
    else:
        _refuse_columns(rows)
    if not rows:
        raise InvalidSpec("No request lengths are given. Write one whole number of tokens per row.")
    if len(rows) > MAX_REQUESTS:
        raise InvalidSpec(
            f"Row {rows[MAX_REQUESTS][0]:,} is one too many: {len(rows):,} requests given, at most {MAX_REQUESTS:,} are "
            "allowed. Remove the rest."
        )
    return tuple(_length(cells[0].strip(), f"Row {number}", longest) for number, cells in rows)


def read_request_file(name: str, data: bytes, longest: int | None = None) -> tuple[int, ...]:
    """The requests in a file of this name; raises `UnreadableFile` when it is no text, `InvalidSpec` as `read_requests`."""
    try:
        return read_requests(decode(name, data).utf8.decode("utf-8", "replace"), longest)
    except InvalidSpec as error:
        raise InvalidSpec(f"{name}: {error}") from None


def in_words(lengths: Sequence[int]) -> str:
    """(11, 24, 60) -> "11, 24, 60", as `read_lengths` takes it."""
    return ", ".join(map(str, lengths))


def _rows(text: str) -> Iterable[list[str]]:
    """Cells of every row, empty rows included, so that row numbers are those a person counts."""
    return csv.reader(text.replace(";", ",").replace("\t", ",").splitlines())


def _refuse_columns(rows: Iterable[tuple[int, list[str]]]) -> None:
    """Without a heading a second number in a row may be a column, a second length or a decimal: nobody can tell."""
    for number, cells in rows:
        if any(re.match(r"\s*[-+.]?\d", cell) for cell in cells[1:]):
            raise InvalidSpec(
                f"Row {number}: {','.join(cells)[:40]!r} holds more than one number; write one whole number of tokens per row, "
                "or put a heading over the columns."
            )


def _length(word: str, where: str, longest: int | None) -> int:
    allowed = longest or MAX_SEQUENCE_LENGTH
    if not _WHOLE.fullmatch(word):
        raise InvalidSpec(f"{where}: {word[:40]!r} is no length; write a whole number of tokens from 1 to {allowed:,}.")
    length = int(word.partition(".")[0])
    if not 1 <= length <= allowed:
        whose = "this model takes" if longest else "allowed are"
        raise InvalidSpec(f"{where}: the length is {length:,}; {whose} 1 to {allowed:,} tokens. Correct it.")
    return length
