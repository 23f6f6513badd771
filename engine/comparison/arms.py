"""A run's outcomes sorted into arms (variant at workload), and which row is divided by which baseline."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from engine import stats
from engine.catalog import VARIANTS, find_variant, fits, is_twin, twin_of
from engine.catalog.types import TWIN_SUFFIX
from engine.errors import UnknownKey
from engine.result import Block, Failure, Measurement, PointSetUp, Run
from engine.spec import Workload


@dataclass
class Arm:
    """What one variant's process sets observed at one workload; `indices[i]` is the workload's place in measurement i."""

    variant: str
    workload: Workload
    measurements: list[Measurement] = field(default_factory=list)
    indices: list[int] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)

    def blocks(self) -> Iterator[tuple[Measurement, Block]]:
        """Every block timed at this workload, with the measurement it is from."""
        for measurement, index in zip(self.measurements, self.indices, strict=True):
            for block in measurement.blocks:
                if block.workload == index:
                    yield measurement, block

    @cached_property
    def points(self) -> list[PointSetUp]:
        """How each process set came to its steady state here."""
        return [measurement.points[index] for measurement, index in zip(self.measurements, self.indices, strict=True)]

    @cached_property
    def latencies(self) -> dict[int, stats.Floats]:
        """Steady seconds per call by process set, in the order they were taken."""
        found: dict[int, list[float]] = {}
        for measurement, block in self.blocks():
            found.setdefault(measurement.process, []).extend(block.latency_s)
        return {process: np.array(values) for process, values in found.items()}

    def steady(self, processes: Iterable[int] | None = None) -> stats.Floats:
        """All steady samples, or those of some process sets."""
        chosen = self.latencies if processes is None else [p for p in processes if p in self.latencies]
        arrays = [self.latencies[process] for process in chosen]
        return np.concatenate(arrays) if arrays else np.empty(0)


Arms = dict[tuple[str, Workload], Arm]


def arms_of(run: Run) -> Arms:
    """Every arm some outcome speaks of, and every arm the experiment asks for and has not got yet."""
    arms: Arms = {key: Arm(*key) for key in _planned(run)}
    for outcome in run.outcomes:
        for index, workload in enumerate(outcome.workloads):
            arm = arms.setdefault((outcome.variant, workload), Arm(outcome.variant, workload))
            if isinstance(outcome, Measurement):
                arm.measurements.append(outcome)
                arm.indices.append(index)
            else:
                arm.failures.append(outcome)
    return {key: arm for key, arm in arms.items() if not _is_idle_twin(arm)}


def natural_baseline(variant: str) -> str:
    """The variant this one is divided by unless a reader chooses another; an A/A twin's is the arm it doubles."""
    if is_twin(variant):
        return variant.removesuffix(TWIN_SUFFIX)
    return VARIANTS[variant].baseline if variant in VARIANTS else "baseline/eager"


def precision_of(arm: Arm) -> str:
    """Precision class an arm computes in: its variant's, else the workload's dtype."""
    known = VARIANTS.get(arm.variant.removesuffix(TWIN_SUFFIX))
    return (known.precision if known else None) or arm.workload.dtype


def baseline_of(arm: Arm, arms: Arms, chosen: str | None) -> str:
    """The baseline of an arm: the chosen one where it was part of the same point, else its own."""
    if chosen is None or is_twin(arm.variant) or (chosen, arm.workload) not in arms:
        return natural_baseline(arm.variant)
    return chosen


def check_baseline(arms: Arms, chosen: str | None) -> None:
    """Raise `UnknownKey` for a baseline that is no arm of the run."""
    known = list(dict.fromkeys(variant for variant, _ in arms if not is_twin(variant)))
    if chosen is not None and chosen not in known:
        raise UnknownKey(f"Baseline {chosen!r} is not part of this run; choose one of {', '.join(known)}.")


def count_comparisons(arms: Arms, chosen: str | None) -> int:
    """k of METHOD 1.6: how many measured variants are compared with a baseline; twins are a check and do not count."""
    compared = {
        arm.variant
        for arm in arms.values()
        if arm.measurements and not is_twin(arm.variant) and arm.variant != baseline_of(arm, arms, chosen)
    }
    return max(1, len(compared))


def _planned(run: Run) -> Iterator[tuple[str, Workload]]:
    """At every workload: baselines, their twins, then the chosen variants in the experiment's order."""
    known = [find_variant(key) for key in run.experiment.variants if key in VARIANTS]
    for workload in run.experiment.workloads:
        fitting = [variant for variant in known if fits(variant, workload)]
        baselines = list(dict.fromkeys(variant.baseline for variant in fitting))
        yield from ((key, workload) for key in baselines)
        yield from ((twin_of(key), workload) for key in baselines)
        yield from ((variant.key, workload) for variant in fitting if variant.key not in baselines)


def _is_idle_twin(arm: Arm) -> bool:
    """A twin that nothing was heard of adds no row: it is planned only where its baseline runs."""
    return is_twin(arm.variant) and not arm.measurements and not arm.failures
