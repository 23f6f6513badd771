"""Bytes -> UTF-8 bytes with plain line ends; says which encoding was found, refuses what is not text."""

from __future__ import annotations

from dataclasses import dataclass

from engine.imports.understanding import refuse

MAX_BYTES = 200 * 1024 * 1024
"""The upload limit of .streamlit/config.toml; the command line keeps to it as well."""
ACCEPTED = "A CSV or TSV table, or the JSON of a benchmark tool, is accepted"
_KNOWN_BINARIES = (
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"%PDF", "a PDF document"),
    (b"PK\x03\x04", "an Excel workbook or zip archive: save the sheet as CSV"),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook: save the sheet as CSV"),
    (b"\x1f\x8b", "a gzip archive: unpack it first"),
    (b"PAR1", "a Parquet file: save it as CSV"),
    (b"SQLite format 3", "an SQLite database"),
)
_BOMS = (
    (b"\xef\xbb\xbf", "utf-8", "UTF-8 with byte order mark"),
    (b"\xff\xfe", "utf-16-le", "UTF-16 with byte order mark"),
    (b"\xfe\xff", "utf-16-be", "UTF-16 with byte order mark"),
)
_SAMPLE = 1 << 16
_MAX_CONTROL_SHARE = 0.01
"""Text tables hold no control characters beyond tab and line ends; a stray one in a hundred is still read as text."""


@dataclass(frozen=True, slots=True)
class Text:
    """The file as UTF-8 with `\\n` line ends, the encoding it came in, and what was odd about it."""

    utf8: bytes
    encoding: str
    notes: tuple[str, ...] = ()


def check_size(file: str, size: int) -> None:
    """Raise `UnreadableFile` for more bytes than a file of any format may have."""
    if size > MAX_BYTES:
        what = f"{size / 2**20:,.0f} MB is above the limit of {MAX_BYTES // 2**20} MB"
        raise refuse(file, what, "Split it, or send fewer rows")


def decode(file: str, data: bytes) -> Text:
    """Find the encoding of `data`; raises `UnreadableFile` for an empty, oversized or binary file."""
    check_size(file, len(data))
    if not data.strip(b"\xef\xbb\xbf \t\r\n"):
        raise refuse(file, "empty file", ACCEPTED)
    for magic, what in _KNOWN_BINARIES:
        if data.startswith(magic):
            raise refuse(file, f"not a text table but {what}", ACCEPTED)
    return _plain_line_ends(_to_utf8(file, data))


def _to_utf8(file: str, data: bytes) -> Text:
    for mark, codec, encoding in _BOMS:
        if data.startswith(mark):
            return _from_bom(file, data[len(mark) :], codec, encoding)
    if b"\0" in data:
        return _from_utf16_without_bom(file, data)
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return _from_stray_bytes(file, data)
    _refuse_control_characters(file, data[:_SAMPLE].decode("utf-8", "ignore"))
    return Text(data, "UTF-8")


def _from_bom(file: str, data: bytes, codec: str, encoding: str) -> Text:
    notes: tuple[str, ...] = ()
    if codec != "utf-8" and len(data) % 2:
        data, notes = data[:-1], ("The file ends in half a UTF-16 character, which was left out.",)
    text = data.decode(codec, "replace")
    _refuse_control_characters(file, text[:_SAMPLE])
    return Text(text.encode("utf-8", "replace"), encoding, notes)


def _from_utf16_without_bom(file: str, data: bytes) -> Text:
    """NUL bytes are every second byte of Western text in UTF-16; anywhere else the file is not text."""
    sample = data[:_SAMPLE]
    for codec, zeros in (("utf-16-le", sample[1::2]), ("utf-16-be", sample[0::2])):
        others = sample[0::2] if codec == "utf-16-le" else sample[1::2]
        if zeros.count(0) > 0.9 * len(zeros) and not others.count(0):
            return _from_bom(file, data, codec, "UTF-16")
    raise refuse(file, f"not a text table: a NUL byte at position {data.index(0):,}", ACCEPTED)


def _from_stray_bytes(file: str, data: bytes) -> Text:
    """Not valid UTF-8: mostly UTF-8 with a stray byte, or the one-byte code page of an older Excel."""
    text = data.decode("utf-8", "replace")
    stray = text.count("\ufffd")
    valid = sum(len(character.encode()) > 1 for character in text[:_SAMPLE]) - text[:_SAMPLE].count("\ufffd")
    _refuse_control_characters(file, text[:_SAMPLE])
    if valid >= stray:
        return Text(text.encode(), "UTF-8", (f"{stray} bytes are not UTF-8 and are shown as \ufffd.",))
    note = "Not UTF-8; read as Windows-1252, as older spreadsheets write it."
    return Text(data.decode("cp1252", "replace").encode(), "Windows-1252", (note,))


def _refuse_control_characters(file: str, sample: str) -> None:
    odd = sum(character < " " and character not in "\t\r\n\f\x1b" for character in sample)
    if odd > _MAX_CONTROL_SHARE * len(sample):
        raise refuse(file, f"not a text table: {odd:,} control characters near its start", ACCEPTED)


def _plain_line_ends(text: Text) -> Text:
    data = text.utf8
    for ending in (b"\r\r\n", b"\r\n", b"\r"):
        if b"\r" in data:
            data = data.replace(ending, b"\n")
    return Text(data, text.encoding, text.notes)
