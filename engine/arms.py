"""Which arms an experiment has, which of them are measured together, and in what order. Pure planning (METHOD 1.4).

An arm is one variant at one workload, or at several where the variant serves many. Arms that share a workload and a
baseline form a group, whose children live at the same time and are measured in interleaved rounds.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeVar

from engine.allocator_switches import why_switched_otherwise
from engine.catalog import find_variant, fits, is_twin, twin_of, why_unavailable
from engine.catalog.types import Variant
from engine.errors import InvalidSpec
from engine.left_out import why_left_out
from engine.result import Failure, Machine
from engine.spec import Experiment, Workload

Item = TypeVar("Item")
NO_VARIABLES: Mapping[str, str] = MappingProxyType({})

MAX_CHILDREN = 6
"""Children alive at once: about 1.15 GB each at peak for DistilBERT with max-autotune and freezing (METHOD 1.4)."""
MAX_OPERATOR_CHILDREN = 8
"""Of children that measure operators: about 0.3 GB each beside the arrays of one size."""


USER_MODEL = ".py:"
"""What the name of a model from a Python file has in it (`path/to/file.py:build`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """One variant (or an A/A twin) at the workloads one child serves."""

    variant: str
    workloads: tuple[Workload, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Arms measured together. Its process sets are numbered from `first_process` on."""

    arms: tuple[Arm, ...]
    first_process: int

    @property
    def workloads(self) -> tuple[Workload, ...]:
        """Every workload some arm of the group measures."""
        return _union(self.arms)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Groups in the order they are measured, and a failure for every variant that cannot run here."""

    groups: tuple[Group, ...]
    unavailable: tuple[Failure, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cluster:
    """Arms that may share rounds, however many there are: the same baseline and the same points."""

    baseline: str
    others: tuple[Arm, ...]
    workloads: tuple[Workload, ...]


def plan(experiment: Experiment, machine: Machine | None = None, variables: Mapping[str, str] = NO_VARIABLES) -> Plan:
    """What will be measured; with a machine, variants it cannot run become failures instead of arms.

    `variables` are those of the environment: variants that need others there become failures too.

    Raises `InvalidSpec` when no chosen variant measures any of the workloads, `UnknownKey` for an unknown variant.
    """
    left_out = {
        workload: reason
        for workload in experiment.workloads
        if (reason := why_left_out(workload, experiment.device, machine))
    }
    clusters = _clusters(experiment, [workload for workload in experiment.workloads if workload not in left_out])
    if not clusters and not left_out:
        raise InvalidSpec(
            f"None of {', '.join(experiment.variants)} measures any of the chosen workloads; "
            "model variants need a model, operator variants one of their operators. Add a workload that fits."
        )
    arms = dict.fromkeys(arm for cluster in clusters for arm in _all_arms(cluster))
    reasons = {arm: _why_unavailable(arm, experiment, machine, variables) for arm in arms}
    return Plan(
        groups=_number(experiment, [part for cluster in clusters for part in _split(cluster, reasons)]),
        unavailable=(
            *(_failure(arm, reason) for arm, reason in reasons.items() if reason and not is_twin(arm.variant)),
            *(_failure(arm, reason) for point, reason in left_out.items() for arm in _arms_at(experiment, point)),
        ),
    )


def round_order(seed: int, process: int, workload: int, round_: int, arms: int) -> list[int]:
    """The random order of `arms` arms in one round at one workload; the same numbers always give the same order."""
    order = list(range(arms))
    random.Random(f"{seed}/{process}/{workload}/{round_}").shuffle(order)
    return order


def balanced_order(seed: int, number: int, items: Sequence[Item]) -> tuple[Item, ...]:
    """The order in which process set `number` of a group takes its arms for set-up, and a child its workloads.

    As given, reversed, then random orders, each followed by its own reverse: whatever coming first or last does to an item
    differs from set to set and so widens intervals, instead of being taken for an effect. Both orders are factors: the first
    length a dynamic graph sees is what it is tuned for (METHOD 2.5), and the child set up first ran 2-6 % slower than
    its twin all through its life, in each of five sets, on a 2-core Intel Xeon VM (measured; METHOD 1.4).
    """
    order = list(items)
    if number > 1:
        random.Random(f"{seed}/{number // 2}").shuffle(order)
    return tuple(reversed(order) if number % 2 else order)


def requests_of(arm: Arm, number: int, experiment: Experiment) -> tuple[int, ...]:
    """The request lengths that `arm` answers in process set `number` of its group.

    A stream starts with nothing compiled, so the set that finds its caches empty answers it, and no other.
    """
    point = arm.workloads[0]
    serves_lengths = find_variant(arm.variant).serves_many and point.model is not None and not _is_user_model(point)
    return experiment.request_lengths if serves_lengths and number == 0 else ()


def _is_user_model(workload: Workload) -> bool:
    return USER_MODEL in (workload.model or "")


def _clusters(experiment: Experiment, workloads: Sequence[Workload]) -> list[_Cluster]:
    """One cluster per baseline and point, or per baseline and set of points for variants whose child serves many."""
    members: dict[tuple[str, object], list[Arm]] = {}
    variants = [find_variant(key) for key in experiment.variants]
    for variant in variants:
        if variant.key != variant.baseline:
            for served in _served_by_one_child(variant, workloads):
                shared = _kind_of_point(served[0]) if variant.serves_many else served
                members.setdefault((variant.baseline, shared), []).append(Arm(variant=variant.key, workloads=served))
    clusters = [
        _Cluster(baseline=baseline, others=tuple(arms), workloads=_union(arms))
        for (baseline, _), arms in members.items()
    ]
    return clusters + [lone for variant in variants for lone in _lone_baselines(variant, workloads, clusters)]


def _lone_baselines(variant: Variant, workloads: Sequence[Workload], clusters: Iterable[_Cluster]) -> list[_Cluster]:
    """A baseline that was itself chosen, at the workloads where no other variant brings it along."""
    if variant.key != variant.baseline:
        return []
    covered = {point for cluster in clusters if cluster.baseline == variant.key for point in cluster.workloads}
    rest = [workload for workload in workloads if workload not in covered]
    return [
        _Cluster(baseline=variant.key, others=(), workloads=served) for served in _served_by_one_child(variant, rest)
    ]


def _served_by_one_child(variant: Variant, workloads: Iterable[Workload]) -> list[tuple[Workload, ...]]:
    fitting = [workload for workload in workloads if fits(variant, workload)]
    if not variant.serves_many:
        return [(workload,) for workload in fitting]
    by_kind: dict[object, list[Workload]] = {}
    for workload in fitting:
        by_kind.setdefault(_kind_of_point(workload), []).append(workload)
    return [tuple(served) for served in by_kind.values()]


def _arms_at(experiment: Experiment, workload: Workload) -> list[Arm]:
    """Every arm the experiment asks for at one point, baselines included, twins not."""
    fitting = [variant for variant in map(find_variant, experiment.variants) if fits(variant, workload)]
    keys = dict.fromkeys([variant.baseline for variant in fitting] + [variant.key for variant in fitting])
    return [Arm(variant=key, workloads=(workload,)) for key in keys]


def _kind_of_point(workload: Workload) -> tuple[str | None, str | None]:
    """What one child can hold: one loaded model in one dtype, or operators, which load nothing."""
    return (workload.model, workload.dtype) if workload.model else (None, None)


def _union(arms: Iterable[Arm]) -> tuple[Workload, ...]:
    return tuple(dict.fromkeys(workload for arm in arms for workload in arm.workloads))


def _all_arms(cluster: _Cluster) -> tuple[Arm, ...]:
    return (*_baselines(cluster), *cluster.others)


def _baselines(cluster: _Cluster) -> tuple[Arm, Arm]:
    """The baseline and its A/A twin, at every point of the cluster."""
    return (
        Arm(variant=cluster.baseline, workloads=cluster.workloads),
        Arm(variant=twin_of(cluster.baseline), workloads=cluster.workloads),
    )


def _why_unavailable(
    arm: Arm, experiment: Experiment, machine: Machine | None, variables: Mapping[str, str]
) -> str | None:
    if len(arm.workloads) > 1 and any(_is_user_model(workload) for workload in arm.workloads):
        return "a model from a Python file is built for one length; one process cannot serve it at several"
    variant = find_variant(arm.variant)
    missing = why_unavailable(variant, machine, experiment.device) if machine else None
    return missing or why_switched_otherwise(variant, variables)


def _failure(arm: Arm, reason: str) -> Failure:
    return Failure(
        variant=arm.variant, process=0, workloads=arm.workloads, stage="start", kind="unavailable", message=reason
    )


def _split(cluster: _Cluster, reasons: Mapping[Arm, str | None]) -> list[tuple[Arm, ...]]:
    """As many arms together as memory allows; the baseline is in each part, its twin in the first only."""
    most = MAX_CHILDREN if cluster.workloads[0].model else MAX_OPERATOR_CHILDREN
    pair = [arm for arm in _baselines(cluster) if not reasons[arm]]
    others = [arm for arm in cluster.others if not reasons[arm]]
    first = most - 2
    rest = [others[start : start + most - 1] for start in range(first, len(others), most - 1)]
    groups = [(*pair, *others[:first]), *((*pair[:1], *part) for part in rest)]
    return [group for group in groups if group]


def _number(experiment: Experiment, groups: Iterable[tuple[Arm, ...]]) -> tuple[Group, ...]:
    """Give every group process numbers that no other group of the same points has, so that pairing is always right."""
    free: dict[Workload, int] = {}
    numbered = []
    for arms in groups:
        points = _union(arms)
        first = max(free.get(point, 0) for point in points)
        free.update(dict.fromkeys(points, first + experiment.protocol.process_sets))
        numbered.append(Group(arms=arms, first_process=first))
    return tuple(numbered)
