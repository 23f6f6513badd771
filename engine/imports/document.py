"""JSON of benchmark tools: parsed strictly, then given to the format that knows it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from engine.imports import google_benchmark, hyperfine, optimum, pytest_benchmark
from engine.imports.text import Text
from engine.imports.understanding import Corrections, Imported, refuse

_Reader = Callable[[str, dict[str, Any], str, Corrections], Imported]
_FORMATS: tuple[tuple[Callable[[dict[str, Any]], bool], _Reader], ...] = (
    (hyperfine.matches, hyperfine.read),
    (pytest_benchmark.matches, pytest_benchmark.read),
    (google_benchmark.matches, google_benchmark.read),
    (optimum.matches, optimum.read),
)
_ACCEPTED = "JSON of hyperfine, pytest-benchmark, google-benchmark or optimum-benchmark is accepted, or a CSV table"


def is_document(text: Text) -> bool:
    """Whether a file begins like JSON."""
    return text.utf8.lstrip()[:1] in (b"{", b"[")


def read(file: str, text: Text, corrections: Corrections) -> Imported:
    """Readings of a JSON document; raises `UnreadableFile` for broken JSON and for tools that are not known."""
    document = _parse(file, text.utf8)
    for matches, read_format in _FORMATS:
        if isinstance(document, dict) and matches(document):
            return read_format(file, document, text.encoding, corrections)
    keys = ", ".join(map(repr, list(document)[:8])) if isinstance(document, dict) else "a list"
    raise refuse(file, f"JSON of an unknown tool ({keys[:200]})", _ACCEPTED)


def _parse(file: str, utf8: bytes) -> Any:
    try:
        return json.loads(utf8)
    except RecursionError as error:
        raise refuse(file, "JSON nested too deeply", _ACCEPTED) from error
    except json.JSONDecodeError as error:
        raise refuse(
            file, f"broken JSON in row {error.lineno}, column {error.colno}: {error.msg}", _ACCEPTED
        ) from error
    except ValueError as error:  # a whole number with more digits than Python converts
        raise refuse(file, f"broken JSON: {str(error)[:100]}", _ACCEPTED) from error
