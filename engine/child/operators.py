"""Operators measured by themselves: their seeded inputs and the plain expression that every variant is compared with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from engine.errors import UnknownKey
from engine.spec import Workload

PATTERN = 2**18 + 1
"""Different values before they repeat; odd, so that repeats do not line up with vector or page boundaries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """`make_inputs(workload, generator)` makes inputs by name; `program(workload)` gives the function that takes them."""

    make_inputs: Callable[[Workload, torch.Generator], dict[str, Any]]
    program: Callable[[Workload], Callable[..., Any]]


def _three_tensors(workload: Workload, generator: torch.Generator) -> dict[str, Any]:
    return {name: random_tensor(workload.elements or 1, workload.dtype, generator) for name in "abc"}


def random_tensor(elements: int, dtype: str, generator: torch.Generator) -> torch.Tensor:
    """Seeded values: standard normal, or whole numbers from -8 to 7; a large tensor repeats a pattern to be made quickly."""
    size, wanted = min(elements, PATTERN), getattr(torch, dtype)
    if wanted.is_floating_point:
        pattern = torch.randn(size, generator=generator).to(wanted)
    else:
        pattern = torch.randint(-8, 8, (size,), generator=generator, dtype=wanted)
    return pattern.repeat(-(-elements // size))[:elements]


def _three_steps(workload: Workload) -> Callable[..., Any]:
    """a + 0.5 * (b * c), one kernel per step; chained, each result is the next one's a."""
    operations = workload.operations or 1

    def three_steps(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
        for _ in range(operations):
            a = a + 0.5 * (b * c)
        return a

    return three_steps


OPERATORS: dict[str, Operator] = {"addcmul": Operator(make_inputs=_three_tensors, program=_three_steps)}


def find_operator(key: str) -> Operator:
    """The operator called `key`, or `UnknownKey` that lists the others."""
    if key not in OPERATORS:
        raise UnknownKey(f"Operator {key!r} does not exist; choose one of {', '.join(OPERATORS)}.")
    return OPERATORS[key]
