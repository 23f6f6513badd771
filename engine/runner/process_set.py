"""One process set of one group: set its children up one after another, measure them in rounds, end them.

Exactly one child works at any moment (METHOD 1.4). What happens to one child is a failure of its arm; the others go on.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from engine import captions
from engine.arms import Arm, Group, balanced_order, requests_of
from engine.catalog import find_variant, label_of
from engine.estimate import finish_step, last_steps, requests_step, rounds_step, set_up_step
from engine.floors import dtypes_with_a_floor
from engine.messages import AnswerRequests, Finish, Finished, PhaseChanged, ReadyToMeasure, RequestsAnswered, SetUp
from engine.result import Conditions, Measurement, Outcome
from engine.runner.child_process import ChildFailed, ChildProcess
from engine.runner.context import RunContext, log_path
from engine.runner.failures import child_failure
from engine.runner.rounds import Member, Rounds
from engine.spec import Workload

END_GRACE_S = 2.0
"""Time for a child that has reported everything to end by itself."""
REQUESTS_LIMIT_S = 1200.0
"""A stream may compile for eight lengths, minutes each, before the recompile limit ends that."""
PHASES = {
    "start": "starting",
    "load": "loading",
    "apply": "applying the technique",
    "first_call": "first calls",
    "check": "comparing outputs",
    "warmup": "warming up",
    "steady": "waiting for its turn",
    "finish": "last measurements",
    "throughput": "calls back to back",
    "requests": "answering requests",
    "profile": "counting kernels and allocations",
    "limits": "measuring what this machine can do at best",
    "afterwards": "trying what had to wait until all was measured",
}


class ProcessSet:
    """Process set `number` of `group`, counted from 0; set 0 finds its compile caches below `scratch` empty."""

    def __init__(self, run: RunContext, group: Group, number: int, references: Path | None, scratch: Path) -> None:
        self._run = run
        self._group = group
        self._number = number
        self._process = group.first_process + number
        self._references = references
        self._scratch = scratch
        self._points = balanced_order(run.experiment.protocol.seed, number, group.workloads)
        self._children: list[ChildProcess] = []
        self._members: dict[Arm, Member] = {}

    def measure(self) -> None:
        """Measure everything: one outcome per arm, whatever happens to its child; raises `RunCancelled`."""
        try:
            for arm in balanced_order(self._run.experiment.protocol.seed, self._number, self._group.arms):
                with self._settling_failure_of(arm):
                    self._set_up(arm)
            conditions = self._measure_rounds()
            failed = [arm for arm in self._group.arms if arm not in self._members]
            self._run.clock.skip(
                *(step for arm in failed for step in last_steps(arm, self._number, self._run.experiment))
            )
            for place, member in enumerate(list(self._members.values())):
                with self._settling_failure_of(member.arm):
                    self._finish(member, conditions, self._limit_dtypes() if place == 0 else ())
        finally:
            for child in self._children:
                child.end()

    def _set_up(self, arm: Arm) -> None:
        self._run.clock.begin(set_up_step(arm, self._number))
        self._enter_phase(arm, PhaseChanged(phase="start"))
        workloads = tuple(point for point in self._points if point in arm.workloads)
        variables = dict(find_variant(arm.variant).variables)
        child = self._run.start_child(self._log_name(arm), self._scratch / _file_name(arm.variant), variables)
        self._children.append(child)
        ready = child.ask(
            self._set_up_command(arm, workloads),
            ReadyToMeasure,
            self._run.experiment.protocol.set_up_limit_s,
            partial(self._enter_phase, arm),
        )
        self._run.clock.enter("runner")
        self._members[arm] = Member(arm=arm, workloads=workloads, child=child, ready=ready)

    def _set_up_command(self, arm: Arm, workloads: tuple[Workload, ...]) -> SetUp:
        experiment = self._run.experiment
        return SetUp(
            variant=arm.variant,
            process=self._process,
            workloads=workloads,
            device=experiment.device,
            threads=self._run.environment.threads,
            matmul_precision=experiment.matmul_precision,
            protocol=experiment.protocol,
            cache_mode=experiment.cache_mode,
            text=experiment.text,
            compile_cache="cold" if self._number == 0 else "warm",
            references=str(self._references) if self._references else None,
            request_lengths=requests_of(arm, self._number, experiment),
        )

    def _measure_rounds(self) -> tuple[Conditions, ...]:
        self._run.clock.begin(rounds_step(self._group))
        rounds = Rounds(
            self._run,
            process=self._process,
            title=self._title(),
            points=self._points,
            members=self._members,
            guard=self._settling_failure_of,
        )
        rounds.even_out_warm_up()
        return rounds.measure()

    def _limit_dtypes(self) -> tuple[str, ...]:
        """What to measure the device's limits for once more.

        They change from moment to moment where it has neighbours: a CPU's memory is shared, a GPU's is its own.
        """
        if self._run.environment.device.backend != "cpu":
            return ()
        return dtypes_with_a_floor((arm.variant for arm in self._group.arms), self._group.workloads)

    def _finish(self, member: Member, conditions: tuple[Conditions, ...], limit_dtypes: tuple[str, ...]) -> None:
        self._run.clock.begin(finish_step(member.arm, self._number))
        self._enter_phase(member.arm, PhaseChanged(phase="finish"))
        member.child.stage = "finish"
        limit_s = self._run.experiment.protocol.set_up_limit_s
        on_phase = partial(self._enter_phase, member.arm)
        finished = member.child.ask(Finish(limit_dtypes=limit_dtypes), Finished, limit_s, on_phase)
        measured = finished.measurement
        if finished.limits is not None:
            self._run.keep_limits(finished.limits)
        if requests := requests_of(member.arm, self._number, self._run.experiment):
            self._run.clock.begin(requests_step(member.arm, requests))
            measured = self._with_requests(member, measured)
        member.child.end(grace_s=END_GRACE_S)
        log = log_path(self._log_name(member.arm))
        self._settle(member.arm, replace(measured, rounds=conditions, log_path=log))

    def _with_requests(self, member: Member, measured: Measurement) -> Measurement:
        """The measurement with the request stream; whatever goes wrong in the stream costs the stream alone."""
        on_phase = partial(self._enter_phase, member.arm)
        try:
            answered = member.child.ask(AnswerRequests(), RequestsAnswered, REQUESTS_LIMIT_S, on_phase)
        except ChildFailed as error:
            return replace(measured, facts={**measured.facts, "requests_failed": error.message})
        return replace(measured, request_s=answered.request_s, facts={**measured.facts, **answered.facts})

    @contextlib.contextmanager
    def _settling_failure_of(self, arm: Arm) -> Iterator[None]:
        """A child that failed becomes its arm's outcome, and the others go on."""
        try:
            yield
        except ChildFailed as error:
            self._members.pop(arm, None)
            self._settle(arm, child_failure(arm, self._process, error, log_path(self._log_name(arm))))

    def _settle(self, arm: Arm, outcome: Outcome) -> None:
        self._run.clock.enter("runner")
        self._run.settle(arm, outcome)

    def _enter_phase(self, arm: Arm, event: PhaseChanged) -> None:
        self._run.clock.enter(event.phase)
        what = event.message or PHASES.get(event.phase, event.phase)
        self._run.clock.tell(event.phase, f"{self._title()}: {label_of(arm.variant)}, {what}", variant=arm.variant)

    def _title(self) -> str:
        """Where in the run this is; the workload is named where there are several."""
        experiment, points = self._run.experiment, self._group.workloads
        where = captions.of_workload(points[0]) if len(points) == 1 else f"{len(points)} workloads"
        sets = f"process set {self._number + 1} of {experiment.protocol.process_sets}"
        return sets if len(experiment.workloads) == 1 else f"{where}, {sets}"

    def _log_name(self, arm: Arm) -> str:
        place = self._run.experiment.workloads.index(arm.workloads[0])
        return f"{_file_name(arm.variant)}-{place}-{self._process}"


def _file_name(variant: str) -> str:
    """A variant's key as a file name: `torch-compile/default` -> `torch-compile.default`."""
    return variant.replace("/", ".")
