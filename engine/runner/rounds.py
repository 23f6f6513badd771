"""Interleaved rounds over the children of one process set: in random order, one block at a time (METHOD 1.4)."""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from engine.arms import Arm, round_order
from engine.estimate import THROW_AWAY_CALLS
from engine.messages import BlockMeasured, MeasureBlock, ReadyToMeasure, WarmedUp, WarmUp
from engine.result import Conditions
from engine.runner.child_process import ChildProcess
from engine.runner.conditions import ConditionsMeter
from engine.runner.context import RunContext
from engine.spec import CacheMode, Protocol, Workload


@dataclass(kw_only=True)
class Member:
    """One arm's child, set up and waiting. `used_s` are seconds of timed calls so far, by workload."""

    arm: Arm
    workloads: tuple[Workload, ...]
    child: ChildProcess
    ready: ReadyToMeasure
    used_s: defaultdict[Workload, float] = field(default_factory=lambda: defaultdict(float))

    def index(self, workload: Workload) -> int:
        """Place of `workload` in this child's own order."""
        return self.workloads.index(workload)


OPERATOR_SAMPLE_S = 250e-6
OPERATOR_SAMPLES = 20
"""Samples of an operator are longer and fewer: ten sizes of seven variants stay under 200,000 rows."""


def block_size(call_s: float, protocol: Protocol, cache_mode: CacheMode, is_operator: bool = False) -> tuple[int, int]:
    """Samples per block and calls per sample for a call of `call_s` seconds.

    With a cold cache every call is a sample of its own: a second call in it would find the cache warm. Emptying the cache
    takes as long as a block then, so a block has few of them.
    """
    call_s = max(call_s, 1e-9)
    if cache_mode == "cold":
        return protocol.min_calls_per_block, 1
    least_s = max(protocol.min_sample_s, OPERATOR_SAMPLE_S) if is_operator else protocol.min_sample_s
    most = min(protocol.max_calls_per_block, OPERATOR_SAMPLES) if is_operator else protocol.max_calls_per_block
    calls = max(1, math.ceil(least_s / call_s))
    samples = int(protocol.block_s / (call_s * calls))
    return min(max(samples, protocol.min_calls_per_block), most), calls


def budget_s(point: Workload, points: int, protocol: Protocol) -> float:
    """Seconds of timed calls an arm may use at one point; the many sizes of an operator share the budget of one point."""
    return protocol.point_budget_s / points if point.operator else protocol.point_budget_s


class Rounds:
    """All rounds of one process set. `members` shrinks when a child fails; `guard` makes its failure an outcome."""

    def __init__(
        self,
        run: RunContext,
        *,
        process: int,
        title: str,
        points: tuple[Workload, ...],
        members: dict[Arm, Member],
        guard: Callable[[Arm], AbstractContextManager[None]],
    ) -> None:
        self._run = run
        self._protocol = run.experiment.protocol
        self._process = process
        self._title = title
        self._points = points
        self._members = members
        self._guard = guard

    def even_out_warm_up(self) -> None:
        """Warm every arm up as long as the slowest to settle, within the protocol's cap (METHOD 1.3)."""
        self._run.clock.enter("warmup")
        for point in self._points:
            members = self._at(point)
            longest = max((member.ready.warmup_calls[member.index(point)] for member in members), default=0)
            for member in members:
                with self._guard(member.arm):
                    self._warm_up(member, point, longest)

    def measure(self) -> tuple[Conditions, ...]:
        """Measure, and answer with the machine's conditions at the start of each round and at the end of the last.

        A point's remaining rounds are left out, for all arms alike, once an arm has used up its budget there.
        """
        meter = ConditionsMeter([member.child.pid for member in self._members.values()])
        conditions = []
        # One point after another: a child holds the inputs of one large point at a time.
        for place, point in enumerate(self._points):
            for number in range(self._protocol.rounds_at(point)):
                if not self._has_budget(point):
                    break
                self._run.clock.enter("runner")
                conditions.append(meter.read())
                self._tell(point, place, number)
                self._measure_round(point, number)
        self._run.clock.enter("runner")
        conditions.append(meter.read())
        return tuple(conditions)

    def _at(self, point: Workload) -> list[Member]:
        return [member for member in self._members.values() if point in member.workloads]

    def _has_budget(self, point: Workload) -> bool:
        used = [member.used_s[point] for member in self._at(point)]
        return bool(used) and max(used) < budget_s(point, len(self._points), self._protocol)

    def _warm_up(self, member: Member, point: Workload, calls: int) -> None:
        workload = member.index(point)
        missing = calls - member.ready.warmup_calls[workload]
        limit_s = self._protocol.evening_out_s(point, len(self._points))
        affordable = int(limit_s / max(member.ready.call_s[workload], 1e-9))
        if min(missing, affordable) > 0:
            command = WarmUp(workload=workload, calls=min(missing, affordable))
            member.child.ask(command, WarmedUp, self._protocol.block_limit_s)

    def _measure_round(self, point: Workload, number: int) -> None:
        members = self._at(point)
        order = round_order(self._protocol.seed, self._process, self._points.index(point), number, len(members))
        for position, chosen in enumerate(order):
            with self._guard(members[chosen].arm):
                self._measure_block(members[chosen], point, number, position)

    def _measure_block(self, member: Member, point: Workload, number: int, position: int) -> None:
        clock, workload = self._run.clock, member.index(point)
        samples, calls = block_size(
            member.ready.call_s[workload],
            self._protocol,
            self._run.experiment.cache_mode,
            is_operator=point.operator is not None,
        )
        # One call longer than a block is warm-up enough for the calls after it (METHOD 1.4: 1 to 3 throw-away calls).
        throw_away = THROW_AWAY_CALLS if member.ready.call_s[workload] < self._protocol.block_s else 1
        command = MeasureBlock(
            workload=workload,
            round=number,
            order=position,
            samples=samples,
            calls_per_sample=calls,
            throw_away=throw_away,
        )
        clock.enter("rest")
        time.sleep(self._protocol.rest_s)
        clock.enter("block")
        member.child.stage = "steady"
        block = member.child.ask(command, BlockMeasured, self._protocol.block_limit_s).block
        timed_s = sum(block.latency_s) * block.calls_per_sample
        clock.move("block", "timed_calls", timed_s)
        clock.move("block", "throw_away_calls", timed_s / samples / calls * throw_away)
        member.used_s[point] += timed_s

    def _tell(self, point: Workload, place: int, number: int) -> None:
        rounds, points = self._protocol.rounds_at(point), len(self._points)
        where = "" if points == 1 else f", workload {place + 1} of {points}"
        message = f"{self._title}: round {number + 1} of {rounds}{where}, {len(self._members)} arms taking turns"
        share = (place + number / rounds) / points
        self._run.clock.tell("steady", message, share=share, is_urgent=number == 0)
