"""The steps of a run and how long they take on a small machine, before anything is known about this one.

The figures are for a 2-core CPU (METHOD 7); a running run replaces each by what it observes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from engine.arms import Arm, Group, plan, requests_of
from engine.catalog import Pitfall, find_variant
from engine.catalog.availability import NEVER_ON_A_CPU
from engine.catalog.dynamic_shapes import RECOMPILE_LIMIT, padded_length
from engine.catalog.expected import COMPILED, Expected, expected_of
from engine.catalog.operators import OPERATORS
from engine.catalog.pitfalls import run_by
from engine.floors import CACHE_MULTIPLE
from engine.operator_experiment import last_cache_of
from engine.result import Machine
from engine.spec import Experiment, Protocol, Workload

REFERENCES_S = 6.0
LIMITS_S, LIMITS_S_PER_BYTE = 6.0, 7e-9
"""Measuring what the device can do, once per run: longer where large caches ask for large arrays."""
LOAD_S = 4.9
COLD_COMPILE_S, WARM_COMPILE_S = COMPILED.cold_s, COMPILED.warm_s
FINISH_S = 1.5
MODEL_CALL_S = 0.018
"""DistilBERT at a few tokens, bound by reading its weights; every further token adds `TOKEN_S`."""
TOKEN_S = 0.0006
ELEMENT_S = 0.5e-9
"""An operator over many elements, bound by memory, per array it holds: 4 bytes, the fresh pages of large results included."""
OPERATOR_CALL_S = 5e-6
OPERATOR_BLOCK_S = 5e-3
"""Twenty samples of a quarter of a millisecond."""
OPERATOR_REFERENCES_S = 1.5
OPERATOR_LOAD_S = 1.4
OPERATOR_COLD_COMPILE_S, OPERATOR_WARM_COMPILE_S = 2.5, 0.6
"""Of each size; a child of operators loads no model, and is warm after its first size."""
OPERATOR_CHECK_S, CHECK_CALLS, CHECK_BASELINE_CALLS = 0.05, 11, 16
"""Comparing outputs once: so long, and as long as so many calls of the variant and of the plain form."""
OPERATOR_FINISH_S, OPERATOR_FINISH_POINT_S = 1.2, 0.25
"""The profiler's first use, and per size calls back to back."""
OPERATOR_TURN_S = 0.15
"""Making one size's inputs anew when its rounds begin."""
WARM_UP_SAMPLE_S = 2e-3
"""Short calls are warmed up in samples of about so long."""
BLOCK_OVERHEAD_S = 0.017
"""Asking a child for one block, beyond its calls."""
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
    """About how long a run takes on a 2-core CPU, without what `machine` cannot run and without waiting for it.

    Of a machine that is not known yet, a CPU cannot run what no CPU can.
    """
    protocol = experiment.protocol
    if machine is None and experiment.device == "cpu":
        able = tuple(key for key in experiment.variants if not NEVER_ON_A_CPU & set(find_variant(key).requires))
        experiment = replace(experiment, variants=able or experiment.variants)
    steps = steps_of(plan(experiment, machine).groups, experiment)
    references = {frozenset(step.workloads): expected_s(step, protocol) for step in steps if step.kind == "references"}
    others = sum(expected_s(step, protocol) for step in steps if step.kind != "references")
    touched_bytes = CACHE_MULTIPLE * (last_cache_of(machine, experiment.device) or 0)
    return LIMITS_S + LIMITS_S_PER_BYTE * touched_bytes + sum(references.values()) + others


def expected_s(step: Step, protocol: Protocol) -> float:
    """Seconds one step takes."""
    if step.kind == "references":
        made_s = REFERENCES_S if step.workloads[0].model else OPERATOR_REFERENCES_S
        return made_s + sum(10 * _call_s(workload) for workload in step.workloads)
    if step.kind == "rounds":
        points = dict.fromkeys(point for arm in step.arms for point in arm.workloads)
        return sum(_rounds_s(point, step.arms, len(points), protocol) for point in points)
    (arm,) = step.arms
    if step.kind == "requests":
        answered_s = sum(model_call_s(arm.workloads[0].batch_size or 1, length) for length in step.requests)
        return answered_s + _graphs(arm, step.requests) * _expected(arm).cold_s
    if arm.workloads[0].operator:
        return _operators_s(step, arm, protocol)
    if step.kind == "finish":
        loops = run_by(arm.variant, is_first=step.is_cold)
        return FINISH_S * len(arm.workloads) + sum(_loop_s(pitfall, arm.workloads[0]) for pitfall in loops)
    ready_s = _expected(arm).cold_s if step.is_cold else _expected(arm).warm_s
    lengths = [point.sequence_length or 1 for point in arm.workloads]
    warm_up_s = sum(_warm_up(point, arm, 1, protocol) * _call_s(point, arm) for point in arm.workloads)
    return LOAD_S + _graphs(arm, lengths) * ready_s + warm_up_s


def _operators_s(step: Step, arm: Arm, protocol: Protocol) -> float:
    """Set-up or end of one child that measures operators in many sizes."""
    points = arm.workloads
    checks_s = sum(
        OPERATOR_CHECK_S + CHECK_CALLS * _call_s(point, arm) + CHECK_BASELINE_CALLS * _call_s(point) for point in points
    )
    if step.kind == "finish":
        return OPERATOR_FINISH_S + OPERATOR_FINISH_POINT_S * len(points) + checks_s
    compile_s = OPERATOR_COLD_COMPILE_S if step.is_cold else OPERATOR_WARM_COMPILE_S
    warm_up_s = sum(_warm_up(point, arm, len(points), protocol) * _sample_s(point, arm) for point in points)
    compiled = len(points) if find_variant(arm.variant).compiles else 0
    return OPERATOR_LOAD_S + warm_up_s + checks_s + compiled * compile_s


def _loop_s(pitfall: Pitfall, workload: Workload) -> float:
    """One mistaken loop of the Pitfalls page."""
    return pitfall.calls * _call_s(workload) + (COLD_COMPILE_S if pitfall.starts_cold else 0.0)


def model_call_s(batch_size: int, sequence_length: int) -> float:
    """Seconds of one call of DistilBERT on a 2-core CPU."""
    return MODEL_CALL_S + TOKEN_S * batch_size * sequence_length


def _expected(arm: Arm) -> Expected:
    return expected_of(find_variant(arm.variant))


def _graphs(arm: Arm, lengths: Iterable[int]) -> int:
    """About how many graphs an arm makes for these lengths."""
    expected = _expected(arm)
    shapes = len({padded_length(length) if expected.is_padded else length for length in lengths})
    return min(shapes, RECOMPILE_LIMIT if find_variant(arm.variant).specialises else expected.graphs)


def _call_s(workload: Workload, arm: Arm | None = None) -> float:
    """Seconds of one call of an arm, without one of the plain form."""
    pace = _expected(arm).pace if arm else 1.0
    if workload.model:
        return pace * model_call_s(workload.batch_size or 1, workload.sequence_length or 1)
    card = OPERATORS.get(workload.operator or "")
    arrays = (card.alive if card else 1.0) * (workload.operations or 1)
    return OPERATOR_CALL_S + pace * ELEMENT_S * arrays * (workload.elements or 0)


def _sample_s(workload: Workload, arm: Arm) -> float:
    return max(WARM_UP_SAMPLE_S, _call_s(workload, arm))


def _warm_up(workload: Workload, arm: Arm, points: int, protocol: Protocol) -> float:
    """Samples an arm takes to warm up at one of its points; operators share the time among theirs."""
    return max(protocol.warmup_min_calls + 3, protocol.warmup_min_s / points / _sample_s(workload, arm))


def _rounds_s(workload: Workload, arms: Sequence[Arm], points: int, protocol: Protocol) -> float:
    """All rounds of one point, and before them the warm-up that the other arms need to have as many calls as the fastest."""
    here = [arm for arm in arms if workload in arm.workloads]
    sharing = points if workload.operator else 1
    timed_s = [_timed_s(workload, _call_s(workload, arm), protocol) for arm in here]
    # The slowest arm ends the rounds for all of them.
    rounds = min(protocol.rounds_at(workload), max(1, math.ceil(protocol.point_budget_s / sharing / max(timed_s))))
    called_s = sum(timed_s) + sum(THROW_AWAY_CALLS * _call_s(workload, arm) for arm in here)
    warm_ups = [_warm_up(workload, arm, sharing, protocol) for arm in here]
    more_s = sum(
        min(protocol.evening_out_s(workload, sharing), (max(warm_ups) - own) * _sample_s(workload, arm))
        for own, arm in zip(warm_ups, here, strict=True)
    )
    turns_s = OPERATOR_TURN_S * len(here) if workload.operator else 0.0
    return more_s + turns_s + rounds * (called_s + len(here) * (protocol.rest_s + BLOCK_OVERHEAD_S))


def _timed_s(workload: Workload, call_s: float, protocol: Protocol) -> float:
    """Timed calls of one block."""
    longest_s = protocol.max_calls_per_block * max(protocol.min_sample_s, call_s)
    if workload.operator and call_s < OPERATOR_BLOCK_S:
        longest_s = OPERATOR_BLOCK_S
    return max(min(protocol.block_s, longest_s), protocol.min_calls_per_block * call_s)
