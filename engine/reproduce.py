"""The command that measures a row again, to be pasted into a terminal."""

from __future__ import annotations

import shlex

from engine.comparison import ComparisonRow
from engine.operator_experiment import FULL_RANGES
from engine.result import Run
from engine.spec import PANGRAM

_POINT_FLAGS = {
    "model": "--model",
    "batch_size": "--batch-size",
    "sequence_length": "--sequence-length",
    "dtype": "--dtype",
}
_OPERATOR_FLAGS = {"elements": "--elements", "operations": "--operations", "dtype": "--dtype"}
"""Of operators that are swept; the others have one size, which their technique brings along."""


def command(run: Run, row: ComparisonRow) -> str:
    """`python -m engine run ...` for this row's variant, point, device and protocol."""
    experiment, workload = run.experiment, row.workload
    options: dict[str, object] = {
        "--variant": row.variant,
        "--device": row.device,
        "--protocol": experiment.protocol.name,
    }
    flags = _POINT_FLAGS if workload.model else _OPERATOR_FLAGS if workload.operator in FULL_RANGES else {}
    options |= {flag: value for name, flag in flags.items() if (value := getattr(workload, name)) is not None}
    if experiment.cache_mode != "hot":
        options["--cache"] = experiment.cache_mode
    if experiment.threads is not None:
        options["--threads"] = experiment.threads
    if experiment.matmul_precision != "highest":
        options["--matmul-precision"] = experiment.matmul_precision
    if experiment.text != PANGRAM:
        options["--text"] = experiment.text
    parts = [str(part) for option in options.items() for part in option]
    return shlex.join(["python", "-m", "engine", "run", *parts])
