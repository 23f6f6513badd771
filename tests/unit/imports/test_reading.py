"""From bytes to cells: encodings, delimiters, number marks, headers, stacked tables, limits; what is asked, what is refused."""

from __future__ import annotations

import json

import pytest

from engine.device_comparison import DeviceArm, over_own_baseline, summarise
from engine.errors import UnreadableFile
from engine.imports import Corrections, Imported, large_table, read, table, text
from engine.imports.headers import understand
from engine.imports.numbers import FAILED, MISSING, NUMBER, PROBLEM, find_decimal_mark, parse_cell
from engine.imports.roles import misfit
from engine.imports.text import MAX_BYTES, decode
from engine.imports.units import split_header
from engine.verdict import Verdict

PLAIN = "device,technique,latency_ms\nÄ100,eager,6.0\nÄ100,compile,4.0\n"


def latencies(file: Imported) -> list[float]:
    return file.frame["latency_s"].dropna().tolist()


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (PLAIN.encode(), "UTF-8"),
        (b"\xef\xbb\xbf" + PLAIN.encode(), "UTF-8 with byte order mark"),
        (PLAIN.encode("utf-16"), "UTF-16 with byte order mark"),
        (b"\xfe\xff" + PLAIN.encode("utf-16-be"), "UTF-16 with byte order mark"),
        (PLAIN.encode("utf-16-le"), "UTF-16"),
        (PLAIN.encode("cp1252"), "Windows-1252"),
        (PLAIN.encode() + b"\xff", "UTF-8"),
    ],
)
def test_an_encoding_is_found_and_said(data: bytes, encoding: str) -> None:
    file = read("file.csv", data)
    assert file.understanding.encoding == encoding
    assert latencies(file)[:2] == [0.006, 0.004]
    assert file.understanding.devices[0] == "Ä100"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\x89PNG\r\n", "a PNG image"),
        (b"PK\x03\x04abc", "Excel workbook or zip archive: save the sheet as CSV"),
        (b"a,b\n1,\x00\n" * 9, "a NUL byte at position 6"),
        (bytes(range(1, 32)) * 9, "control characters"),
        (b" \n\n", "empty file"),
        (b"# only\n# comments\n", "only comment lines"),
        (",".join(f"column{i}" for i in range(2000)).encode() + b"\n1\n", "2,000 columns are above the limit of 500"),
        (b'device,latency_ms\nA,"' + b"1\n" * 80_000, "not a text table"),
        (b"{", "broken JSON in row 1, column 2"),
        (b"[" * 100_000, "JSON nested too deeply"),
        (b"[" + b"9" * 5000 + b"]", "broken JSON"),
        (b'{"a": 1}', r"JSON of an unknown tool \('a'\)"),
    ],
)
def test_what_is_no_table_is_refused_in_one_sentence(data: bytes, reason: str) -> None:
    with pytest.raises(UnreadableFile, match=reason) as refused:
        read("file.csv", data)
    assert str(refused.value).startswith("file.csv: ")


@pytest.mark.parametrize("start", [b"# latency-lab result: 1\n", b"# latency-lab comparison: 1\n"])
def test_our_own_formats_keep_to_the_limit_too(start: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "MAX_BYTES", 100)
    with pytest.raises(UnreadableFile, match="is above the limit"):
        read("own.csv", start + b"#" * 100)


def test_a_file_above_the_limit_is_refused_before_it_is_read() -> None:
    with pytest.raises(UnreadableFile, match="above the limit of 200 MB"):
        decode("big.csv", bytes(MAX_BYTES + 1))


@pytest.mark.parametrize(
    ("cell", "mark", "state", "value", "unit"),
    [
        ("6.1 ms", ".", NUMBER, 6.1, "ms"),
        ("4100us", ".", NUMBER, 4100, "us"),
        ("1.234,50", ",", NUMBER, 1234.5, None),
        ("1,024.50", ".", NUMBER, 1024.5, None),
        ("1 024.5", ".", NUMBER, 1024.5, None),
        ("3.", ".", NUMBER, 3, None),
        ("1e-3", ".", NUMBER, 0.001, None),
        ("1.2 GiB", ".", NUMBER, 1.2, "GiB"),
        ("12,5", ".", PROBLEM, None, None),
        ("1.2.3", ".", PROBLEM, None, None),
        ("3 parsecs", ".", PROBLEM, None, None),
        ("1_000", ".", PROBLEM, None, None),
        ("0x10", ".", PROBLEM, None, None),
        ("nan", ".", PROBLEM, None, None),
        ("OOM", ".", FAILED, None, None),
        ("n/a", ".", MISSING, None, None),
        ("-", ".", MISSING, None, None),
    ],
)
def test_a_cell_is_a_number_a_word_or_a_problem(cell: str, mark: str, state: int, value: float, unit: str) -> None:
    parsed = parse_cell(cell, mark)
    assert parsed.state == state
    if state == NUMBER:
        assert parsed.value == pytest.approx(value)
        assert (parsed.unit.key if parsed.unit else None) == unit


@pytest.mark.parametrize(
    ("cells", "mark"),
    [
        (["6.25", "4"], "."),
        (["6,25", "4"], ","),
        (["1.234,5"], ","),
        (["1,024.50", "683.00"], "."),
        (["1,234", "5,678"], None),  # thousands or decimals: cannot be known
        (["6,25", "6.25"], None),  # both: contradictory
        (["12", "13"], "."),
    ],
)
def test_the_decimal_mark_is_found_or_asked(cells: list[str], mark: str | None) -> None:
    assert find_decimal_mark(cells) == mark


def test_an_undecidable_comma_is_asked_and_the_answer_used() -> None:
    data = b"device;technique;latency_ms\nA;eager;1,234\nA;compile;1,001\n"
    asked = read("file.csv", data)
    assert [question.kind for question in asked.understanding.questions] == ["decimal_mark"]
    assert latencies(read("file.csv", data, Corrections(decimal_mark=","))) == pytest.approx([0.001234, 0.001001])
    assert latencies(read("file.csv", data, Corrections(decimal_mark="."))) == pytest.approx([1.234, 1.001])


@pytest.mark.parametrize(
    ("header", "role", "unit", "statistic"),
    [
        ("Latency (ms)", "latency", "ms", "sample"),
        ("p50_us", "latency", "us", "median"),
        ("avg time [s]", "latency", "s", "mean"),
        ("latency_s", "latency", "s", "sample"),
        ("GPU Time (sec)", "latency", "s", "sample"),
        ("CPU Time (sec)", "ignored", "s", "sample"),
        ("compile_time_s", "set_up", "s", "sample"),
        ("samples_per_second", "rate", "1/s", "sample"),
        ("GFLOPS", "rate", "GFLOP/s", "sample"),
        ("peak memory (MB)", "memory", "MB", "sample"),
        ("BatchSize", "batch_size", None, "sample"),
        ("seq_len", "sequence_length", None, "sample"),
        ("stddev_ms", "ignored", "ms", "sample"),
        ("timestamp", "ignored", None, "sample"),
        ("attention", None, None, "sample"),
    ],
)
def test_a_header_says_role_unit_and_statistic(header: str, role: str, unit: str, statistic: str) -> None:
    heading = understand(header)
    assert (heading.role, heading.unit.key if heading.unit else None, heading.statistic) == (role, unit, statistic)


def test_time_min_is_a_minimum_and_not_minutes() -> None:
    assert split_header("time_min")[1] is None
    assert understand("time_min").role == "ignored"


def test_a_further_column_of_words_keeps_rows_apart() -> None:
    data = b"device,technique,attention,latency_ms\nA,eager,sdpa,5\nA,eager,flash,4\n"
    assert read("file.csv", data).frame["setting"].tolist() == ["attention=sdpa", "attention=flash"]


def test_stacked_tables_are_joined_by_column_name() -> None:
    data = b"device,technique,latency_ms\nA,eager,6\n\ntechnique,latency_ms,device\ncompile,4,A\n"
    file = read("file.csv", data)
    assert file.frame["variant"].tolist() == ["eager", "compile"]
    assert file.frame["row"].tolist() == [1, 2]
    assert "2 tables in one file" in file.understanding.notes[0]


def test_the_same_columns_in_another_order_begin_another_table_without_a_blank_line() -> None:
    data = b"device,technique,latency_ms\nA,eager,6\ntechnique,latency_ms,device\ncompile,4,A\n"
    file = read("file.csv", data)
    assert file.frame[["device", "variant", "latency_s"]].values.tolist() == [
        ["A", "eager", 0.006],
        ["A", "compile", 0.004],
    ]
    assert file.understanding.set_aside == ()


@pytest.mark.parametrize(
    ("second", "where"),
    [
        (b"technique,latency_ms,device\ncompile,4,A\n", "row 2"),
        (b"\ntechnique,latency_ms,device\ncompile,4,A\n", "line 5"),
        (b"\n# second\n\ngpu,compile,time_us\nA,5,4\n", "line 7"),
        (b",,\ngpu,compile,time_us\nA,5,4", "line 5"),
    ],
)
def test_a_large_file_with_a_second_table_is_refused_where_it_begins(
    second: bytes, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Read under the first header, its numbers would be wrong."""
    monkeypatch.setattr(table, "ROW_BY_ROW_BYTES", 0)
    with pytest.raises(UnreadableFile, match=f"another table begins at {where}"):
        read("file.csv", b"# made\ndevice,technique,latency_ms\nA,eager,6\n" + second)


def test_a_large_file_repeats_its_header_and_begins_with_comments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "ROW_BY_ROW_BYTES", 0)
    header = b"device,technique,latency_ms\n"
    file = read(
        "file.csv", b"# one\n# two\n" + header + b"A,eager,6\n" + header + b"A,compile,4\n\n" + header + b"B,eager,3\n"
    )
    assert latencies(file) == [0.006, 0.004, 0.003]
    assert file.understanding.set_aside == ()


def test_a_repeated_header_of_joined_files_is_no_row() -> None:
    data = b"device,latency_ms\nA,6\ndevice,latency_ms\nB,4\n"
    assert read("file.csv", data).understanding.rows_read == 2


def test_rows_with_too_many_cells_are_set_aside_with_their_number() -> None:
    file = read("file.csv", b"device,latency_ms\nA,6\nB,4,7\nC,5\n")
    (cell,) = file.understanding.set_aside
    assert (cell.row, cell.value) == (2, "7")
    assert file.frame["row"].tolist() == [1, 3]


def test_roles_units_header_and_delimiter_can_be_corrected() -> None:
    data = b"took|what\n5|a\n6|b\n"
    asked = read("file.csv", data)
    assert [question.kind for question in asked.understanding.questions] == ["roles"]
    roles = {"took": "latency", "what": "technique"}
    file = read("file.csv", data, Corrections(roles=roles, units={"took": "us"}))
    assert latencies(file) == pytest.approx([5e-6, 6e-6])
    assert file.frame["variant"].tolist() == ["a", "b"]
    headerless = read("file.csv", data, Corrections(has_header=False, delimiter="|"))
    assert headerless.understanding.rows_read == 3


def test_a_unit_of_another_kind_than_its_column_is_asked_for_again() -> None:
    data = b"technique,latency,gflops\neager,5,7\n"
    for unit in ("MiB", "GB/s", "%"):
        file = read("file.csv", data, Corrections(units={"latency": unit}))
        assert [question.columns for question in file.understanding.questions] == [("latency",)]
        assert misfit("latency", "latency", unit).startswith(f"'latency': {unit} is no unit of \"Time per call")
    assert (
        misfit("latency", "latency", "ms") == misfit("latency", "latency", None) == misfit("gpu", "device", "ms") == ""
    )
    assert latencies(read("file.csv", data, Corrections(units={"latency": "ms"}))) == [0.005]


@pytest.mark.parametrize(
    ("data", "empty"),
    [
        (b"technique,latency_ms\neager,6\ncompile,\ngraphs,n/a\n", [(2, ""), (3, "n/a")]),
        (b"technique,throughput (req/s)\neager,100\ncompile,0\n", [(2, "0")]),
        (b"eager_ms,compile_ms,batch\n6,4,1\n,,8\n,3,16\n", [(2, "")]),
    ],
)
def test_a_row_without_any_value_is_set_aside_and_says_so(data: bytes, empty: list[tuple[int, str]]) -> None:
    understood = read("file.csv", data).understanding
    assert [(cell.row, cell.value, cell.reason) for cell in understood.set_aside] == [
        (row, value, "no value") for row, value in empty
    ]
    assert understood.rows_kept + understood.cells_set_aside == understood.rows_read


def test_a_row_that_is_set_aside_for_a_reason_is_listed_once() -> None:
    (cell,) = read("file.csv", b"technique,latency_ms\neager,6\ncompile,-1\n").understanding.set_aside
    assert cell.reason.startswith("negative")


def test_a_unit_of_another_kind_in_a_cell_is_set_aside() -> None:
    file = read("file.csv", b"device,latency_ms\nA,6\nB,4 GiB\n")
    assert [cell.value for cell in file.understanding.set_aside] == ["4 GiB"]


def test_large_files_are_read_as_small_ones_are(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = "".join(f'"A, {i % 3}",eager,{i % 7},{5 + i / 100:.2f}\n' for i in range(500))
    data = f"# made for this test\ndevice,technique,batch,latency_ms\n{rows}broken,row\n".encode()
    small = read("file.csv", data)
    monkeypatch.setattr(table, "ROW_BY_ROW_BYTES", 0)
    large = read("file.csv", data)
    kept = small.frame[small.frame["row"] <= 500]
    assert large.frame.astype(object).equals(kept.astype(object))
    assert [(cell.row, cell.reason) for cell in large.understanding.set_aside] == [
        (501, "the row has 2 cells, the header 4")
    ]


def test_a_large_file_with_an_open_quote_is_refused() -> None:
    with pytest.raises(UnreadableFile, match="quote"):
        large_table.read("file.csv", b'a,b\n1,2\n"3' + b"5,6\n" * 2**20, ",", ["a", "b"], skip_rows=1)


def test_hyperfines_csv_is_summary_only() -> None:
    data = b"command,mean,stddev,median,user,system,min,max\neager,2.0,0.1,1.9,1,0,1.8,2.2\ncompile,1.0,0.1,0.9,1,0,0.8,1.2\n"
    file = read("file.csv", data)
    assert file.understanding.format == "hyperfine CSV"
    assert file.frame["statistic"].tolist() == ["median", "mean"] * 2


def test_google_benchmark_repetitions_are_samples_and_aggregates_are_left_out() -> None:
    def entry(run_type: str, time: float, **more: object) -> dict[str, object]:
        return {"name": "BM_a", "run_name": "BM_a", "run_type": run_type, "real_time": time, "time_unit": "us"} | more

    entries = [entry("iteration", 50, repetition_index=0), entry("iteration", 52, repetition_index=1)]
    aggregates = [entry("aggregate", 51, aggregate_name="median"), entry("aggregate", 1, aggregate_name="stddev")]
    failed = {"name": "BM_b", "error_occurred": True, "error_message": "no device"}
    data = json.dumps({"context": {}, "benchmarks": [*entries, *aggregates, failed]}).encode()
    frame = read("file.json", data).frame
    assert frame["latency_s"].dropna().tolist() == pytest.approx([50e-6, 52e-6])
    assert frame["reason"].dropna().tolist() == ["no device"]


def test_numbers_in_json_may_be_larger_than_any_float() -> None:
    results = [{"command": "eager", "times": [10**400, 1.0], "median": 2.0}]
    assert latencies(read("file.json", json.dumps({"results": results}).encode())) == [2.0]


def google(**entry: object) -> bytes:
    usable = {"name": "BM_a", "real_time": 50, "time_unit": "us"}
    return json.dumps({"benchmarks": [usable, {"name": "BM_b", "real_time": 60, "time_unit": "us"} | entry]}).encode()


@pytest.mark.parametrize("index", [10**400, 2**70, -1, True, "1"])
def test_a_repetition_that_is_no_place_in_a_list_is_unknown(index: object) -> None:
    frame = read("file.json", google(repetition_index=index)).frame
    assert frame["call"].isna().all()
    assert frame["latency_s"].tolist() == pytest.approx([50e-6, 60e-6])


def test_a_time_that_its_unit_makes_nothing_is_set_aside() -> None:
    file = read("file.json", google(real_time=5e-324))
    assert latencies(file) == pytest.approx([50e-6])
    assert [(cell.row, cell.reason) for cell in file.understanding.set_aside] == [
        (2, "too large or too small for a time in seconds")
    ]


def test_a_unit_that_is_none_of_time_is_no_time() -> None:
    file = read("file.json", google(time_unit="GB"))
    assert latencies(file) == pytest.approx([50e-6])
    assert "'BM_b' (row 2) is not a time" in file.understanding.notes[0]


def test_optimum_benchmarks_json_keeps_its_targets_apart() -> None:
    def latency(*values: float) -> dict[str, object]:
        return {"latency": {"unit": "s", "values": list(values), "p50": values[0]}}

    document = {
        "config": {
            "name": "llama_compile",
            "backend": {"model": "llama", "torch_dtype": "bfloat16"},
            "environment": {"gpu": ["NVIDIA H100", "NVIDIA H100"], "gpu_vram_mb": 1},
            "scenario": {"input_shapes": {"batch_size": 4, "sequence_length": 128}},
        },
        "report": {"load_model": latency(9.0), "prefill": latency(0.1, 0.2), "decode": latency(0.5)},
    }
    file = read("benchmark.json", json.dumps(document).encode())
    assert file.understanding.devices == ("NVIDIA H100 x2",)
    frame = file.frame
    assert frame["operator"].tolist() == ["prefill", "prefill", "decode"]
    assert set(zip(frame["dtype"], frame["batch_size"], frame["sequence_length"], strict=True)) == {
        ("bfloat16", 4, 128)
    }


def test_nvbenchs_csv_is_understood_as_a_table() -> None:
    data = (
        b"Benchmark,Device,Device Name,Elements,Samples,CPU Time (sec),Noise (%),GPU Time (sec),GlobalMem BW (bytes/sec)\n"
        b"copy,0,NVIDIA H100,1024,9000,1.1e-05,3.2,5.0e-06,2.1e9\n"
    )
    frame = read("nvbench.csv", data).frame
    times = frame[frame["latency_s"].notna()]
    assert times[["device", "operator", "elements", "latency_s"]].values.tolist() == [
        ["NVIDIA H100", "copy", 1024, 5e-6]
    ]


def test_tools_that_time_many_calls_at_once_state_means_and_no_percentile() -> None:
    """pytest-benchmark and google-benchmark both report such a time divided by its number of calls."""
    stats = {"median": 2.0, "mean": 2.0, "iterations": 50, "data": [2.0] * 200}
    ours = {"benchmarks": [{"name": "dot", "stats": stats}]}
    rows = [{"name": "dot", "iterations": 50, "real_time": 2.0, "time_unit": "s"} for _ in range(200)]
    for document in (ours, {"benchmarks": rows}):
        (arm,) = summarise(read("times.json", json.dumps(document).encode()).frame)
        assert (arm.samples, arm.calls_per_sample, arm.p95) == (200, 50, None)


def table_of(rows: str) -> list[DeviceArm]:
    return summarise(read("times.csv", rows.encode()).frame)


def test_a_stage_that_is_no_phase_of_ours_keeps_rows_apart_and_loses_none() -> None:
    arms = table_of(
        "technique,stage,latency_ms\neager,Prefill,9\neager,decode,3\neager,warm up,50\neager,steady state,4\n"
    )
    assert [(str(arm.point), arm.value) for arm in arms] == [
        ("stage=Prefill", pytest.approx(0.009)), ("stage=decode", 0.003), ("all rows", 0.004),
    ]  # fmt: skip


def test_an_arm_of_warm_up_alone_says_so() -> None:
    (arm,) = table_of("technique,phase,latency_ms\neager,warmup,9\n")
    assert (arm.value, arm.failure) == (None, "no steady call: first calls or warm-up only")


@pytest.mark.parametrize("header", ["run", "run_id", "Run"])
def test_numbered_runs_are_repeats_of_one_process_and_give_no_verdict(header: str) -> None:
    """Repeats inside a process are not independent (METHOD 1.4); whoever knows better says "Process" in the roles form."""
    rows = [f"{name},{run},{value + run / 100}" for name, value in (("eager", 6), ("compile", 4)) for run in range(5)]
    data = f"technique,{header},latency_ms\n" + "\n".join(rows) + "\n"
    for known, processes in ((Corrections(), 0), (Corrections(roles={header: "process"}), 5)):
        arms = summarise(read("times.csv", data.encode(), known).frame)
        compared = over_own_baseline(arms, "eager")[1]
        assert [arm.processes for arm in arms] == [processes] * 2
        assert (compared.interval is None) == (not processes)
        assert compared.verdict is (Verdict.FASTER if processes else Verdict.NO_VERDICT)


def test_runs_with_names_keep_rows_apart() -> None:
    arms = table_of("technique,run,latency_ms\neager,monday,6\neager,tuesday,7\n")
    assert [(str(arm.point), arm.value) for arm in arms] == [("run=monday", 0.006), ("run=tuesday", 0.007)]


@pytest.mark.parametrize("header", ["result (ms)", "p90_ms", "min_time_ms", "result"])
def test_a_column_that_may_be_the_times_is_asked_about_and_not_refused(header: str) -> None:
    data = f"device,technique,{header}\nA,eager,6\nA,compile,4\n".encode()
    (question,) = read("times.csv", data).understanding.questions
    assert question.kind == "roles"
    answers = Corrections(roles={header: "latency"}, units={header: "ms"})
    assert latencies(read("times.csv", data, answers)) == [0.006, 0.004]
