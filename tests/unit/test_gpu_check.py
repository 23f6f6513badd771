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


def answering(monkeypatch: pytest.MonkeyPatch, smoke: dict[str, Any], tests: str, problem: str | None = None) -> None:
    def output(command: list[str], _limit_s: float) -> tuple[str, str | None]:
        return (json.dumps(smoke), None) if "engine.child.smoke" in command else (tests, problem)

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
    answering(monkeypatch, broken, "1 failed, 9 passed", "Exit code 1: nothing said.")
    smoke, tests, *_ = check(tmp_path).steps
    assert (smoke.passed, tests.passed) == (False, False)
    assert len(measured) == len(gpu_check.MEASURED)


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


def test_what_hangs_is_ended_and_named() -> None:
    output, problem = gpu_check._output(["sleep", "30"], 0.1)
    assert output == "" and problem == "No answer within 100 ms."
