"""Of all runs that are known, the few that the whole route rests on: one machine's, the strongest protocol first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Protocol as Interface
from typing import TypeVar

from engine.catalog import CLAIMS, TECHNIQUES, VARIANTS, Technique, fits
from engine.comparison import could_decide
from engine.journey import drive_points
from engine.result import Environment
from engine.spec import Experiment, Workload

DEPTH = 3
"""Runs kept for each question; the best may have been cancelled before it came to it. Enough, and few enough to stay quick."""


class Ended(Interface):
    """A run or its summary."""

    @property
    def experiment(self) -> Experiment: ...
    @property
    def environment(self) -> Environment | None: ...
    @property
    def status(self) -> str: ...


T = TypeVar("T", bound=Ended)


def basis(runs: Sequence[T], model: Workload, linked: Ended | None = None) -> list[T]:
    """The best of `runs` (ended, the newest first) for every step at `model` and for every claim, the best first.

    Better is a stronger protocol, then one that ended as planned, then the newer. Machines are never mixed: only runs of
    `linked`'s machine count, without it of the newest run's.
    """
    machine = next((machine_of(run) for run in (linked, *runs) if run is not None and run.environment), None)
    ranked = sorted((run for run in runs if machine_of(run) == machine), key=_strength, reverse=True)
    chosen = {id(run) for asked in _questions(ranked, model) for run in islice(asked, DEPTH)}
    return [run for run in ranked if id(run) in chosen]


def measures(experiment: Experiment, technique: Technique) -> bool:
    """Whether an experiment has an arm of the technique; baselines are measured with whatever is divided by them."""
    return technique.key in _techniques(experiment)


def model_point(experiment: Experiment) -> Workload | None:
    """The first model workload of an experiment; None without one."""
    return next((workload for workload in experiment.workloads if workload.model), None)


def widest(runs: Sequence[T]) -> T | None:
    """The newest of the runs that measured the most techniques; `runs` are the newest first."""
    return max(runs, key=lambda run: len(_techniques(run.experiment)), default=None)


def points_of(technique: Technique, run: Ended) -> int:
    """At how many points a run measures the technique."""
    variants = [variant for variant in technique.variants if variant.key in run.experiment.variants]
    return sum(any(fits(variant, point) for variant in variants) for point in run.experiment.workloads)


def machine_of(run: Ended) -> tuple[str | int | None, ...] | None:
    """What tells one machine from another. Not its name, which is another one in every container."""
    if run.environment is None:
        return None
    device, machine = run.environment.device, run.environment.machine
    return device.name, device.capability, machine.cpu_model, machine.physical_cores, machine.usable_cores


def _questions(ranked: Sequence[T], model: Workload) -> Iterator[Iterator[T]]:
    """For each step, at its operator points and at the model's, and for each claim: the runs that may answer."""
    arms = [(run, _techniques(run.experiment)) for run in ranked]
    for technique in TECHNIQUES:
        for points in (drive_points(technique), (model,)):
            yield (
                run
                for run, measured in arms
                if technique.key in measured and not set(points).isdisjoint(run.experiment.workloads)
            )
    for claim in CLAIMS:
        yield (run for run in ranked if could_decide(claim, run.experiment))


def _techniques(experiment: Experiment) -> set[str]:
    variants = [VARIANTS[key] for key in experiment.variants if key in VARIANTS]
    bases = [VARIANTS[variant.baseline] for variant in variants if variant.baseline in VARIANTS]
    return {variant.technique for variant in (*variants, *bases)}


def _strength(run: Ended) -> tuple[int, bool]:
    return run.experiment.protocol.process_sets, run.status == "done"
