"""First results from a GPU box within five minutes: `python -m engine gpu-check`.

No network, no streamlit, torch 2.11 or newer. A smoke test first, then `tests/gpu`, then a few variants in the order of the
journey, the result CSV after each and a Markdown report that is rewritten after every step, so that whatever ends the check
early loses nothing; a step that fails hides no later one. Exit codes: 0 all well, 1 something failed, 2 there was nothing to
check.
"""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from engine.catalog import Variant, find_technique, find_variant, why_unavailable
from engine.comparison import compare_run
from engine.exports import markdown_table
from engine.formatting import seconds
from engine.result import Failure, Machine, Run
from engine.results_csv import write
from engine.runner import describe_machine, record
from engine.runner.child_process import ROOT
from engine.spec import PROTOCOLS, Experiment, Workload

LIMIT_S = 300.0
SMOKE_LIMIT_S = 60.0
TESTS_LIMIT_S = 75.0
END_GRACE_S = 5.0
"""For pytest to say, once interrupted, what had passed and failed until then."""
RESERVE_S = 20.0
"""Kept for every later step: one variant that hangs must not hide the others."""
SHORTEST_S = 15.0
"""With less time than this left no measurement is begun: a process start and a load would use it up."""
MODEL = "distilbert-base-uncased"
LENGTHS = (11, 17, 64)
"""Tokens. Variants that serve several lengths get all of these, the others the article's 11."""
TESTS = ("stopwatch", "cuda_graphs", "readings", "memory_and_fusion", "recorded_lengths", "tuning")
"""Files of `tests/gpu` in the order they run: the clock that everything rests on, then proofs, then what takes longest."""
MEASURED = (
    ("baseline/eager",),
    ("torch-compile/default",),
    ("cuda-graphs/reduce-overhead", "cuda-graphs/eager-served"),
    ("max-autotune/no-cudagraphs",),
    ("dynamic-shapes/no-cudagraphs",),
)
"""Few enough to fit; `python -m engine suite` measures everything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What one step came to. `passed` None: it could not be done here, and `text` says why."""

    title: str
    text: str
    passed: bool | None
    took_s: float


@dataclass(kw_only=True)
class GpuCheck:
    """One check under way: results go to `folder`, everything ends by `deadline` (monotonic seconds)."""

    machine: Machine
    device: str
    folder: Path
    deadline: float
    tell: Callable[[str], None]
    steps: list[Step] = field(default_factory=list)

    def run(self) -> list[Step]:
        """All steps that fit before the deadline."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._do("Smoke", self._smoke)
        self._do("GPU tests", self._tests)
        for place, keys in enumerate(MEASURED, start=1):
            variants = [find_variant(key) for key in keys]
            reserve_s = RESERVE_S * (len(MEASURED) - place)
            self._do(find_technique(variants[0].technique).title, partial(self._measure, place, variants, reserve_s))
        return self.steps

    def left_s(self) -> float:
        """Seconds until everything must have ended."""
        return max(0.0, self.deadline - time.monotonic())

    def _do(self, title: str, step: Callable[[], tuple[str, bool | None]]) -> None:
        self.tell(f"{title} ({seconds(round(self.left_s()))} left)")
        started = time.monotonic()
        try:
            text, passed = step()
        except Exception as error:  # noqa: BLE001 -- whatever it was, on a box rented by the minute the next step is tried
            text, passed = f"{type(error).__name__}: {error} (errors.log has the traceback.)", False
            with (self.folder / "errors.log").open("a", encoding="utf-8") as log:
                log.write(f"{title}\n{traceback.format_exc()}\n")
        self.steps.append(Step(title=title, text=text, passed=passed, took_s=time.monotonic() - started))
        (self.folder / "report.md").write_text(report(self.machine, self.device, self.steps), encoding="utf-8")

    def _smoke(self) -> tuple[str, bool | None]:
        limit_s = min(SMOKE_LIMIT_S, self.left_s())
        command = ["engine.child.smoke", "--device", self.device]
        output, exit_code = _output(command, limit_s, self.folder / "smoke.log")
        if exit_code != 0:
            return f"{_ended(exit_code, limit_s)}: {_last_line(output)}; smoke.log has the rest.", False
        # Libraries may print as well.
        found = json.loads(next(line for line in reversed(output.splitlines()) if line.startswith("{")))
        unknown = ", ".join(f"`{name}`" for name in found["unknown"]) or "none"
        lines = [
            f"torch {found['torch']}, CUDA {found['cuda'] or '-'}, {found['device']}",
            f"{found['private_names']} private torch names are read; unknown to this torch: {unknown}",
            *(f"{what}: {how}" for what, how in found["works"].items()),
        ]
        return _bullets(lines), all(how.startswith("works") for how in found["works"].values())

    def _tests(self) -> tuple[str, bool | None]:
        if importlib.util.find_spec("pytest") is None:
            return "pytest is not installed here (requirements-gpu.txt).", None
        limit_s = min(TESTS_LIMIT_S, self.left_s())
        files = [f"tests/gpu/test_{name}.py" for name in TESTS]
        output, exit_code = _output(
            ["pytest", "-v", "-p", "no:cacheprovider", *files], limit_s, self.folder / "tests.log"
        )
        closing = _last_line(output).strip("= ")
        if exit_code == 0:
            return closing, True if "passed" in closing else None
        # Out of time is no failure of what was tested.
        passed = None if exit_code is None and "failed" not in closing else False
        return f"{_ended(exit_code, limit_s)}: {closing}; tests.log has the rest.", passed

    def _measure(self, place: int, variants: Sequence[Variant], reserve_s: float) -> tuple[str, bool | None]:
        reasons = [why_unavailable(variant, self.machine, self.device) for variant in variants]
        if all(reasons):
            return f"Not available here: {reasons[0]}.", None
        limit_s = self.left_s() - reserve_s
        if limit_s < SHORTEST_S:
            return "Not begun: the time was used up.", None
        run = self._record(variants, limit_s)
        path = self.folder / f"{place}-{variants[0].technique}.csv"
        write([run], path)
        failures = [each for each in run.outcomes if isinstance(each, Failure) and each.kind != "unavailable"]
        notes = [f"`{path.name}`, {run.status}", *(f"{each.variant}: {each.message}" for each in failures)]
        text = f"{markdown_table(compare_run(run))}\n{_bullets(notes)}"
        return text, not failures if run.status == "done" else None

    def _record(self, variants: Sequence[Variant], limit_s: float) -> Run:
        lengths = LENGTHS if any(variant.serves_many for variant in variants) else LENGTHS[:1]
        experiment = Experiment(
            workloads=tuple(Workload(model=MODEL, batch_size=1, sequence_length=length) for length in lengths),
            variants=tuple(variant.key for variant in variants),
            device=self.device,
            protocol=PROTOCOLS["quick"],
        )
        cancelled = threading.Event()
        alarm = threading.Timer(limit_s, cancelled.set)
        alarm.start()
        try:
            with tempfile.TemporaryDirectory() as folder:
                return record(experiment, self.machine, work_dir=Path(folder), cancelled=cancelled, label="gpu-check")
        finally:
            alarm.cancel()


def report(machine: Machine, device: str, steps: Iterable[Step]) -> str:
    """The check so far, as Markdown."""
    found = machine.device(device)
    head = f"# GPU check\n\n{found.name if found else device}, {machine.cpu_model}, {machine.system}\n"
    marks = {True: "ok", False: "failed", None: "not done"}
    parts = [f"## {step.title}: {marks[step.passed]} ({seconds(step.took_s)})\n\n{step.text}\n" for step in steps]
    return "\n".join([head, *parts])


def choose_device(machine: Machine, asked: str | None) -> str | None:
    """The device asked for, else the first CUDA device; None when there is none."""
    cuda = [device.key for device in machine.devices if device.backend in ("cuda", "hip")]
    return asked or next(iter(cuda), None)


def check(device: str | None, folder: Path, tell: Callable[[str], None], limit_s: float = LIMIT_S) -> int:
    """Check `device` (the first CUDA device unless named) and answer with the exit code."""
    deadline = time.monotonic() + limit_s
    machine = describe_machine()
    chosen = choose_device(machine, device)
    if chosen is None:
        tell(
            "This machine has no CUDA device, so there is nothing to check; `--device cpu` tries out the check itself."
        )
        return 2
    steps = GpuCheck(machine=machine, device=chosen, folder=folder, deadline=deadline, tell=tell).run()
    tell(f"Report: {folder / 'report.md'}")
    failed = [step.title for step in steps if step.passed is False]
    if failed:
        tell(f"Failed: {', '.join(failed)}.")
    return 1 if failed else 0


def _output(module: Sequence[str], limit_s: float, log: Path) -> tuple[str, int | None]:
    """What `python -m *module` printed, and its exit code: None when it was stopped after `limit_s`.

    Every line is in `log` as soon as it is printed, and nothing the command started outlives it.
    """
    command = [sys.executable, "-u", "-m", *module]
    with (
        log.open("wb") as printed,
        subprocess.Popen(command, cwd=ROOT, stdout=printed, stderr=printed, process_group=0) as process,
    ):
        exit_code: int | None = None
        try:
            exit_code = process.wait(limit_s)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                process.wait(END_GRACE_S)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    return log.read_text(encoding="utf-8", errors="replace"), exit_code


def _ended(exit_code: int | None, limit_s: float) -> str:
    return f"Stopped after {seconds(limit_s)}" if exit_code is None else f"Exit code {exit_code}"


def _last_line(output: str) -> str:
    return (output.strip().splitlines() or ["nothing was printed"])[-1].strip()


def _bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines) + "\n"
