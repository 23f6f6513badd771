"""Runs <-> the result CSV: `#` header lines, then one row per timed sample. Lossless, and checkable by `verify`.

    # latency-lab result: 1                     format version
    # run: {...}                                experiment, environment, limits; one line per run
    # outcome: {...}                            everything observed but the times; the rows hold those
    # statistics: {...}                         one line per row of the comparison, as shown
    # sha256 of header: ...                     over all lines above this one
    # sha256 of rows: ...                       over the column names and all rows
    experiment,technique,variant,...            columns of `engine.frames.SAMPLE_COLUMNS`

A text cell that a spreadsheet would take for a formula starts with an apostrophe in the file and loses it on reading.
Line ends may be LF or CRLF, rows may have been sorted. Format history: 1, first.
"""

from engine.results_csv.layout import is_result_csv
from engine.results_csv.reading import read
from engine.results_csv.verification import VerifyReport, verify
from engine.results_csv.writing import to_bytes, write

__all__ = ["VerifyReport", "is_result_csv", "read", "to_bytes", "verify", "write"]
