"""The real child when something goes wrong: in the model, in the libraries, around the process."""

import os
import signal
from pathlib import Path

import pytest
from measured import (
    MeasuredChild,
    a_compiler_runs_within,
    is_gone_within,
    members_of_group,
    point,
    set_up,
    write_model_file,
)

from engine.catalog import find_variant
from engine.child.compile_check import CompileCheck
from engine.messages import Failed, PhaseChanged, ReadyToMeasure
from engine.proof import judge_mechanism
from engine.result import Measurement
from engine.spec import Workload

LINEAR = """
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x):
{forward}
        return torch.nn.functional.gelu(self.linear(x)) * 2

def build():
{build}
    return Model().eval(), (torch.randn(2, 4),)
"""


def model_file(folder: Path, forward: str = "pass", build: str = "pass") -> str:
    return write_model_file(folder, LINEAR.format(forward=f"        {forward}", build=f"    {build}"))


def fail(folder: Path, workload: Workload, variant: str = "baseline/eager", **environment: str) -> Failed:
    """What a child that cannot go on says; it has ended with exit code 1 then."""
    with MeasuredChild(folder, **environment) as child:
        failed = child.measure(set_up(workload, variant=variant))
        assert isinstance(failed, Failed), failed
        assert child.exit_code() == 1
    return failed


def test_an_exception_in_the_model_is_told_with_its_phase_and_the_traceback_is_in_the_log(tmp_path: Path) -> None:
    body = 'raise AssertionError("strides differ")'
    with MeasuredChild(tmp_path) as child:
        failed = child.measure(set_up(point(model_file(tmp_path, forward=body))))
        assert child.exit_code() == 1
    assert failed == Failed(stage="first_call", failure_kind="error", message="AssertionError: strides differ")
    assert "Traceback" in child.log() and "mine.py" in child.log()


def test_noise_on_stdout_and_stderr_does_not_disturb_the_events(tmp_path: Path) -> None:
    """From Python and from below it, as C libraries print; some of it looks like an event."""
    noise = """print('{"kind": "Finished"}'); sys.stderr.write("x" * 100000); os.write(1, b'{"kind":'); os.write(2, b'\\0\\n')"""
    with MeasuredChild(tmp_path) as child:
        measurement = child.measure(set_up(point(model_file(tmp_path, forward=noise, build=noise))))
        assert child.exit_code() == 0
    assert isinstance(measurement, Measurement)
    assert '{"kind": "Finished"}' in child.log()


def test_a_model_that_needs_more_memory_than_there_is_fails_with_its_size(tmp_path: Path) -> None:
    name = model_file(tmp_path, forward="torch.empty(2**48)")
    failed = fail(tmp_path, point(name, batch_size=64, sequence_length=512))
    assert failed.failure_kind == "out_of_memory"
    assert "batch 64, length 512" in failed.message
    assert str(4 * 2**48) in failed.message


@pytest.mark.slow
def test_without_a_compiler_a_compiled_arm_is_unavailable_and_nothing_else(tmp_path: Path) -> None:
    failed = fail(tmp_path, point(model_file(tmp_path)), "torch-compile/default", CXX="/nonexistent")
    assert (failed.failure_kind, failed.stage) == ("unavailable", "first_call")
    assert "No working C++ compiler" in failed.message


@pytest.mark.slow
def test_a_compiler_error_that_is_suppressed_shows_as_nothing_compiled(tmp_path: Path) -> None:
    """suppress_errors runs the model eagerly: the evidence must say so, or it would pass for a speed-up of 1.0x."""
    with MeasuredChild(tmp_path, CXX="/nonexistent", TORCHDYNAMO_SUPPRESS_ERRORS="1") as child:
        measurement = child.measure(set_up(point(model_file(tmp_path)), variant="torch-compile/default"))
    assert isinstance(measurement, Measurement)
    assert measurement.facts["frames_compiled"] == 0
    assert not judge_mechanism(find_variant("torch-compile/default"), [measurement]).passed


def test_sigterm_ends_the_child_at_once(tmp_path: Path) -> None:
    with MeasuredChild(tmp_path) as child:
        child.ask(set_up(point(model_file(tmp_path))), ReadyToMeasure)
        os.killpg(child.process.pid, signal.SIGTERM)
        assert child.process.wait(5) == -signal.SIGTERM
        assert is_gone_within(child.process.pid, 5)


def test_the_end_of_stdin_kills_the_whole_group_while_the_child_waits(tmp_path: Path) -> None:
    """As when the server was killed: nobody is left to end what the child started."""
    name = model_file(tmp_path, build='subprocess.Popen(["sleep", "600"])')
    with MeasuredChild(tmp_path) as child:
        child.ask(set_up(point(name)), ReadyToMeasure)
        assert len(members_of_group(child.process.pid)) == 2
        assert child.process.stdin is not None
        child.process.stdin.close()
        assert is_gone_within(child.process.pid, 5)
        assert child.process.wait(5) == -signal.SIGKILL


def test_the_end_of_stdin_kills_a_child_that_is_busy_loading(tmp_path: Path) -> None:
    with MeasuredChild(tmp_path) as child:
        child.send(set_up(point(model_file(tmp_path, build="import time; time.sleep(600)"))))
        child.wait_for(PhaseChanged)
        assert child.process.stdin is not None
        child.process.stdin.close()
        assert is_gone_within(child.process.pid, 5)


@pytest.mark.slow
def test_the_end_of_stdin_kills_running_compilers_too(tiny_model: Path, tmp_path: Path) -> None:
    with MeasuredChild(tmp_path) as child:
        child.send(set_up(point(tiny_model), variant="torch-compile/default"))
        assert a_compiler_runs_within(child.process.pid, 60)
        assert child.process.stdin is not None
        child.process.stdin.close()
        assert is_gone_within(child.process.pid, 5)


def test_a_compiler_that_takes_too_long_is_ended_and_reported() -> None:
    check = CompileCheck("cpu", time_limit_s=0.2)
    answer = check.result()
    assert not answer.is_present
    assert "took longer" in answer.detail
    assert not members_of_group(check.pid)


@pytest.mark.slow
def test_the_compiler_is_found_by_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    works = CompileCheck("cpu").result()
    assert works.is_present, works.detail
    monkeypatch.setenv("CXX", "/nonexistent")
    missing = CompileCheck("cpu").result()
    assert not missing.is_present
    assert "No working C++ compiler" in missing.detail
