"""The file's layout: its header lines, its hashes, and the bytes of a file given as path, bytes or stream."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from engine.errors import UnreadableFile

MAGIC = "latency-lab result"
FORMAT = 1
RUN, OUTCOME, STATISTICS = "run", "outcome", "statistics"
HEADER_HASH, ROWS_HASH = "sha256 of header", "sha256 of rows"
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "'")
"""What makes a spreadsheet evaluate a cell; and the apostrophe itself, so that taking one away again is always right."""

Source = str | Path | bytes | IO[bytes]
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Parts:
    """A file taken apart: header values by kind, the bytes both hashes are over, and what the hashes should be."""

    name: str
    header: bytes
    rows: bytes
    values: dict[str, list[Row]] = field(default_factory=dict)
    hashes: dict[str, str] = field(default_factory=dict)


def is_result_csv(start: bytes) -> bool:
    """Whether a file that begins with `start` is one of ours."""
    return start.removeprefix(b"\xef\xbb\xbf").startswith(f"# {MAGIC}:".encode())


def header_line(kind: str, value: Row) -> str:
    """One header line with canonical JSON."""
    return f"# {kind}: {json.dumps(value, sort_keys=True, separators=(',', ':'), allow_nan=False)}\n"


def sha256(data: bytes) -> str:
    """Hash as it stands in the header."""
    return hashlib.sha256(data).hexdigest()


def take_apart(source: Source, name: str | None = None) -> Parts:
    """Header and rows of a file; raises `UnreadableFile` for anything that is not a result CSV this version can read."""
    data, name = _bytes_of(source, name)
    if not is_result_csv(data):
        start = data[:60].decode("utf-8", "replace").splitlines()[0] if data else ""
        raise UnreadableFile(
            f"{name} is not a Latency Lab result: it starts with {start!r}, expected '# {MAGIC}: {FORMAT}'. "
            "Choose a file that was exported as result CSV."
        )
    data = data.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n")
    parts = Parts(name, *_split(data))
    for number, line in enumerate(parts.header.decode("utf-8", "replace").splitlines(), start=1):
        _take_line(parts, number, line)
    hashed = parts.header.rpartition(f"# {HEADER_HASH}:".encode())[0] or parts.header
    return Parts(name, hashed, parts.rows, parts.values, parts.hashes)


def _split(data: bytes) -> tuple[bytes, bytes]:
    end = 0
    while data.startswith(b"#", end):
        end = data.find(b"\n", end) + 1 or len(data)
    return data[:end], data[end:]


def _take_line(parts: Parts, number: int, line: str) -> None:
    kind, _, text = line.removeprefix("# ").partition(": ")
    if kind == MAGIC:
        if text.strip() != str(FORMAT):
            raise UnreadableFile(
                f"{parts.name} has format {text!r}; this version reads format {FORMAT}. Update Latency Lab to open it."
            )
    elif kind in (HEADER_HASH, ROWS_HASH):
        parts.hashes[kind] = text.strip()
    elif kind in (RUN, OUTCOME, STATISTICS):
        try:
            parts.values.setdefault(kind, []).append(json.loads(text))
        except (ValueError, RecursionError) as error:
            raise UnreadableFile(
                f"{parts.name}, line {number}: what follows '# {kind}:' is broken ({error}). A spreadsheet that saved the "
                "file, or an interrupted copy, does that; use the original file."
            ) from error
    else:
        raise UnreadableFile(f"{parts.name}, line {number}: unknown header line {line[:60]!r}. Use the original file.")


def _bytes_of(source: Source, name: str | None) -> tuple[bytes, str]:
    if isinstance(source, bytes):
        return source, name or "This file"
    if not isinstance(source, str | Path):
        return source.read(), name or str(getattr(source, "name", "This file"))
    path = Path(source)
    try:
        return path.read_bytes(), name or path.name
    except OSError as error:
        raise UnreadableFile(f"{path} cannot be read: {error.strerror}. Check the path and its permissions.") from error
