"""Operators measured by themselves: their seeded inputs and the plain expression that every variant is compared with."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from engine.catalog.operators import HIDDEN_SIZE
from engine.errors import UnknownKey
from engine.spec import Workload

Array = np.ndarray[Any, np.dtype[Any]]

PATTERN = 2**18 + 1
"""Different values before they repeat; odd, so that repeats do not line up with vector or page boundaries."""
VALUE = 0.5
"""The factor in a + value * (b * c)."""
DOT_INNER, DOT_COLUMNS = 512, 3
"""The article's x is (1000, 512), its weights (512, 3)."""
REQUESTS = 32
SHORTEST_REQUEST = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """`make_inputs(workload, generator)` makes inputs by name; `program(workload)` gives the function that takes them.

    `is_rowwise`: a row of the result needs that row of the inputs only, so that large results can be checked at some rows.
    `is_numpy`: the program takes and gives numpy arrays.
    """

    make_inputs: Callable[[Workload, torch.Generator], dict[str, Any]]
    program: Callable[[Workload], Callable[..., Any]]
    is_rowwise: bool = False
    is_numpy: bool = False


def random_tensor(elements: int, dtype: str, generator: torch.Generator) -> torch.Tensor:
    """Seeded values: standard normal, or whole numbers from -8 to 7; a large tensor repeats a pattern to be made quickly."""
    size, wanted = min(elements, PATTERN), getattr(torch, dtype)
    if wanted.is_floating_point:
        pattern = torch.randn(size, generator=generator).to(wanted)
    else:
        pattern = torch.randint(-8, 8, (size,), generator=generator, dtype=wanted)
    return pattern.repeat(-(-elements // size))[:elements]


def _tensors(*names: str) -> Callable[[Workload, torch.Generator], dict[str, Any]]:
    def make(workload: Workload, generator: torch.Generator) -> dict[str, Any]:
        return {name: random_tensor(workload.elements or 1, workload.dtype, generator) for name in names}

    return make


def _three_steps(workload: Workload) -> Callable[..., Any]:
    """a + 0.5 * (b * c), one kernel per step; chained, each result is the next one's a."""
    operations = workload.operations or 1

    def three_steps(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
        for _ in range(operations):
            a = a + VALUE * (b * c)
        return a

    return three_steps


def _relu(workload: Workload) -> Callable[..., Any]:
    """ReLU, which twice gives what once gives: an arm that overwrites its input can be compared as well."""
    operations = workload.operations or 1

    def relu(a: torch.Tensor) -> torch.Tensor:
        for _ in range(operations):
            a = torch.clamp(a, min=0)
        return a

    return relu


def _numpy_relu(workload: Workload) -> Callable[..., Any]:
    operations = workload.operations or 1

    def numpy_relu(a: Array) -> Array:
        for _ in range(operations):
            a = np.maximum(a, 0)
        return a

    return numpy_relu


def draw_weights(seed: int) -> Array:
    """The article's fresh random weights; seeded within the call (1 us), so that every arm draws the same ones."""
    np.random.seed(seed)
    return np.random.rand(DOT_INNER, DOT_COLUMNS)


def _dot_inputs(workload: Workload, generator: torch.Generator) -> dict[str, Any]:
    rows = (workload.elements or DOT_COLUMNS) // DOT_COLUMNS
    return {"x": random_tensor(rows * DOT_INNER, workload.dtype, generator).reshape(rows, DOT_INNER)}


def _dot_inputs_as_written(workload: Workload, generator: torch.Generator) -> dict[str, Any]:
    return {**_dot_inputs(workload, generator), "seed": generator.initial_seed() % 2**32}


def _dot_inputs_with_weights(workload: Workload, generator: torch.Generator) -> dict[str, Any]:
    weights = random_tensor(DOT_INNER * DOT_COLUMNS, workload.dtype, generator).reshape(DOT_INNER, DOT_COLUMNS)
    return {**_dot_inputs(workload, generator), "w": weights}


def _dot(workload: Workload) -> Callable[..., Any]:
    def dot(x: Array, w: Array) -> Array:
        product: Array = np.dot(x, w)
        return product

    return dot


def _dot_as_written(workload: Workload) -> Callable[..., Any]:
    def dot_as_written(x: Array, seed: int) -> Array:
        product: Array = np.dot(x, draw_weights(seed))
        return product

    return dot_as_written


def _rows(workload: Workload, generator: torch.Generator, width: int = HIDDEN_SIZE) -> torch.Tensor:
    return random_tensor(workload.elements or width, workload.dtype, generator).reshape(-1, width)


def _norm_inputs(workload: Workload, generator: torch.Generator) -> dict[str, Any]:
    vectors = ("bias", "weight", "shift")
    return {
        "x": _rows(workload, generator),
        "residual": _rows(workload, generator),
        **{name: random_tensor(HIDDEN_SIZE, workload.dtype, generator) for name in vectors},
    }


def _bias_gelu_norm(workload: Workload) -> Callable[..., Any]:
    """LayerNorm(residual + GELU(x + bias)), x (tokens, 768); chained, each result is the next one's x."""
    operations = workload.operations or 1

    def bias_gelu_norm(
        x: torch.Tensor, residual: torch.Tensor, bias: torch.Tensor, weight: torch.Tensor, shift: torch.Tensor
    ) -> torch.Tensor:
        for _ in range(operations):
            hidden = residual + torch.nn.functional.gelu(x + bias)
            x = torch.nn.functional.layer_norm(hidden, (HIDDEN_SIZE,), weight, shift)
        return x

    return bias_gelu_norm


def request_lengths(longest: int) -> list[int]:
    """The seeded stream: lengths from 8 tokens to `longest`, the same in every process."""
    chance = random.Random(longest)
    return [chance.randint(min(SHORTEST_REQUEST, longest), longest) for _ in range(REQUESTS)]


def _stream_inputs(workload: Workload, generator: torch.Generator) -> dict[str, Any]:
    wide = 4 * HIDDEN_SIZE
    scale = HIDDEN_SIZE**-0.5
    up, down = (random_tensor(HIDDEN_SIZE * wide, workload.dtype, generator) * scale for _ in range(2))
    return {
        "x": _rows(workload, generator),
        "up": up.reshape(HIDDEN_SIZE, wide),
        "down": down.reshape(wide, HIDDEN_SIZE),
    }


def _request_stream(workload: Workload) -> Callable[..., Any]:
    """One feed-forward layer per request, x (longest, 768); every answer stays alive until the stream ends."""
    lengths = request_lengths((workload.elements or HIDDEN_SIZE) // HIDDEN_SIZE)

    def request_stream(x: torch.Tensor, up: torch.Tensor, down: torch.Tensor) -> list[torch.Tensor]:
        return [x[:length] + torch.nn.functional.gelu(x[:length] @ up) @ down for length in lengths]

    return request_stream


OPERATORS: dict[str, Operator] = {
    "numpy-dot-as-written": Operator(make_inputs=_dot_inputs_as_written, program=_dot_as_written, is_numpy=True),
    "numpy-dot": Operator(make_inputs=_dot_inputs_with_weights, program=_dot, is_numpy=True),
    "relu": Operator(make_inputs=_tensors("a"), program=_relu, is_rowwise=True),
    "numpy-relu": Operator(make_inputs=_tensors("a"), program=_numpy_relu, is_rowwise=True, is_numpy=True),
    "request-stream": Operator(make_inputs=_stream_inputs, program=_request_stream),
    "addcmul": Operator(make_inputs=_tensors(*"abc"), program=_three_steps, is_rowwise=True),
    "bias-gelu-norm": Operator(make_inputs=_norm_inputs, program=_bias_gelu_norm, is_rowwise=True),
}


def find_operator(key: str) -> Operator:
    """The operator called `key`, or `UnknownKey` that lists the others."""
    if key not in OPERATORS:
        raise UnknownKey(f"Operator {key!r} does not exist; choose one of {', '.join(OPERATORS)}.")
    return OPERATORS[key]
