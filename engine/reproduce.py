"""The command that measures a row again, to be pasted into a terminal."""

from __future__ import annotations

import shlex

from engine.catalog import VARIANTS
from engine.catalog.types import TWIN_SUFFIX
from engine.comparison import ComparisonRow
from engine.dynamic_shapes.requests import realistic_lengths, within_budget
from engine.operator_experiment import FULL_RANGES
from engine.result import Run
from engine.spec import PANGRAM, Experiment

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
    pairs = list(options.items())
    if _serves_lengths(row):
        pairs = [(flag, value) for flag, value in pairs if flag != "--sequence-length"] + _all_lengths(experiment)
    parts = [str(part) for pair in pairs for part in pair]
    return shlex.join(["python", "-m", "engine", "run", *parts])


def _serves_lengths(row: ComparisonRow) -> bool:
    """Whether the row's process served every length of the run, so that one length alone would be another run."""
    variant = VARIANTS.get(row.variant.removesuffix(TWIN_SUFFIX))
    return bool(variant and variant.serves_many and row.workload.model)


def _all_lengths(experiment: Experiment) -> list[tuple[str, object]]:
    """Every length in its order, and what brings the same requests about: nothing where they are the usual ones."""
    points = [point for point in experiment.workloads if point.model]
    found: list[tuple[str, object]] = [("--sequence-length", point.sequence_length) for point in points]
    requests, longest = experiment.request_lengths, max(point.sequence_length or 1 for point in points)
    batch_size = points[0].batch_size or 1
    if requests == within_budget(realistic_lengths(longest), batch_size, experiment.device).lengths:
        return found
    if requests == realistic_lengths(longest, len(requests)):
        return [*found, ("--request-count", len(requests))]
    return [*found, ("--requests", "requests.csv")]
