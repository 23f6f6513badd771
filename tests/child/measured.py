"""A real measured child (`python -m engine.child`) driven over its pipes, and the tiny models it is given."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil

from engine.messages import (
    BlockMeasured,
    Command,
    Failed,
    Finish,
    Finished,
    MeasureBlock,
    PhaseChanged,
    ReadyToMeasure,
    SetUp,
    decode,
    encode,
)
from engine.result import Measurement
from engine.spec import PANGRAM, Protocol, Workload

ROOT = Path(__file__).resolve().parents[2]
SHORT = Protocol(name="short", process_sets=1, warmup_min_s=0.05, warmup_max_s=0.5)


class MeasuredChild:
    """One child. `events` holds everything it said, `log()` what its libraries printed."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self._log = folder / "child.log"
        read_end, write_end = os.pipe()
        with self._log.open("wb") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "engine.child", "--events-fd", str(write_end)],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=output,
                pass_fds=(write_end,),
                env={**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(folder / "cache"), **environment},
                cwd=ROOT,
                process_group=0,
            )
        os.close(write_end)
        self._pipe = os.fdopen(read_end, "rb")
        self.events: list[Any] = []

    def __enter__(self) -> MeasuredChild:
        return self

    def __exit__(self, *_: object) -> None:
        assert self.process.stdin is not None
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process.stdin.close()
        self._pipe.close()

    def send(self, command: Command) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(encode(command))
        self.process.stdin.flush()

    def wait_for(self, *kinds: type) -> Any:
        """The next event of one of `kinds`, or the failure that came instead."""
        for line in self._pipe:
            self.events.append(decode(line))
            if isinstance(self.events[-1], (*kinds, Failed)):
                return self.events[-1]
        raise AssertionError(f"the child ended without an answer: {self.log()}")

    def ask(self, command: Command, kind: type) -> Any:
        self.send(command)
        return self.wait_for(kind)

    def measure(self, set_up: SetUp, samples: int = 5, calls: int = 1) -> Measurement | Failed:
        """Set up, one block per workload, finish."""
        ready = self.ask(set_up, ReadyToMeasure)
        if isinstance(ready, Failed):
            return ready
        for index in range(len(set_up.workloads)):
            block = MeasureBlock(workload=index, round=0, order=0, samples=samples, calls_per_sample=calls)
            self.ask(block, BlockMeasured)
        finished = self.ask(Finish(), Finished)
        return finished if isinstance(finished, Failed) else finished.measurement

    def phases(self) -> list[str]:
        return [event.phase for event in self.events if isinstance(event, PhaseChanged)]

    def log(self) -> str:
        return self._log.read_text(errors="replace")

    def exit_code(self) -> int:
        return self.process.wait(30)


def set_up(*workloads: Workload, variant: str = "baseline/eager", **changes: Any) -> SetUp:
    settings: dict[str, Any] = {
        "process": 0,
        "device": "cpu",
        # One thread: with more, a busy machine makes OpenMP's barriers of a tiny model take a hundred milliseconds.
        "threads": 1,
        "matmul_precision": "highest",
        "protocol": SHORT,
        "cache_mode": "hot",
        "text": PANGRAM,
        "compile_cache": "cold",
        "references": None,
    }
    return SetUp(variant=variant, workloads=workloads, **{**settings, **changes})


def point(model: str | Path, batch_size: int = 2, sequence_length: int = 8, **changes: Any) -> Workload:
    return Workload(model=str(model), batch_size=batch_size, sequence_length=sequence_length, **changes)


def members_of_group(group: int) -> list[psutil.Process]:
    """Every living process of a process group."""
    found = []
    for process in psutil.process_iter(["name"]):
        try:
            if os.getpgid(process.pid) == group and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except (ProcessLookupError, psutil.NoSuchProcess):
            continue
    return found


def is_gone_within(group: int, limit_s: float) -> bool:
    """Whether the process group empties in time."""
    deadline = time.monotonic() + limit_s
    while members_of_group(group):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def a_compiler_runs_within(group: int, limit_s: float) -> bool:
    """Whether a C++ compiler is at work in the process group in time: caught by its name, it works for a second or more."""
    deadline = time.monotonic() + limit_s
    while not any(process.info["name"] == "cc1plus" for process in members_of_group(group)):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def write_model_file(folder: Path, body: str, name: str = "mine.py") -> str:
    """A user's model file whose `forward` and `build` bodies come from `body`; returns the name to measure it by."""
    path = folder / name
    path.write_text("import os, subprocess, sys\nimport torch\n\n" + body)
    return f"{path}:build"
