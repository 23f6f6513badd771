"""One measured child from set-up to finish: load, apply, first calls, check, warm up; blocks on request; report."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Literal

import torch

from engine.catalog import find_variant
from engine.child import equivalence
from engine.child.devices import make_synchronize
from engine.child.evidence import Evidence
from engine.child.measurement import collector_off, take, warm_up
from engine.child.memory import MemoryMeter
from engine.child.model_facts import model_facts
from engine.child.nvidia import read_conditions
from engine.child.profiling import profile_points
from engine.child.requests import answer_requests, subjects_by_length
from engine.child.setting import cpus_allowed, grad_mode, make_stopwatch, prepare_torch
from engine.child.subject import Call, Inputs, load_subjects
from engine.child.techniques import Applied, Context, apply
from engine.child.torch_internals import shut_down_compile_workers
from engine.child.turns import Turns
from engine.messages import BlockMeasured, MeasureBlock, ReadyToMeasure, RequestsAnswered, SetUp, WarmedUp, WarmUp
from engine.result import Block, Measurement, OutputCheck, PointSetUp
from engine.spec import Protocol

FIRST_CALLS = 3
"""CUDA graph trees warm up, record and replay in the first three calls (METHOD 1.3); each is kept by itself."""


class Session:
    """What one child knows while it lives."""

    def __init__(self, command: SetUp, announce: Callable[[str], None]) -> None:
        self.command = command
        self.announce = announce
        self.evidence = Evidence(command.device, find_variant(command.variant).compiles)
        self.memory = MemoryMeter(command.device)
        self.blocks: list[Block] = []
        self.outputs: list[OutputCheck] = []
        self.grad_modes: dict[str, str] = {}
        self.call_s: list[float] = []
        self.warmup_calls: list[int] = []

    def set_up(self) -> ReadyToMeasure:
        """Everything before the first timed block."""
        command = self.command
        prepare_torch(command.device, command.threads, command.matmul_precision)
        self.announce("load")
        self.load_s = self._timed(self._load)
        self.stopwatch = make_stopwatch(command)
        self.evidence.begin()
        self.announce("apply")
        self.apply_s = self._timed(self._apply)
        with torch.inference_mode():
            self.points = tuple(self._set_up_point(index) for index in range(len(self.subjects)))
        # Compiler processes stay alive for a minute otherwise and take the machine from whoever is measured.
        shut_down_compile_workers()
        self.evidence.mark()
        self.memory.start_steady()
        self.announce("steady")
        return ReadyToMeasure(call_s=tuple(self.call_s), warmup_calls=tuple(self.warmup_calls), points=self.points)

    def warm_up(self, command: WarmUp) -> WarmedUp:
        """As many more calls as the arm that needed most."""
        with self.turns.of(command.workload) as (call, feed), torch.inference_mode():
            for inputs in take(feed, command.calls):
                call(inputs)
        return WarmedUp(workload=command.workload)

    def measure_block(self, command: MeasureBlock) -> BlockMeasured:
        """One block of timed calls. Cold caches are flushed before each sample, so a sample is one call then."""
        calls = 1 if self.stopwatch.flush else command.calls_per_sample
        before = read_conditions(self.command.device)
        with self.turns.of(command.workload) as (call, feed), collector_off(), torch.inference_mode():
            self.grad_modes["timing"] = grad_mode()
            times = self.stopwatch.block(call, feed, command.samples, calls, command.throw_away)
        block = Block(
            workload=command.workload,
            round=command.round,
            order=command.order,
            calls_per_sample=calls,
            latency_s=times.wall_s,
            host_s=times.host_s,
            gpu_s=times.gpu_s,
            before=before,
            after=read_conditions(self.command.device),
        )
        self.blocks.append(block)
        return BlockMeasured(block=block)

    def finish(self) -> Measurement:
        """Throughput, evidence and memory of the measured state; then outputs again."""
        self.announce("throughput")
        throughput_s = tuple(self._throughput(index) for index in range(len(self.subjects)))
        self.announce("check")
        memory, facts = dict(self.memory.steady()), self._facts()
        for index in range(len(self.subjects)):
            with self.turns.of(index):
                self._check(index, "after")
        memory |= self.memory.whole_life()
        self.announce("profile")
        # Last of all: the profiler takes memory and time of its own.
        facts = profile_points(self.turns, self.subjects, self.command.device) | facts
        measured = Measurement(
            variant=self.command.variant,
            process=self.command.process,
            workloads=self.command.workloads,
            load_s=self.load_s,
            apply_s=self.apply_s,
            points=self.points,
            blocks=tuple(self.blocks),
            compile_s=self.evidence.compile_s(),
            autotune_s=self.evidence.autotune_s(),
            compile_cache=self.command.compile_cache if self.evidence.compiles else None,
            throughput_s=throughput_s,
            harness_s=self.stopwatch.floor(),
            memory=memory,
            facts=facts,
            outputs=tuple(self.outputs),
        )
        return replace(measured, facts={**facts, **self._afterwards()})

    def answer_requests(self) -> RequestsAnswered:
        """The request stream, last of all: the compiler forgets what was measured."""
        self.announce("requests")
        command = self.command
        return answer_requests(
            command.request_lengths,
            self.requests,
            lambda: apply(command.variant, self.subjects[0], self._context()),
            self.stopwatch,
            Evidence(command.device, self.evidence.compiles),
        )

    def _load(self) -> None:
        self.subjects = load_subjects(
            self.command.workloads, self.command.device, self.command.text, self.command.protocol.seed
        )
        # Made now, so that a length the model does not take is refused before an hour of measuring.
        self.requests = subjects_by_length(self.subjects[0], self.command.request_lengths)

    def _apply(self) -> None:
        """Once per program: workloads that share a model share what was made of it."""
        context = self._context()
        by_program: dict[int, Applied] = {}
        with torch.inference_mode():
            for subject in self.subjects:
                if id(subject.program) not in by_program:
                    by_program[id(subject.program)] = apply(self.command.variant, subject, context)
        self.applied = list(by_program.values())
        self.turns = Turns(self.subjects, [by_program[id(subject.program)] for subject in self.subjects])

    def _context(self) -> Context:
        command = self.command
        is_first = command.compile_cache == "cold"
        return Context(seed=command.protocol.seed, process=command.process, is_first=is_first)

    def _set_up_point(self, index: int) -> PointSetUp:
        """First calls one by one, outputs, warm-up."""
        with self.turns.of(index) as (call, feed):
            self.announce("first_call")
            first_calls_s, new_graphs = self._make_first_calls(call, feed)
            self.announce("check")
            self._check(index, "before")
            self.announce("warmup")
            self.grad_modes["warm-up"] = grad_mode()
            warmed_up = warm_up(self.stopwatch, call, feed, min(first_calls_s), self._warm_up_protocol())
        self.call_s.append(warmed_up.call_s)
        self.warmup_calls.append(len(warmed_up.latency_s) * warmed_up.calls_per_sample)
        return PointSetUp(
            first_calls_s=first_calls_s,
            new_graphs=new_graphs,
            warmup_s=warmed_up.latency_s,
            warmup_calls_per_sample=warmed_up.calls_per_sample,
            reached_steady_state=warmed_up.is_steady,
        )

    def _make_first_calls(self, call: Call, feed: Iterator[Inputs]) -> tuple[tuple[float, ...], tuple[int, ...] | None]:
        seconds, graphs = [], [self.evidence.graphs()]
        for inputs in take(feed, FIRST_CALLS):
            seconds.append(self.stopwatch.sample(call, [inputs]).wall_s)
            graphs.append(self.evidence.graphs())
        counts = [count for count in graphs if count is not None]
        new = tuple(after - before for before, after in itertools.pairwise(counts))
        return tuple(seconds), new if len(counts) == len(graphs) else None

    def _warm_up_protocol(self) -> Protocol:
        """A child that measures an operator in many sizes warms up as long as another one, over all of them together."""
        protocol, is_operator = self.command.protocol, self.subjects[0].workload.operator is not None
        return replace(protocol, warmup_min_s=protocol.warmup_min_s / len(self.subjects)) if is_operator else protocol

    def _check(self, index: int, stage: Literal["before", "after"]) -> None:
        subject = self.subjects[index]
        cases = equivalence.cases_of(subject, self.command.references)
        answer = self.turns.applied(index).answer
        self.outputs.append(equivalence.check(answer, cases, stage=stage, workload=index, dtype=subject.workload.dtype))

    def _throughput(self, index: int) -> float:
        with self.turns.of(index) as (call, feed), collector_off(), torch.inference_mode():
            return self.stopwatch.throughput(call, feed, self.call_s[index])

    def _facts(self) -> dict[str, Any]:
        facts: dict[str, Any] = {
            "model_note": self.subjects[0].note,
            "attention": self.subjects[0].attention,
            "threads": torch.get_num_threads(),
            "cpus_allowed": cpus_allowed(),
            "grad_mode": _in_words(self.grad_modes),
            "matmul_precision": torch.get_float32_matmul_precision(),
            **model_facts(self.subjects[0].program),
            **self.evidence.facts(),
        }
        for applied in self.applied:
            if applied.facts is not None:
                facts |= applied.facts()
        return facts

    def _afterwards(self) -> dict[str, Any]:
        """What techniques do when nothing is left to be measured, and their end."""
        facts: dict[str, Any] = {}
        for applied in self.applied:
            if applied.afterwards is not None:
                self.announce("afterwards")
                facts |= applied.afterwards()
            if applied.close is not None:
                applied.close()
        return facts

    def _timed(self, action: Callable[[], None]) -> float:
        synchronize = make_synchronize(self.command.device)
        start = time.perf_counter()
        action()
        synchronize()
        return time.perf_counter() - start


def _in_words(modes: dict[str, str]) -> str:
    if len(set(modes.values())) == 1:
        return next(iter(modes.values()))
    return ", ".join(f"{mode} while in {phase}" for phase, mode in modes.items())
