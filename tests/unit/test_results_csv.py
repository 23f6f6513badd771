"""The result CSV: nothing is lost, nothing is changed unnoticed, and a broken file says what is wrong."""

import csv
import hashlib
import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import InvalidSpec, StorageError, UnreadableFile
from engine.result import Block, Failure, Limits, Measurement, PointSetUp, Run
from engine.results_csv import is_result_csv, read, to_bytes, verify, write
from engine.results_csv.verification import OTHER_RULES, SHOWN
from engine.spec import PROTOCOLS, Experiment, Workload
from tests.unit.hand_made import COMPILED, EAGER, QUIET, WORKLOAD, measurement, run_of, standard_run, wobble

SECONDS = st.floats(min_value=1e-9, max_value=1e5, allow_nan=False)
TEXT = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1, max_size=12)


def some(values: st.SearchStrategy[Any], most: int = 4) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(values, max_size=most).map(tuple)


@st.composite
def block(draw: st.DrawFn, workload: int, round_: int) -> Block:
    latencies = draw(some(SECONDS))
    size = len(latencies)
    times = st.lists(SECONDS, min_size=size, max_size=size).map(tuple)
    gpu = st.lists(st.none() | SECONDS, min_size=size, max_size=size).map(tuple)
    return Block(
        workload=workload,
        round=round_,
        order=draw(st.integers(0, 5)),
        calls_per_sample=draw(st.integers(1, 100)),
        latency_s=latencies,
        host_s=draw(st.none() | times),
        gpu_s=draw(st.none() | gpu),
        before=draw(st.sampled_from([None, QUIET])),
    )


@st.composite
def outcome(draw: st.DrawFn, variant: str, process: int, workloads: tuple[Workload, ...]) -> Measurement | Failure:
    if draw(st.booleans()):
        text = draw(st.text(max_size=30).filter(lambda t: t.isprintable()))
        return Failure(
            variant=variant, process=process, workloads=workloads, stage="load", kind="error", message=text, log_tail="a\nb\r\n=c"
        )  # fmt: skip
    points = tuple(
        PointSetUp(
            first_calls_s=draw(some(SECONDS)),
            warmup_s=draw(some(SECONDS)),
            warmup_calls_per_sample=draw(st.integers(1, 9)),
        )
        for _ in workloads
    )
    blocks = tuple(
        draw(block(index, round_)) for index in range(len(workloads)) for round_ in range(draw(st.integers(0, 3)))
    )
    return measurement(
        variant, process, [], workloads=workloads, points=points, blocks=blocks, facts={"note": draw(TEXT)}
    )


@st.composite
def runs(draw: st.DrawFn) -> list[Run]:
    """One to three runs of models and operators with any names, some samples, some failures."""
    ids = draw(st.lists(TEXT, min_size=1, max_size=3, unique=True))
    return [draw(one_run(id_)) for id_ in ids]


@st.composite
def one_run(draw: st.DrawFn, id_: str) -> Run:
    models = st.builds(Workload, model=TEXT, batch_size=st.integers(1, 64), sequence_length=st.integers(1, 512))
    operators = st.builds(
        Workload, operator=TEXT, elements=st.integers(1, 2**20), operations=st.none() | st.integers(1, 9)
    )
    workloads = tuple(draw(st.lists(models | operators, min_size=1, max_size=2, unique=True)))
    names = st.sampled_from([EAGER, COMPILED, "=cmd|' /C calc'!A0", "'quoted", 'a,b"c'])
    arms = draw(st.lists(st.tuples(names, st.integers(0, 3)), max_size=4, unique=True))
    outcomes = tuple(draw(outcome(variant, process, workloads)) for variant, process in arms)
    experiment = Experiment(
        workloads=workloads,
        variants=(EAGER,),
        protocol=PROTOCOLS["quick"],
        text=draw(st.text(max_size=9).filter(str.isprintable)),
    )
    return run_of(
        *outcomes,
        id=id_,
        experiment=experiment,
        label=draw(TEXT),
        note="line\nline",
        limits=draw(st.none() | st.just(Limits(launch_s=1e-6))),
    )


@settings(max_examples=60, deadline=None)
@given(runs())
def test_what_is_written_is_read_back_exactly(written: list[Run]) -> None:
    assert read(to_bytes(written)) == written


@settings(max_examples=20, deadline=None)
@given(runs())
def test_what_is_written_verifies(written: list[Run]) -> None:
    report = verify(to_bytes(written))
    assert report.problems == ()
    assert report.runs == len(written)


def test_the_rows_are_a_plain_csv_with_the_documented_columns() -> None:
    lines = to_bytes([standard_run()]).decode().splitlines()
    rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    first = rows[0]
    assert list(first) == [
        "experiment", "technique", "variant", "model", "operator", "batch_size", "sequence_length", "elements", "operations",
        "dtype", "device", "process", "round", "call", "phase", "calls_per_sample", "latency_s", "host_s", "gpu_s",
    ]  # fmt: skip
    assert (first["variant"], first["phase"], first["latency_s"], first["round"]) == (EAGER, "first_call", "0.05", "")
    assert {row["phase"] for row in rows} == {"first_call", "warmup", "steady"}
    assert len(rows) == 5 * 3 * (1 + 2 + 8 * 3)


def test_a_cell_a_spreadsheet_would_evaluate_is_defused_and_restored() -> None:
    hostile = replace(WORKLOAD, model='=HYPERLINK("http://x","y")')
    run = run_of(
        measurement(EAGER, 0, wobble(0.06, 0), workloads=(hostile,)),
        experiment=Experiment(workloads=(hostile,), variants=(EAGER,), protocol=PROTOCOLS["quick"]),
    )
    data = to_bytes([run])
    rows = list(csv.DictReader(line for line in data.decode().splitlines() if not line.startswith("#")))
    assert {row["model"] for row in rows} == {"'" + str(hostile.model)}
    assert read(data) == [run]
    edited = data.replace(b"'=HYPER", b"=HYPER", 1)
    with pytest.raises(UnreadableFile, match=r"column model holds '=HYPER.* with and without an apostrophe"):
        read(edited)


@pytest.mark.parametrize("change", [lambda data: data.replace(b"\n", b"\r\n"), lambda data: b"\xef\xbb\xbf" + data])
def test_line_ends_and_a_byte_order_mark_do_not_matter(change: Any) -> None:
    run = standard_run()
    data = change(to_bytes([run]))
    assert read(data) == [run]
    assert verify(data).passed


def test_rows_that_were_sorted_are_put_back_and_the_file_says_it_was_changed() -> None:
    run = standard_run()
    header, names, rows = parts(to_bytes([run]))
    data = "".join([*header, names, *sorted(rows, reverse=True)]).encode()
    assert read(data) == [run]
    assert not verify(data).passed


def parts(data: bytes) -> tuple[list[str], str, list[str]]:
    """Header lines, column names and rows."""
    lines = data.decode().splitlines(keepends=True)
    header = [line for line in lines if line.startswith("#")]
    return header, lines[len(header)], lines[len(header) + 1 :]


def test_verify_finds_a_changed_cell() -> None:
    header, names, rows = parts(to_bytes([standard_run()]))
    at = next(index for index, row in enumerate(rows) if COMPILED in row and "steady" in row)
    cells = rows[at].split(",")
    cells[16] = "0.049"
    rows[at] = ",".join(cells)
    report = verify("".join([*header, names, *rows]).encode())
    assert any(problem.startswith("The rows or their hash were changed") for problem in report.problems)


def with_fitting_hash(data: bytes, *changes: tuple[str, str]) -> bytes:
    """The file with its header changed and hashed again."""
    header, names, rows = parts(data)
    forged = "".join(header[:-2])
    for old, new in changes:
        assert old in forged
        forged = forged.replace(old, new)
    fitting = f"# sha256 of header: {hashlib.sha256(forged.encode()).hexdigest()}\n"
    return "".join([forged, fitting, header[-1], names, *rows]).encode()


def test_verify_finds_a_changed_statistic_even_when_its_hash_was_made_to_fit() -> None:
    """A hash cannot protect numbers from someone who can hash: the statistics are computed again."""
    report = verify(with_fitting_hash(to_bytes([standard_run()]), ('"verdict":"faster"', '"verdict":"slower"')))
    assert report.problems == (
        "verdict of torch-compile/default in r1: the file states slower, its samples give faster.",
        OTHER_RULES,
    )


def test_of_a_file_judged_by_other_rules_verify_names_a_few_differences_and_the_cause() -> None:
    """Every version with better rules would otherwise print hundreds of lines about each older file."""
    data, statistics = to_bytes([standard_run()]), "speedup_processes"
    lines = [line.rstrip("\n") for line in parts(data)[0] if statistics in line]
    other = [(line, line.replace(":5", ":4").replace("speedup", "ratio")) for line in lines]
    problems = verify(with_fitting_hash(data, *other)).problems
    assert len(problems) == SHOWN + 2
    assert problems[-2].startswith("And ") and problems[-2].endswith(" more statistics differ.")
    assert problems[-1] == OTHER_RULES


@pytest.mark.parametrize("kind", ["sha256 of rows", "sha256 of header"])
def test_verify_finds_a_changed_or_missing_hash(kind: str) -> None:
    header, names, rows = parts(to_bytes([standard_run()]))
    forged = [f"# {kind}: {'0' * 64}\n" if kind in line else line for line in header]
    without = [line for line in header if kind not in line]
    for lines in (forged, without):
        report = verify("".join([*lines, names, *rows]).encode())
        assert len(report.problems) == 1


def test_verify_finds_changed_evidence() -> None:
    data = to_bytes([standard_run()]).replace(b'"graph_breaks":0', b'"graph_breaks":1', 1)
    assert not verify(data).passed


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is not a Latency Lab result"),
        (b"batch_size,latency\n1,2\n", "is not a Latency Lab result: it starts with 'batch_size,latency'"),
        (b"# latency-lab result: 2\n", "has format '2'; this version reads format 1"),
        (b'# latency-lab result: 1\n# run: {"id":', "line 2: what follows '# run:' is broken"),
        (b"# latency-lab result: 1\n# hello\n", "line 2: unknown header line"),
        (b"# latency-lab result: 1\n# run: {}\n", "its header does not describe a run"),
        (b"# latency-lab result: 1\n", "its rows cannot be read"),
    ],
)
def test_a_broken_file_says_where_and_what(data: bytes, words: str) -> None:
    with pytest.raises(UnreadableFile, match=words.replace("(", r"\(")):
        read(data, "results.csv")
    assert verify(data, "results.csv").problems


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda rows: rows[:-7], r"names 405 samples, of which 7 are missing among its 398 rows"),
        (lambda rows: [*rows, rows[-1]], r"among its 406 rows"),
        (lambda rows: [rows[0].replace("0.05", "fast"), *rows[1:]], r"rows cannot be read.*fast"),
        (lambda rows: [rows[0].replace(",0.05,", ",,"), *rows[1:]], r"row 1: latency_s is empty"),
        (lambda rows: [rows[0].replace(",0.05,", ",0,"), *rows[1:]], r"row 1: latency_s is 0, expected seconds above zero"),
        (lambda rows: [*rows[:4], rows[4].replace(",0.0", ",-0.0", 1), *rows[5:]], r"row 5: latency_s is -0.0"),
        (lambda rows: [rows[0].replace(",0.05,", ",inf,"), *rows[1:]], r"row 1: latency_s is inf"),
        (lambda rows: [rows[0].rstrip("\n") + "-1\n", *rows[1:]], r"row 1: gpu_s is -1, expected seconds"),
        (lambda rows: [rows[0].replace("\"float32\",", ""), *rows[1:]], r"rows cannot be read"),
    ],
)  # fmt: skip
def test_damaged_rows_are_refused_in_words(damage: Any, words: str) -> None:
    header, names, rows = parts(to_bytes([standard_run()]))
    with pytest.raises(UnreadableFile, match=words):
        read("".join([*header, names, *damage(rows)]).encode())


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "result.csv"
    write([standard_run()], path)
    before = path.read_bytes()

    def no_space(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", no_space)
    with pytest.raises(StorageError, match="No space left on device"):
        write([standard_run(compiled_s=0.03)], path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_paths_streams_and_bytes_read_alike(tmp_path: Path) -> None:
    path, run = tmp_path / "result.csv", standard_run()
    write([run], path)
    stream = io.BytesIO()
    write([run], stream)
    assert read(path) == read(str(path)) == read(stream.getvalue()) == read(io.BytesIO(stream.getvalue())) == [run]
    assert is_result_csv(stream.getvalue()[:100])
    with pytest.raises(UnreadableFile, match="No such file"):
        read(tmp_path / "missing.csv")


def test_runs_that_share_an_id_are_not_written_together() -> None:
    with pytest.raises(InvalidSpec, match="different ids, got r1, r1"):
        to_bytes([standard_run(), standard_run()])


def test_a_model_name_with_a_line_break_is_no_workload() -> None:
    with pytest.raises(InvalidSpec, match="without line breaks"):
        Workload(model="a\nb", batch_size=1, sequence_length=1)
