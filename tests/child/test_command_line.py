"""The command line as a person calls it, on fake children: output, exit codes, Ctrl-C, files."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from engine import results_csv
from engine.catalog import TECHNIQUES
from engine.comparison import compare_run, number
from engine.store import Store

ROOT = Path(__file__).resolve().parents[2]
FAKE = Path(__file__).with_name("fake_child.py")
QUICK = ("--technique", "torch-compile", "--model", "fake", "--protocol", "quick")
WITH_FAKE_CHILDREN = """
import dataclasses, functools, sys
from engine import runner
from engine.spec import PROTOCOLS

PROTOCOLS["quick"] = dataclasses.replace(PROTOCOLS["quick"], rounds=2, rest_s=0.001)

command = (sys.executable, {fake!r}, {modes!r})
runner.describe_machine = functools.partial(runner.describe_machine, command)
runner.record = functools.partial(runner.record, child_command=command)

from engine.cli import main
main()
"""


@pytest.fixture
def start(tmp_path):
    """Start `python -m engine ...` with children that behave as `modes` say; the machine's lock is the test's own."""
    (tmp_path / "tmp").mkdir()
    started = []

    def run(*arguments, modes=None):
        script = WITH_FAKE_CHILDREN.format(fake=str(FAKE), modes=json.dumps(modes or {}))
        process = subprocess.Popen(
            [sys.executable, "-c", script, *arguments],
            cwd=ROOT,
            env=os.environ
            | {"TMPDIR": str(tmp_path / "tmp"), "COLUMNS": "100", "LATENCY_LAB_DATA": str(tmp_path / "data")},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield run
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def call(start):
    """Run a command to its end: exit code, stdout, stderr."""

    def run(*arguments, modes=None):
        process = start(*arguments, modes=modes)
        output, errors = process.communicate(timeout=240)
        return process.returncode, output, errors

    return run


def test_run_shows_a_table_and_writes_a_file_that_verifies(call, tmp_path):
    csv = tmp_path / "out.csv"
    code, output, _ = call("run", *QUICK, "--csv", str(csv), "--label", "quiet machine")
    assert "torch.compile" in output
    assert "1.00x" in output
    (run,) = results_csv.read(csv)
    assert (run.status, run.label) == ("done", "quiet machine")
    verified, said, _ = call("verify", str(csv))
    assert (verified, code) == (0, 0)
    assert "1 run, " in said


def test_verify_fails_when_a_cell_was_changed(call, tmp_path):
    csv = tmp_path / "out.csv"
    call("run", "--technique", "baseline", *QUICK[2:], "--csv", str(csv))
    csv.write_text(csv.read_text().replace(",0.001,", ",0.0009,", 1))
    code, _, errors = call("verify", str(csv))
    assert code == 1
    assert "rows" in errors


def test_the_baseline_alone_is_measured_against_its_twin_with_exit_code_0(call):
    code, output, _ = call("run", "--technique", "baseline", *QUICK[2:])
    assert code == 0
    assert "Eager, again (A/A)" in output


def test_json_goes_to_stdout_alone(call):
    code, output, errors = call("run", "--technique", "baseline", *QUICK[2:], "--json")
    found = json.loads(output)
    assert code == 0
    assert found["run"]["status"] == "done"
    assert {row["variant"] for row in found["rows"]} == {"baseline/eager", "baseline/eager@twin"}
    assert "Ctrl-C" in errors


def test_a_failing_variant_gives_exit_code_1_its_reason_and_its_log(call):
    code, output, errors = call("run", *QUICK, modes={"torch-compile/default": "segfault"})
    assert code == 1
    assert "segmentation fault" in output
    (log,) = [line.removeprefix("Log: ") for line in errors.splitlines() if line.startswith("Log: ")]
    assert Path(log).exists()


def test_a_run_without_failures_leaves_no_files_behind(call, tmp_path):
    call("run", "--technique", "baseline", *QUICK[2:])
    assert not list((tmp_path / "tmp").glob("latency-lab-*"))


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda stop: stop.name)
def test_ctrl_c_a_kill_and_a_closed_terminal_keep_what_is_finished(start, tmp_path, stop):
    csv = tmp_path / "out.csv"
    process = start("run", *QUICK, "--csv", str(csv), modes={"torch-compile/default": "hang"})
    wait_for_log(tmp_path / "tmp", "torch-compile")
    process.send_signal(stop)
    output, _ = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "cancelled" in output
    (run,) = results_csv.read(csv)
    assert run.status == "cancelled"


def wait_for_log(folder, name):
    deadline = time.monotonic() + 20
    while not list(folder.glob(f"*/logs/{name}*")):
        assert time.monotonic() < deadline, "the child never started"
        time.sleep(0.1)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("run", "--technique", "nonsense"), "Technique 'nonsense' does not exist; choose one of baseline"),
        (("run",), "name a --technique"),
        (("run", *QUICK, "--batch-size", "0"), "batch_size is 0; allowed are whole numbers from 1 to 4,096"),
        (("run", *QUICK, "--sequence-length", "99999"), "sequence_length is 99999"),
        (("run", *QUICK[:-1], "eternal"), "Protocol 'eternal' does not exist"),
        (("run", *QUICK, "--device", "cuda:7"), "Device 'cuda:7' is not on this machine; it has cpu"),
        (("run", *QUICK, "--csv", "/proc/none/out.csv"), "cannot be written"),
        (("run", "--technique", "dynamic-shapes", "--requests", "none.csv"), "none.csv cannot be read"),
        (("run", *QUICK, "--requests", "none.csv"), "Add --technique dynamic-shapes"),
        (("run", "--technique", "preallocation", "--part", "all"), "Part 'all' does not exist; choose from example"),
    ],
)
def test_what_cannot_be_carried_out_is_one_sentence_and_exit_code_2(call, arguments, words):
    code, output, errors = call(*arguments)
    assert code == 2
    assert words in errors.replace("\n", " ")
    assert "Traceback" not in output + errors


def test_a_run_over_many_lengths_tells_of_its_stream(call, tmp_path):
    (tmp_path / "requests.csv").write_text("tokens\n5\n9\n5\n")
    _, output, errors = call(
        *("run", "--variant", "dynamic-shapes/default", "--model", "fake", "--protocol", "quick"),
        *("--sequence-length", "11", "--sequence-length", "24", "--requests", str(tmp_path / "requests.csv")),
    )
    assert "3 requests of 5 to 9 tokens, half of them up to 5.\n" in errors, "nothing was cut, so nothing is said of it"
    assert "Each variant answered the stream once" in output
    assert "3 requests" in output.splitlines()[-1]


@pytest.mark.slow
def test_suite_survives_a_failing_variant_and_leaves_every_variant_with_a_number_or_a_reason(call, tmp_path):
    csv = tmp_path / "suite.csv"
    arguments = ("suite", "--model", "fake", "--protocol", "quick", "--csv", str(csv), "--request-count", "5")
    code, output, errors = call(*arguments, modes={"torch-compile/default": "segfault"})
    assert code == 1 and "segmentation fault" in output
    assert "on a 2-core CPU: the model" in errors
    runs = results_csv.read(csv)
    told = {outcome.variant.removesuffix("@twin") for run in runs for outcome in run.outcomes}
    assert told == {variant.key for technique in TECHNIQUES for variant in technique.variants}
    assert [run.id for run in runs] == [run.id for run in reversed(Store(tmp_path / "data").runs())]


@pytest.mark.slow
def test_the_table_the_file_and_the_store_of_a_suite_hold_the_same_numbers(call, tmp_path):
    csv = tmp_path / "suite.csv"
    _, output, _ = call("suite", "--model", "fake", "--protocol", "quick", "--csv", str(csv), "--request-count", "0")
    for run in results_csv.read(csv):
        rows = compare_run(run)
        assert compare_run(Store(tmp_path / "data").run(run.id)) == rows
        for row in rows:
            line = f"{row.label} {number(row)} {row.verdict}" if row.speedup and not row.is_baseline else row.label
            assert line in " ".join(output.replace("│", " ").replace("┃", " ").split()), line


def test_devices_lists_what_can_be_measured_here(call):
    code, output, _ = call("devices")
    assert code == 0
    assert "Fake CPU" in output
    assert "torch-compile/default" in output
    code, output, _ = call("devices", "--json")
    assert json.loads(output)["hostname"] == "fake"
