"""The order, the limits and the report of `gpu-check`; what it starts is replaced, nothing is measured."""

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine import gpu_check, results_csv
from engine.gpu_check import GpuCheck
from engine.result import Capability, Device, Run
from engine.runner.child_process import ROOT
from engine.spec import Experiment
from tests.hand_made import CPU, MACHINE
from tests.unit.hand_made import standard_run

GPU = Device(key="cuda:0", name="Hand-made GPU", backend="cuda", identity="GPU-0")
GPU_BOX = replace(MACHINE, devices=(CPU, GPU), capabilities={"triton": Capability(is_present=True, detail="")})
SMOKE: dict[str, Any] = {
    "torch": "2.11.0", "cuda": "13.0", "device": "Hand-made GPU", "private_names": 20, "unknown": [],
    "works": {"torch.compile": "works (1.0 s)"},
}  # fmt: skip


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[Experiment]:
    """Experiments that would have been measured, in order; a finished run stands in for each."""
    asked: list[Experiment] = []

    def record(experiment: Experiment, *_: Any, **__: Any) -> Run:
        asked.append(experiment)
        return standard_run(protocol="quick")

    monkeypatch.setattr(gpu_check, "record", record)
    return asked


def answering(monkeypatch: pytest.MonkeyPatch, smoke: dict[str, Any], tests: str, exit_code: int | None = 0) -> None:
    def output(module: list[str], _limit_s: float, _log: Path) -> tuple[str, int | None]:
        return (json.dumps(smoke), 0) if "engine.child.smoke" in module else (tests, exit_code)

    monkeypatch.setattr(gpu_check, "_output", output)


def check(folder: Path, device: str = "cuda:0", limit_s: float = 300.0) -> GpuCheck:
    deadline = time.monotonic() + limit_s
    made = GpuCheck(machine=GPU_BOX, device=device, folder=folder, deadline=deadline, tell=lambda _: None)
    made.run()
    return made


def test_techniques_are_measured_in_the_order_of_the_journey_each_with_its_csv(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, measured: list[Experiment]
) -> None:
    answering(monkeypatch, SMOKE, "10 passed in 3.00s")
    done = check(tmp_path)
    assert [step.title for step in done.steps[:5]] == ["Smoke", "GPU tests", "Baseline", "torch.compile", "CUDA Graphs"]
    assert [experiment.variants for experiment in measured] == list(gpu_check.MEASURED)
    assert all(experiment.device == "cuda:0" and experiment.protocol.name == "quick" for experiment in measured)
    assert all(step.passed for step in done.steps)
    assert results_csv.verify(tmp_path / "1-baseline.csv").passed
    report = (tmp_path / "report.md").read_text()
    assert "Hand-made GPU" in report and "## torch.compile: ok" in report


def test_a_missing_interface_is_unknown_and_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, measured: list[Experiment]
) -> None:
    answering(monkeypatch, SMOKE | {"unknown": ["torch._dynamo.gone"]}, "14 skipped in 1.00s")
    smoke, tests, *_ = check(tmp_path).steps
    assert smoke.passed and "`torch._dynamo.gone`" in smoke.text
    assert tests.passed is None


def test_failing_steps_hide_none_of_the_later_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, measured: list[Experiment]
) -> None:
    broken = SMOKE | {"works": {"torch.compile": "failed: RuntimeError: no"}}
    answering(monkeypatch, broken, "= 1 failed, 9 passed in 3.00s =", 1)
    smoke, tests, *_ = check(tmp_path).steps
    assert (smoke.passed, tests.passed) == (False, False)
    assert "Exit code 1: 1 failed, 9 passed in 3.00s" in tests.text
    assert len(measured) == len(gpu_check.MEASURED)


def test_an_error_in_a_step_is_reported_and_the_next_step_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guard: `except` in `_do`; the smoke test printed no JSON, and the first measurement ends the runner."""
    calls = iter([OSError("no space left on device")])

    def record(*_: Any, **__: Any) -> Run:
        for error in calls:
            raise error
        return standard_run(protocol="quick")

    monkeypatch.setattr(gpu_check, "record", record)
    monkeypatch.setattr(gpu_check, "describe_machine", lambda: GPU_BOX)
    monkeypatch.setattr(gpu_check, "_output", lambda module, *_: ("no JSON here", 0))
    said: list[str] = []
    assert gpu_check.check("cuda:0", tmp_path, said.append) == 1
    assert said[-1] == "Failed: Smoke, Baseline."
    report = (tmp_path / "report.md").read_text()
    assert "OSError: no space left on device" in report and "## torch.compile: ok" in report
    assert "Traceback" in (tmp_path / "errors.log").read_text()


@pytest.mark.parametrize(
    ("closing", "passed"), [("= 12 passed in 75.00s =", None), ("= 1 failed, 11 passed in 75.00s =", False)]
)
def test_gpu_tests_that_run_out_of_time_say_so_and_what_passed_until_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, measured: list[Experiment], closing: str, passed: bool | None
) -> None:
    answering(monkeypatch, SMOKE, closing, None)
    tests = check(tmp_path).steps[1]
    assert tests.passed is passed
    assert tests.text == f"Stopped after 75.0 s: {closing.strip('= ')}; tests.log has the rest."


def test_every_file_of_gpu_tests_has_its_place_in_the_order() -> None:
    files = (ROOT / "tests" / "gpu").glob("test_*.py")
    assert sorted(gpu_check.TESTS) == sorted(path.stem.removeprefix("test_") for path in files)


def test_nothing_is_begun_that_could_not_end_in_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, measured: list[Experiment]
) -> None:
    answering(monkeypatch, SMOKE, "10 passed in 3.00s")
    steps = check(tmp_path, limit_s=gpu_check.SHORTEST_S / 2).steps
    assert measured == []
    assert {step.text for step in steps[2:]} == {"Not begun: the time was used up."}


def test_a_variant_this_device_cannot_run_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, measured: list[Experiment]
) -> None:
    answering(monkeypatch, SMOKE, "14 skipped in 1.00s")
    steps = {step.title: step for step in check(tmp_path, device="cpu").steps}
    assert steps["max-autotune"].passed is None
    assert "no CUDA" in steps["max-autotune"].text


def test_without_cuda_it_says_so_in_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_check, "describe_machine", lambda: MACHINE)
    said: list[str] = []
    assert gpu_check.check(None, tmp_path, said.append) == 2
    assert len(said) == 1 and "no CUDA device" in said[0]


def test_what_hangs_is_ended_and_what_it_had_said_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a run of tests that takes too long: its process prints, then waits."""
    (tmp_path / "hanging.py").write_text("import time\nprint('3 passed so far')\ntime.sleep(30)\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    output, exit_code = gpu_check._output(["hanging"], 2.0, tmp_path / "hanging.log")
    assert exit_code is None
    assert output.startswith("3 passed so far\n")
    assert (tmp_path / "hanging.log").read_text() == output
