"""Which requests the stream consists of: realistic lengths from a seed, or a person's own, as many as the budget allows."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from statistics import median

from engine.catalog.dynamic_shapes import RECOMPILE_LIMIT, padded_length
from engine.estimate import COLD_COMPILE_S, model_call_s
from engine.formatting import count, counted
from engine.spec import PROTOCOLS, Experiment

REALISTIC_REQUESTS = 1000
SEED = PROTOCOLS["standard"].seed
CPU_BUDGET_S = 30.0
"""Per variant, its first compilation included; a GPU answers a thousand requests in that time anyway."""
MEDIAN_LENGTH, SPREAD, SHORTEST = 24, 0.7, 3
"""Log-normal lengths: most requests are a sentence, a few are long; the shortest is one word and two special tokens."""


@dataclass(frozen=True, slots=True)
class Stream:
    """The lengths of the requests that will be answered; `offered` is how many there were before the budget."""

    lengths: tuple[int, ...]
    offered: int
    device: str


@lru_cache(maxsize=8)
def realistic_lengths(longest: int, requests: int = REALISTIC_REQUESTS, seed: int = SEED) -> tuple[int, ...]:
    """The same lengths for the same seed; what is longer than `longest` is cut to it, as a server does."""
    chance = random.Random(f"requests/{seed}")
    drawn = (round(chance.lognormvariate(math.log(MEDIAN_LENGTH), SPREAD)) for _ in range(requests))
    return tuple(min(max(length, SHORTEST), longest) for length in drawn)


def within_budget(lengths: Sequence[int], batch_size: int, device: str) -> Stream:
    """The first requests, as many as a small CPU answers in its budget; on another device all of them."""
    fits = len(lengths)
    if device == "cpu":
        spent_s = accumulate(model_call_s(batch_size, length) for length in lengths)
        fits = max(1, sum(spent <= CPU_BUDGET_S - COLD_COMPILE_S for spent in spent_s))
    return Stream(tuple(lengths[:fits]), len(lengths), device)


def stream_of(experiment: Experiment) -> Stream:
    """The stream an experiment holds."""
    return Stream(experiment.request_lengths, len(experiment.request_lengths), experiment.device)


def describe(stream: Stream) -> str:
    """How many requests, how long, and what limits them: one sentence."""
    lengths = stream.lengths
    if not lengths:
        return "No stream of requests."
    requests = counted(len(lengths), "request")
    said = f"{requests} of {min(lengths)} to {max(lengths)} tokens, half of them up to {median(lengths):.0f}"
    if stream.device != "cpu":
        return f"{said}."
    if len(lengths) == stream.offered:
        return f"{said}."
    return (
        f"{said}: the first of {count(stream.offered)}, scaled to about {CPU_BUDGET_S:.0f} s per variant on a 2-core CPU, one "
        "compilation included."
    )


def distinct_shapes(lengths: Sequence[int]) -> int:
    """How many different shapes a server sees when nothing is padded."""
    return len(set(lengths))


def padded_shapes(lengths: Sequence[int], longest: int | None = None) -> int:
    """How many shapes are left when every request is padded to its bucket."""
    return len({padded_length(length, longest) for length in lengths})


def warn_of_shapes(lengths: Sequence[int], requests: Sequence[int] = (), longest: int | None = None) -> str | None:
    """What more different lengths than torch makes graphs for will lead to, and the way out; None for few lengths.

    The measured lengths speak first; where they are few, those of the requests beside them.
    """
    if distinct_shapes(lengths) <= RECOMPILE_LIMIT:
        lengths = (*lengths, *requests)
    shapes = distinct_shapes(lengths)
    if shapes <= RECOMPILE_LIMIT:
        return None
    return (
        f"{count(shapes)} distinct shapes, more than {RECOMPILE_LIMIT}: dynamic=False runs eagerly from the "
        f"{RECOMPILE_LIMIT + 1}th on, and reduce-overhead records a CUDA graph for each. "
        f"Padded to buckets they are {count(padded_shapes(lengths, longest))}."
    )
