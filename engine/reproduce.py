"""The command that measures a row again as it was measured: beside the others of its run. To be pasted into a terminal."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from engine.catalog import VARIANTS, Variant, fits
from engine.catalog.types import TWIN_SUFFIX
from engine.comparison import ComparisonRow
from engine.dynamic_shapes.requests import realistic_lengths, within_budget
from engine.formatting import counted
from engine.operator_experiment import FULL_RANGES
from engine.result import Run
from engine.spec import PANGRAM, Experiment, Workload

_POINT_FLAGS = {
    "model": "--model",
    "batch_size": "--batch-size",
    "sequence_length": "--sequence-length",
    "dtype": "--dtype",
}
_OPERATOR_FLAGS = {"elements": "--elements", "operations": "--operations", "dtype": "--dtype"}
"""Of operators that are swept; the others have one size, which their technique brings along."""

Options = list[tuple[str, object]]


def command(run: Run, row: ComparisonRow) -> str:
    """`python -m engine run ...` for the row's point, device and protocol, with every variant measured there.

    All of them, because an interval holds for the variants of a run together: fewer would give a narrower one. Requests of
    one's own are in no file here; a comment at the end of the line says what to do about them.
    """
    experiment, variants = run.experiment, _variants(run.experiment, row)
    options: Options = [("--variant", variant) for variant in variants]
    options += [("--device", row.device), ("--protocol", experiment.protocol.name)]
    if row.workload.model and any(VARIANTS[key].serves_many for key in variants if key in VARIANTS):
        options += [pair for pair in _point(row.workload) if pair[0] != "--sequence-length"]
        options += [*_settings(experiment), *_all_lengths(experiment)]
    else:
        options += [*_point(row.workload), *_settings(experiment)]
    line = shlex.join(["python", "-m", "engine", "run", *(str(part) for pair in options for part in pair)])
    return f"{line}  # {_own_requests(experiment)}" if ("--requests", "FILE") in options else line


def _variants(experiment: Experiment, row: ComparisonRow) -> list[str]:
    """What was chosen at the row's point, without baselines that others bring along."""
    known: Sequence[Variant] = [VARIANTS[key] for key in experiment.variants if key in VARIANTS]
    fitting = [variant for variant in known if fits(variant, row.workload)]
    brought_along = {variant.baseline for variant in fitting if variant.key != variant.baseline}
    return [each.key for each in fitting if each.key not in brought_along] or [row.variant.removesuffix(TWIN_SUFFIX)]


def _point(workload: Workload) -> Options:
    flags = _POINT_FLAGS if workload.model else _OPERATOR_FLAGS if workload.operator in FULL_RANGES else {}
    return [(flag, value) for name, flag in flags.items() if (value := getattr(workload, name)) is not None]


def _settings(experiment: Experiment) -> Options:
    """What differs from the usual."""
    settings: tuple[tuple[str, object, object], ...] = (
        ("--cache", experiment.cache_mode, "hot"),
        ("--threads", experiment.threads, None),
        ("--matmul-precision", experiment.matmul_precision, "highest"),
        ("--text", experiment.text, PANGRAM),
    )
    return [(flag, value) for flag, value, usual in settings if value != usual]


def _all_lengths(experiment: Experiment) -> Options:
    """Every length in its order, and what brings the same requests about: nothing where they are the usual ones.

    Where one process serves every length, one of them alone would be another run.
    """
    points = [point for point in experiment.workloads if point.model]
    found: Options = [
        ("--sequence-length", length) for length in dict.fromkeys(each.sequence_length for each in points)
    ]
    requests, longest = experiment.request_lengths, max(point.sequence_length or 1 for point in points)
    batch_size = points[0].batch_size or 1
    if requests == within_budget(realistic_lengths(longest), batch_size, experiment.device).lengths:
        return found
    if requests == realistic_lengths(longest, len(requests)):
        return [*found, ("--request-count", len(requests))]
    return [*found, ("--requests", "FILE")]


def _own_requests(experiment: Experiment) -> str:
    count = counted(len(experiment.request_lengths), "request")
    return f"FILE is yours to write: the {count} of this run were a list of its own, one length in tokens per row"
