"""The whole route: one experiment with an arm per step, the suite of everything, and each step's newest result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from engine.catalog import TECHNIQUES, Technique, fits
from engine.comparison import ComparisonRow, compare_run
from engine.headline import leading_row
from engine.result import Run
from engine.spec import Experiment, Protocol, Workload


@dataclass(frozen=True, slots=True)
class Step:
    """One technique and the row that speaks for it; `row` and `run` are None where it has not been measured."""

    technique: Technique
    row: ComparisonRow | None = None
    run: Run | None = None


def drive(model: Workload, device: str, protocol: Protocol, **settings: Any) -> Experiment:
    """One arm per step, the best known variant of each, all model steps against one shared baseline."""
    points = (model, *(point for technique in TECHNIQUES for point in drive_points(technique)))
    variants = tuple(
        variant.key
        for technique in TECHNIQUES
        for variant in technique.variants
        if variant.in_drive and any(fits(variant, point) for point in points)
    )
    return Experiment(workloads=points, variants=variants, device=device, protocol=protocol, **settings)


def drive_points(technique: Technique) -> tuple[Workload, ...]:
    """The operator points at which the drive measures a technique that is about operators."""
    fields: Iterable[dict[str, Any]] = technique.drive_workloads
    return tuple(Workload(**values) for values in fields)


def steps(results: Iterable[tuple[Run, Sequence[ComparisonRow]]], model: Workload) -> list[Step]:
    """Every technique in the journey's order, with the row of the first of `results` (newest first) that measured it.

    Model rows count at exactly `model`, operator rows anywhere: the drive's own points first.
    """
    pairs = list(results)
    return [_step(technique, pairs, model) for technique in TECHNIQUES]


def _step(technique: Technique, results: Sequence[tuple[Run, Sequence[ComparisonRow]]], model: Workload) -> Step:
    points = (model, *drive_points(technique))
    for run, rows in results:
        own = [row for row in rows if row.technique == technique.key and not row.is_twin]
        at_points = [row for row in own if row.workload in points]
        row = _speaker(technique, at_points)
        if row is not None:
            return Step(technique, row, run)
    return Step(technique)


def _speaker(technique: Technique, rows: Sequence[ComparisonRow]) -> ComparisonRow | None:
    """The row of the step's own best known variant where it was measured, else the technique's leading one."""
    known = {variant.key for variant in technique.variants if variant.in_drive}
    chosen = [row for row in rows if row.variant in known]
    return leading_row(chosen or rows, technique.key)


def rungs(run: Run) -> list[ComparisonRow]:
    """What each variant of a run adds to the one it builds on, both measured in the same rounds: the stacked view."""
    measured = {outcome.variant for outcome in run.outcomes}
    pairs = [
        (variant.key, variant.builds_on)
        for technique in TECHNIQUES
        for variant in technique.variants
        if variant.key in measured and variant.builds_on in measured
    ]
    by_base = {base: compare_run(run, base) for base in dict.fromkeys(base for _, base in pairs) if base}
    return [row for key, base in pairs if base for row in by_base[base] if row.variant == key]
