"""The whole route: one experiment with an arm per step, the suite of everything, and each step's newest result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from engine.captions import shape_of
from engine.catalog import CLAIMS, TECHNIQUES, Technique, Variant, fits
from engine.comparison import ComparisonRow, compare_run
from engine.headline import leading_row
from engine.operator_experiment import last_cache_of, operator_workloads
from engine.result import Machine, Run
from engine.spec import Experiment, Protocol, Workload
from engine.verdict import Verdict

THE_MODEL, MANY_LENGTHS = "The model", "Many lengths"
"""What the suite calls its experiments on models; those on operators are called as their technique."""

WITHOUT_VERDICT = (Verdict.NOT_MEASURED, Verdict.NO_VERDICT)

Results = Iterable[tuple[Run, Sequence[ComparisonRow]]]
"""Runs with their rows, in the order in which they are asked."""


@dataclass(frozen=True, slots=True)
class Step:
    """One technique and the rows that speak for it, one per point; none and no `run` where it has not been measured."""

    technique: Technique
    rows: tuple[ComparisonRow, ...] = ()
    run: Run | None = None

    @property
    def row(self) -> ComparisonRow | None:
        """The row that speaks first."""
        return next(iter(self.rows), None)


@dataclass(frozen=True, slots=True)
class Stage:
    """One experiment of the suite."""

    title: str
    experiment: Experiment


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


def suite(
    models: Sequence[Workload],
    lengths: Sequence[Workload],
    *,
    protocol: Protocol,
    device: str = "cpu",
    requests: tuple[int, ...] = (),
    machine: Machine | None = None,
    **settings: Any,
) -> tuple[Stage, ...]:
    """Every variant of every step in as few experiments as their kinds of workload allow.

    Variants of one model point share their baseline; those that serve many lengths from one process are measured at
    `lengths` and answer `requests`; operators are measured technique by technique, at the drive's points too.
    """
    more = {"protocol": protocol, "device": device, **settings}
    of_models = [variant for technique in TECHNIQUES for variant in technique.variants if not variant.subjects]
    one, many = ([variant for variant in of_models if variant.serves_many is flag] for flag in (False, True))
    stages = [
        Stage(THE_MODEL, _experiment(one, models, more)),
        Stage(MANY_LENGTHS, _experiment(many, lengths, {**more, "request_lengths": requests})),
    ]
    for technique in TECHNIQUES:
        operators = [variant for variant in technique.variants if variant.subjects]
        if operators:
            points = (
                *operator_workloads(technique, last_cache_bytes=last_cache_of(machine, device)),
                *drive_points(technique),
            )
            stages.append(Stage(technique.title, _experiment(operators, points, more)))
    return tuple(stages)


def _experiment(variants: Iterable[Variant], points: Iterable[Workload], settings: dict[str, Any]) -> Experiment:
    keys = tuple(variant.key for variant in variants)
    return Experiment(workloads=tuple(dict.fromkeys(points)), variants=keys, **settings)


def steps(results: Results, model: Workload) -> list[Step]:
    """Every technique in the journey's order, with the rows of the first of `results` that has something to say of it.

    Model rows count at exactly `model`. Of a technique about operators the drive's points count first, its model rows where
    none of them was measured. A run without a verdict speaks only where no other has one.
    """
    pairs = list(results)
    return [_step(technique, pairs, model) for technique in TECHNIQUES]


def _step(technique: Technique, results: Sequence[tuple[Run, Sequence[ComparisonRow]]], model: Workload) -> Step:
    unmeasured = Step(technique)
    for points in filter(None, (drive_points(technique), (model,))):
        found = [Step(technique, tuple(_speakers(technique, rows, points)), run) for run, rows in results]
        for silent in (WITHOUT_VERDICT, WITHOUT_VERDICT[:1]):
            for step in found:
                if any(row.verdict not in silent for row in step.rows):
                    return step
        unmeasured = next((step for step in (unmeasured, *found) if step.rows), unmeasured)
    return unmeasured


def _speakers(
    technique: Technique, rows: Sequence[ComparisonRow], points: Iterable[Workload]
) -> Iterable[ComparisonRow]:
    own = [row for row in rows if row.technique == technique.key and not row.is_twin]
    for point in points:
        row = _speaker(technique, [row for row in own if row.workload == point], point)
        if row is not None:
            yield row


def _speaker(technique: Technique, rows: Sequence[ComparisonRow], point: Workload) -> ComparisonRow | None:
    """The row that a claim at this very point is about, else the step's best known variant, else the leading row."""
    claimed = {claim.variant for claim in CLAIMS if claim.technique == technique.key and claim.workload == point}
    known = {variant.key for variant in technique.variants if variant.in_drive}
    chosen = [row for row in rows if row.variant in claimed] or [row for row in rows if row.variant in known] or rows
    # Of several best known variants, each for its own kind of device, the one that this device could run.
    return leading_row([row for row in chosen if row.samples] or chosen, technique.key)


def leader(found: Iterable[Step]) -> ComparisonRow | None:
    """The row the route speaks of first: of the model, since operators have baselines of their own."""
    rows = [row for step in found for row in step.rows]
    return leading_row([row for row in rows if row.workload.model]) or leading_row(rows)


def rows_beside(lead: ComparisonRow, found: Iterable[Step], results: Results) -> list[ComparisonRow]:
    """Every variant at the leading row's point in the runs behind the steps; of one measured several times the first, unless
    that one has no verdict and another has.
    """
    behind = {step.run.id for step in found if step.run}
    here = [row for run, rows in results if run.id in behind for row in rows if row.workload == lead.workload]
    kept: dict[str, ComparisonRow] = {}
    for row in sorted(here, key=lambda row: row.verdict in WITHOUT_VERDICT):
        if not row.is_twin:
            kept.setdefault(row.variant, row)
    return list(kept.values())


def route_rows(found: Iterable[Step]) -> list[ComparisonRow]:
    """The steps' rows in their order; those of operators, of which one step may have several, are told apart by their size."""
    rows = [row for step in found for row in step.rows]
    return [row if row.workload.model else replace(row, label=f"{row.label}, {shape_of(row.workload)}") for row in rows]


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
