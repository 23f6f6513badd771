"""The command that measures a row again, to be pasted into a terminal."""

from __future__ import annotations

import shlex

from engine.comparison import ComparisonRow
from engine.result import Run
from engine.spec import PANGRAM

_POINT_FLAGS = {
    "model": "--model",
    "batch_size": "--batch-size",
    "sequence_length": "--sequence-length",
    "dtype": "--dtype",
}


def command(run: Run, row: ComparisonRow) -> str:
    """`python -m engine run ...` for this row's variant, point, device and protocol."""
    experiment, workload = run.experiment, row.workload
    options: dict[str, object] = {
        "--variant": row.variant,
        "--device": row.device,
        "--protocol": experiment.protocol.name,
    }
    options |= {flag: getattr(workload, name) for name, flag in _POINT_FLAGS.items() if workload.model}
    if experiment.threads is not None:
        options["--threads"] = experiment.threads
    if experiment.matmul_precision != "highest":
        options["--matmul-precision"] = experiment.matmul_precision
    if experiment.text != PANGRAM:
        options["--text"] = experiment.text
    parts = [str(part) for option in options.items() for part in option]
    return shlex.join(["python", "-m", "engine", "run", *parts])
