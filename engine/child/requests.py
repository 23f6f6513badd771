"""The stream of requests: answered one by one by a compiler that starts afresh, so that every stall is in the total."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext

import torch

from engine.child import torch_internals
from engine.child.evidence import Evidence
from engine.child.measurement import Stopwatch, collector_off
from engine.child.subject import Subject
from engine.child.techniques import Applied
from engine.errors import InvalidSpec
from engine.messages import RequestsAnswered


def subjects_by_length(subject: Subject, lengths: Sequence[int]) -> dict[int, Subject]:
    """The subject at every length of `lengths`; raises `InvalidSpec` naming the first request that the model does not take."""
    for row, length in enumerate(lengths, start=1):
        if subject.longest is not None and length > subject.longest:
            raise InvalidSpec(
                f"Row {row:,}: the length is {length:,}; {subject.workload.model} takes 1 to {subject.longest:,} tokens. "
                "Correct it."
            )
    return {length: subject.at_length(length) for length in dict.fromkeys(lengths)}


def answer_requests(
    lengths: Sequence[int],
    subjects: Mapping[int, Subject],
    apply: Callable[[], Applied],
    stopwatch: Stopwatch,
    evidence: Evidence,
) -> RequestsAnswered:
    """Answer a request of each of `lengths` in turn; `subjects` are by length, `apply` applies the technique anew.

    Whatever was compiled before is forgotten and the compile cache is empty, as for a server's first start.
    """
    fresh = torch_internals.fresh_compile_cache() if evidence.compiles else nullcontext()
    feeds = {length: itertools.cycle(subject.timed_inputs()) for length, subject in subjects.items()}
    seconds, compilations = [], []
    with fresh, torch.inference_mode():
        evidence.begin()
        call = apply().call
        compilations.append(evidence.compilations())
        with collector_off():
            for length in lengths:
                seconds.append(stopwatch.sample(call, [next(feeds[length])]).wall_s)
                compilations.append(evidence.compilations())
    facts = evidence.facts()
    return RequestsAnswered(
        request_s=tuple(seconds),
        facts={
            "request_graphs": facts.get("graphs"),
            "requests_that_compiled": _that_compiled(compilations),
            "request_limit_hit": facts.get("recompile_limit_hit"),
        },
    )


def _that_compiled(compilations: Iterable[int | None]) -> list[int]:
    """Which requests, counted from 1, made torch compile or record something."""
    pairs = itertools.pairwise(compilations)
    return [number for number, (before, after) in enumerate(pairs, start=1) if before != after]
