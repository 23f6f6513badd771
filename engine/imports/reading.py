"""One file's bytes -> an `Imported`: the format is found by its content, never by its name."""

from __future__ import annotations

from engine.imports import any_table, document, dynamo, hyperfine, latency_lab, merged, optimum, table, text
from engine.imports.understanding import Corrections, Imported

AS_UNDERSTOOD = Corrections()
_OWN = ((latency_lab.matches, latency_lab.read), (merged.matches, merged.read))
_TABLES = (
    (dynamo.matches, dynamo.read),
    (hyperfine.matches_table, hyperfine.read_table),
    (optimum.matches_table, optimum.read_table),
)


def read(file: str, data: bytes, corrections: Corrections = AS_UNDERSTOOD) -> Imported:
    """Understand `data`, named `file`; raises `UnreadableFile` with a sentence for a file that cannot be used."""
    text.check_size(file, len(data))
    for recognises, read_own in _OWN:
        if recognises(data):
            return read_own(file, data, corrections)
    decoded = text.decode(file, data)
    if document.is_document(decoded):
        return document.read(file, decoded, corrections)
    cells = table.read(file, decoded, corrections)
    for matches, read_format in _TABLES:
        if matches(cells) and not corrections.roles:
            return read_format(file, cells, decoded.encoding, corrections)
    return any_table.read(file, cells, decoded.encoding, corrections)
