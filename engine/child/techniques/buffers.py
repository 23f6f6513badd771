"""Memory made once and written to at every call. A buffer that does not fit is an error in words, never resized silently."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from engine.child.subject import Inputs, Outputs, Subject
from engine.child.techniques import Applied
from engine.errors import InvalidSpec

RESIZED_WORDS = "An output with one or more elements was resized"
"""Torch resizes an `out=` of the wrong shape and only warns; a measured call must not allocate behind our back."""

Writer = Callable[..., Outputs]
"""`writer(buffers, **inputs)` computes the plain program's result into `buffers[0]` and returns it."""


class Buffers:
    """`count` buffers of the shape, dtype and device that `program` really gives, broadcasting and promotion included."""

    def __init__(self, program: Callable[..., Any], count: int) -> None:
        self.program = program
        self.count = count
        self.values: list[Any] = []

    def activate(self, inputs: Inputs) -> None:
        """Make the buffers; those that are there already must be what this turn's inputs need."""
        if self.values:
            self.check(inputs)
            return
        result = self.program(**inputs)
        self.values = [_empty_like(result) for _ in range(self.count)]

    def release(self) -> None:
        """Let go of the memory."""
        self.values = []

    def check(self, inputs: Inputs) -> None:
        """Raise `InvalidSpec` when a buffer is not what the plain program gives for `inputs`."""
        wanted = _described(self.program(**inputs))
        for buffer in self.values:
            if _described(buffer) != wanted:
                raise InvalidSpec(
                    f"The pre-allocated output is {_described(buffer)}; the result is {wanted}. "
                    "Allocate it with the result's shape, dtype and device."
                )


def written(subject: Subject, writer: Writer, count: int = 1) -> Applied:
    """The subject's program with its result (and its intermediates, if `count` says so) in buffers made beforehand."""
    buffers = Buffers(subject.program, count)
    warnings.filterwarnings("error", message=RESIZED_WORDS)

    def call(inputs: Inputs) -> Outputs:
        try:
            return writer(buffers.values, **inputs)
        except UserWarning as warning:
            raise InvalidSpec(f"The pre-allocated output does not fit: {str(warning).partition('.')[0]}.") from warning
        except (RuntimeError, ValueError, TypeError):
            buffers.check(inputs)
            raise

    return Applied(call=call, prepare=subject.arrange, activate=buffers.activate, release=buffers.release)


def _empty_like(result: Any) -> Any:
    return np.empty_like(result) if isinstance(result, np.ndarray) else torch.empty_like(result)


def _described(value: Any) -> str:
    where = f" on {value.device}" if isinstance(value, torch.Tensor) else ""
    return f"of shape {tuple(value.shape)}, {str(value.dtype).removeprefix('torch.')}{where}"
