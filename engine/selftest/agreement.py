"""Other people's timers against ours, taking turns on the same function: T7 torch.utils.benchmark, T9 pyperf (METHOD 6).

`python -m engine.selftest.agreement` times T9's operation our way in a fresh process, as pyperf's workers do.
"""

from __future__ import annotations

import importlib.util
import itertools
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from engine.child.measurement import Stopwatch, collector_off
from engine.environment import default_threads
from engine.formatting import seconds
from engine.result import Machine
from engine.runner.child_process import ROOT
from engine.selftest.table import Row

TOLERANCE = 0.05
LIMIT_S = 300.0
SETUP = "import hashlib"
STATEMENT = "hashlib.pbkdf2_hmac('sha256', b'latency', b'lab', 10_000)"
"""A few milliseconds of pure arithmetic: interpreter loops differ by 10 % from process to process, this does not."""
VALUES, CALLS_PER_VALUE = 15, 30
PYPERF = ("--processes=3", "--values=5", "--warmups=1", f"--loops={CALLS_PER_VALUE}", "--quiet")
"""As many values of as many calls as ours; a value is a mean over back-to-back calls, as in our throughput mode."""


def with_torch_benchmark(machine: Machine, turns: int, min_run_s: float, tolerance: float = TOLERANCE) -> Row:
    """T7: our throughput mode against `Timer(num_threads=N).blocked_autorange()`."""
    arguments = ["--threads", str(default_threads(machine)), "--turns", str(turns), "--min-run-s", str(min_run_s)]
    times = json.loads(_run([sys.executable, "-m", "engine.child.agreement", *arguments]))
    return _row("T7", "torch.utils.benchmark on a linear layer with GELU", times["ours"], times["theirs"], tolerance)


def with_pyperf(turns: int, tolerance: float = TOLERANCE) -> Row:
    """T9: our stopwatch against `pyperf timeit`, both in fresh processes."""
    what = f"pyperf timeit on {STATEMENT}"
    if importlib.util.find_spec("pyperf") is None:
        return Row(
            key="T9",
            what=what,
            measured="pyperf is not installed (requirements-dev.txt)",
            limit=f"within {tolerance * 100:g} %",
            is_kept=None,
        )
    ours, theirs = [], []
    for _ in range(turns):
        ours.append(float(_run([sys.executable, "-m", "engine.selftest.agreement"])))
        theirs.append(_pyperf_median())
    return _row("T9", what, ours, theirs, tolerance)


def _pyperf_median() -> float:
    import pyperf

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "timeit.json"
        _run([sys.executable, "-m", "pyperf", "timeit", *PYPERF, "--setup", SETUP, "--output", str(path), STATEMENT])
        return float(pyperf.Benchmark.load(str(path)).median())


def _run(command: Sequence[str]) -> str:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=LIMIT_S).stdout


def _row(key: str, what: str, ours: Sequence[float], theirs: Sequence[float], tolerance: float) -> Row:
    apart = median(ours) / median(theirs) - 1
    return Row(
        key=key,
        what=what,
        measured=f"ours {seconds(median(ours))}, theirs {seconds(median(theirs))}: {apart:+.1%}",
        limit=f"within {tolerance * 100:g} %",
        is_kept=abs(apart) < tolerance,
        samples=len(ours),
    )


def time_our_way() -> float:
    """Seconds of T9's operation in this process: the median of values over back-to-back calls."""
    namespace: dict[str, Any] = {}
    exec(f"{SETUP}\ndef operation(_):\n    {STATEMENT}", namespace)
    with collector_off():
        block = Stopwatch(synchronize=lambda: None).block(
            namespace["operation"], itertools.repeat({}), VALUES, CALLS_PER_VALUE, throw_away=CALLS_PER_VALUE
        )
    return median(block.wall_s)


if __name__ == "__main__":
    sys.stdout.write(f"{time_our_way()}\n")
