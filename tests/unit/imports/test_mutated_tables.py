"""Tables damaged at random are read or refused in words; nothing else ever happens, and earlier files stay as they were."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine import results_csv
from engine.device_comparison import over_device, over_own_baseline, summarise, usual_baseline
from engine.errors import UserError
from engine.imports import Corrections, Imported, latency_lab, merged, read
from engine.imports.readings import COLUMNS, merge
from tests.pages.made_runs import made_run
from tests.uploads import FOLDER, read_upload

ORIGINALS = (
    *(path.read_bytes() for path in sorted(FOLDER.iterdir()) if path.stat().st_size),
    results_csv.to_bytes([made_run("a")]),
    merged.to_bytes(
        merge([read_upload("U18").frame, read_upload("U12").frame, latency_lab.frame_of([made_run("b")], "b")])
    ),
)
"""Files of other tools, and both formats of our own."""
FRAGMENTS = (
    b",", b";", b"\t", b'"', b"'", b"\n", b"\r", b"\r\n", b"\n\n", b"\0", b"\xff", b"\xef\xbb\xbf", b"#", b"-", b"-1", b"0",
    b"1e999", b"nan", b"inf", b"1.234,50", b"1,234", b"12 ms", b"3 parsecs", b"FAILED", b"OOM", b"=1+1", b"[1, 2]", b"[[[[",
    b"{", b"}", b"9" * 400, b"latency_ms", b"device", b"batch_size", b"\xc3\xa4", b"\x1b[31m", b"True", b"null", b"  ",
)  # fmt: skip
COMPARED = 5
"""One in so many of the tables that could be read is also compared, which takes longer than reading it."""
ROLES = ("latency", "technique_values", "rate", "elements", "batch_size", "call", "setting", "unit", "ignored")


WHERE = re.compile(r"\brow #?[\d,]+(, column |: )|\b(line|row) [\d,]+\b")
"""The place of what is wrong; in JSON and in a header of ours it is a line."""
OF_THE_WHOLE_FILE = re.compile(
    r"empty file|header only|no rows|only comment lines|not a text table|no timing (column among|values\. At least one column)"
    r"|no timing values: every variant failed|JSON (of an unknown tool|nested too deeply)|columns are (above the limit|missing)"
    r"|two columns of one name|its rows cannot be read|its header (does not describe|names)|changed after it was exported"
)
"""Reasons that no row and no column are the cause of."""


def mutated(original: bytes, seed: int, damages: int) -> bytes:
    """`original` with pieces inserted, removed, doubled or swapped at random places."""
    chance = random.Random(seed)
    data = bytearray(original)
    for _ in range(damages):
        start = chance.randrange(len(data) + 1)
        end = min(len(data), start + chance.choice((0, 1, 3, 20)))
        match chance.randrange(4):
            case 0:
                data[start:start] = chance.choice(FRAGMENTS)
            case 1:
                del data[start:end]
            case 2:
                data[start:end] = data[start:end] * 2
            case _:
                data[start:end] = chance.choice(FRAGMENTS)
    return bytes(data)


def answered(file: Imported, seed: int) -> Corrections:
    """Some answer to every open question."""
    chance = random.Random(seed)
    roles = {}
    if any(question.kind == "roles" for question in file.understanding.questions):
        roles = {column.name: chance.choice(ROLES) for column in file.understanding.columns}
    units = {column.name: chance.choice(("s", "ms", "GB/s")) for column in file.understanding.columns}
    return Corrections(roles=roles, units=units, decimal_mark=chance.choice((",", ".")))


@pytest.mark.slow
@settings(max_examples=2000, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(original=st.sampled_from(ORIGINALS), seed=st.integers(0, 2**32), damages=st.integers(1, 8))
def test_a_damaged_table_is_read_or_refused_with_row_and_column(original: bytes, seed: int, damages: int) -> None:
    data = mutated(original, seed, damages)
    try:
        file = read("damaged.csv", data)
        if not file.is_complete:
            file = read("damaged.csv", data, answered(file, seed))
    except UserError as error:
        said = str(error)
        assert said.startswith("damaged.csv")
        assert WHERE.search(said) or OF_THE_WHOLE_FILE.search(said), said
        return
    assert list(file.frame.columns) == list(COLUMNS)
    names = {column.name for column in file.understanding.columns}
    for cell in file.understanding.set_aside:
        assert cell.row > 0 and cell.reason
        assert not cell.column or not names or cell.column in names, cell
    values = file.frame["latency_s"].dropna()
    assert ((values > 0) & (values < float("inf"))).all()
    if seed % COMPARED == 0:
        arms = summarise(merge([file.frame]))
        over_own_baseline(arms, usual_baseline(arms))
        over_device(arms, arms[0].device if arms else "")


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("A100,eager,fast\n", r"row 1, column 'latency_ms' is 'fast': expected a number"),
        ("A100,eager,-1\nA100,compile,-2\n", r"row 1, column 'latency_ms' is '-1': negative"),
        ("A100,eager,5 GiB\n", r"row 1, column 'latency_ms' is '5 GiB': the unit is not one of time"),
    ],
)
def test_a_refused_file_names_row_and_column_of_what_is_wrong(rows: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        read("times.csv", f"device,technique,latency_ms\n{rows}".encode())


def test_a_refused_file_leaves_earlier_ones_as_they_were() -> None:
    earlier = read_upload("U10").frame
    before = earlier.copy(deep=True)
    for path in sorted(FOLDER.glob("U13*")):
        try:
            read(path.name, path.read_bytes())
        except UserError:
            continue
    assert earlier.equals(before)
