"""The steps of a run and how long they take on a small machine, before anything is known about this one.

The figures are for a 2-core CPU (METHOD 7); a running run replaces each by what it observes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from engine.arms import Arm, Group, plan, requests_of
from engine.catalog import Pitfall, find_variant
from engine.catalog.dynamic_shapes import RECOMPILE_LIMIT
from engine.catalog.operators import OPERATORS
from engine.catalog.pitfalls import run_by
from engine.result import Machine
from engine.spec import Experiment, Protocol, Workload

REFERENCES_S = 12.0
LOAD_S = 5.0
COLD_COMPILE_S = 13.0
WARM_COMPILE_S = 6.0
FINISH_S = 1.5
MODEL_CALL_S = 0.020
"""DistilBERT at a few tokens, bound by reading its weights; every further token adds `TOKEN_S`."""
TOKEN_S = 0.0007
ELEMENT_S = 0.3e-9
"""An operator over many elements, bound by memory, per array it holds: 4 bytes at about 13 GB/s, fresh pages included."""
OPERATOR_CALL_S = 10e-6
OPERATOR_BLOCK_S = 5e-3
"""Twenty samples of a quarter of a millisecond."""
OPERATOR_REFERENCES_S = 7.0
OPERATOR_LOAD_S = 1.3
OPERATOR_COLD_COMPILE_S, OPERATOR_WARM_COMPILE_S = 2.5, 0.6
"""Of each size; a child of operators loads no model, and is warm after its first size."""
OPERATOR_CHECK_S, OPERATOR_CHECK_CALLS = 0.05, 11
"""Comparing outputs once: so long, and as long as so many calls."""
THROW_AWAY_CALLS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One piece of a run: making references, one arm's set-up, all rounds of a process set, one arm's end."""

    kind: Literal["references", "set_up", "rounds", "finish", "requests"]
    arms: tuple[Arm, ...] = ()
    workloads: tuple[Workload, ...] = ()
    is_cold: bool = False
    requests: tuple[int, ...] = ()


def references_step(group: Group) -> Step:
    """Making the references of a group's points."""
    return Step(kind="references", workloads=group.workloads)


def set_up_step(arm: Arm, number: int) -> Step:
    """Set-up of one arm in process set `number`, the first of which finds its compile cache empty."""
    return Step(kind="set_up", arms=(arm,), is_cold=number == 0)


def rounds_step(group: Group) -> Step:
    """All rounds of one process set."""
    return Step(kind="rounds", arms=group.arms)


def finish_step(arm: Arm, number: int) -> Step:
    """The end of one arm: throughput, outputs and counters once more; in the first process set most mistaken loops."""
    return Step(kind="finish", arms=(arm,), is_cold=number == 0)


def requests_step(arm: Arm, requests: tuple[int, ...]) -> Step:
    """The request stream of one arm; `requests` are lengths."""
    return Step(kind="requests", arms=(arm,), requests=requests)


def steps_of(groups: Iterable[Group], experiment: Experiment) -> list[Step]:
    """Every step of a run, in the order they are taken."""
    steps = []
    for group in groups:
        steps.append(references_step(group))
        for number in range(experiment.protocol.process_sets):
            steps += [set_up_step(arm, number) for arm in group.arms]
            steps.append(rounds_step(group))
            steps += [step for arm in group.arms for step in last_steps(arm, number, experiment)]
    return steps


def last_steps(arm: Arm, number: int, experiment: Experiment) -> list[Step]:
    """What is left of an arm in process set `number` when the rounds are over."""
    requests = requests_of(arm, number, experiment)
    return [finish_step(arm, number), *([requests_step(arm, requests)] if requests else [])]


def estimate_seconds(experiment: Experiment, machine: Machine | None = None) -> float:
    """About how long a run takes on a 2-core CPU, without what `machine` cannot run and without waiting for it."""
    steps = steps_of(plan(experiment, machine).groups, experiment)
    return sum(expected_s(step, experiment.protocol) for step in steps)


def expected_s(step: Step, protocol: Protocol) -> float:
    """Seconds one step takes."""
    if step.kind == "references":
        made_s = REFERENCES_S if step.workloads[0].model else OPERATOR_REFERENCES_S
        return made_s + sum(10 * _call_s(workload) for workload in step.workloads)
    points = [workload for arm in step.arms for workload in arm.workloads]
    if points and points[0].operator and step.kind in ("set_up", "finish"):
        return _operators_s(step, points, protocol)
    if step.kind == "finish":
        loops = run_by(step.arms[0].variant, is_first=step.is_cold)
        return FINISH_S * len(points) + sum(_loop_s(pitfall, points[0]) for pitfall in loops)
    if step.kind == "set_up":
        compile_s = COLD_COMPILE_S if step.is_cold else WARM_COMPILE_S
        graphs = _graphs(step.arms[0], len(points))
        return LOAD_S + graphs * compile_s + sum(_warm_up_s(point, protocol) for point in points)
    if step.kind == "requests":
        answered_s = sum(model_call_s(points[0].batch_size or 1, length) for length in step.requests)
        return answered_s + _graphs(step.arms[0], len(set(step.requests))) * COLD_COMPILE_S
    sizes = len(dict.fromkeys(points))
    return sum(_rounds_s(point, sizes, protocol) for point in points)


def _operators_s(step: Step, points: Sequence[Workload], protocol: Protocol) -> float:
    """Set-up or end of one child that measures operators in many sizes."""
    checks_s = sum(OPERATOR_CHECK_S + OPERATOR_CHECK_CALLS * _call_s(point) for point in points)
    if step.kind == "finish":
        return checks_s * 2
    compile_s = OPERATOR_COLD_COMPILE_S if step.is_cold else OPERATOR_WARM_COMPILE_S
    least_s = protocol.warmup_min_s / len(points)
    warm_up_s = sum(max(least_s, (protocol.warmup_min_calls + 3) * _call_s(point)) for point in points)
    compiled = len(points) if find_variant(step.arms[0].variant).compiles else 0
    return OPERATOR_LOAD_S + warm_up_s + checks_s + compiled * compile_s


def _loop_s(pitfall: Pitfall, workload: Workload) -> float:
    """One mistaken loop of the Pitfalls page."""
    return pitfall.calls * _call_s(workload) + (COLD_COMPILE_S if pitfall.starts_cold else 0.0)


def model_call_s(batch_size: int, sequence_length: int) -> float:
    """Seconds of one call of DistilBERT on a 2-core CPU."""
    return MODEL_CALL_S + TOKEN_S * batch_size * sequence_length


def _graphs(arm: Arm, shapes: int) -> int:
    """About how many graphs an arm compiles for so many shapes."""
    variant = find_variant(arm.variant)
    if not variant.compiles:
        return 0
    return min(shapes, RECOMPILE_LIMIT) if variant.specialises else 1


def _call_s(workload: Workload) -> float:
    if workload.model:
        return model_call_s(workload.batch_size or 1, workload.sequence_length or 1)
    card = OPERATORS.get(workload.operator or "")
    arrays = (card.alive if card else 1.0) * (workload.operations or 1)
    return OPERATOR_CALL_S + ELEMENT_S * arrays * (workload.elements or 0)


def _warm_up_s(workload: Workload, protocol: Protocol) -> float:
    return max(protocol.warmup_min_s, (protocol.warmup_min_calls + 3) * _call_s(workload))


def _rounds_s(workload: Workload, sizes: int, protocol: Protocol) -> float:
    call_s = _call_s(workload)
    longest_s = protocol.max_calls_per_block * max(protocol.min_sample_s, call_s)
    if workload.operator:
        longest_s = OPERATOR_BLOCK_S if call_s < OPERATOR_BLOCK_S else longest_s
    timed_s = max(min(protocol.block_s, longest_s), protocol.min_calls_per_block * call_s)
    budget_s = protocol.point_budget_s / (sizes if workload.operator else 1)
    # The slowest arm, which takes about twice the mean, ends an operator's rounds for all of them.
    rounds = min(protocol.rounds, max(1.0, budget_s / timed_s / (2 if workload.operator else 1)))
    return rounds * (protocol.rest_s + THROW_AWAY_CALLS * call_s + timed_s)
