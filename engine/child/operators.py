"""Operators measured by themselves: their seeded inputs and the plain expression that every variant is compared with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from engine.errors import UnknownKey
from engine.spec import Workload


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """`make_inputs(workload, generator)` makes inputs by name; `program(workload)` gives the function that takes them."""

    make_inputs: Callable[[Workload, torch.Generator], dict[str, Any]]
    program: Callable[[Workload], Callable[..., Any]]


def _three_tensors(workload: Workload, generator: torch.Generator) -> dict[str, Any]:
    dtype, size = getattr(torch, workload.dtype), (workload.elements or 1,)
    if not dtype.is_floating_point:
        return {name: torch.randint(-8, 8, size, generator=generator, dtype=dtype) for name in "abc"}
    return {name: torch.randn(size, generator=generator, dtype=torch.float32).to(dtype) for name in "abc"}


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
