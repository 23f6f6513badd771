"""What is measured at one workload: a model or an operator with its seeded inputs, the same in every arm. No technique here."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import torch

from engine.catalog.operators import find_operator_card
from engine.child.operators import find_operator
from engine.child.user_model import is_user_model
from engine.errors import InvalidSpec
from engine.spec import Workload

if TYPE_CHECKING:  # a child that measures operators carries no model library
    from engine.child.models import InputSource, LoadedModel

Inputs = dict[str, Any]
Outputs = Any
Call = Callable[[Inputs], Outputs]

TIMED_INPUTS = 4
"""Timed calls rotate over this many different inputs, so that remembering an answer cannot pass for speed."""
LARGE_INPUT_BYTES = 16 * 2**20
"""One input of this size or more is timed alone: it leaves no cache warm, and four would not fit beside each other."""
LARGE_OPERATOR_BYTES = 256 * 2**10
"""Of an operator, whose sizes are chosen to fit a cache or not: four different inputs would fit another one."""


@dataclass(frozen=True, kw_only=True)
class Subject:
    """One workload, ready to be called: `program(**inputs)` runs it as it is.

    `program` is an `nn.Module` or a function; workloads of the same model in one child share it. `make_inputs(index)` gives
    the inputs that outputs are compared on, `make_timed(index)` those that timed calls rotate over, `resize(length)` the
    same model at another sequence length (None for operators), `longest` is the largest length the model takes, if it says.
    `arrange` turns inputs into what the program takes where that is no tensor (numpy's arrays); never timed. `is_rowwise`: a
    row of the result needs that row of the inputs only.
    """

    workload: Workload
    device: str
    program: Callable[..., Outputs]
    make_inputs: Callable[[int], Inputs]
    make_timed: Callable[[int], Inputs]
    resize: Callable[[int], Subject] | None = None
    longest: int | None = None
    note: str | None = None
    attention: str | None = None
    arrange: Callable[[Inputs], Inputs] | None = None
    is_rowwise: bool = False
    alone_from_bytes: int = LARGE_INPUT_BYTES

    def eager(self, inputs: Inputs) -> Outputs:
        """The answer without any technique."""
        return self.program(**(self.arrange(inputs) if self.arrange else inputs))

    def dtype(self) -> torch.dtype | None:
        """What the program computes in now: its first floating-point weight's type; None where it has no weights."""
        program = self.program
        if not isinstance(program, torch.nn.Module):
            return None
        return next((weight.dtype for weight in program.parameters() if weight.is_floating_point()), None)

    def inputs(self, index: int) -> Inputs:
        """Input set `index` for comparing outputs: another one for every index, the same one in every process."""
        return self.make_inputs(index)

    def timed_inputs(self) -> list[Inputs]:
        """The inputs that timed calls rotate over."""
        first = self.make_timed(0)
        if size_of(first) >= self.alone_from_bytes:
            return [first]
        return [first, *(self.make_timed(index) for index in range(1, TIMED_INPUTS))]

    def at_length(self, length: int) -> Subject:
        """The same model, not loaded again, at another sequence length."""
        if self.resize is None:
            raise InvalidSpec(
                f"{self.workload.subject} has no sequence length, so it cannot answer requests of lengths."
            )
        return self.resize(length)

    def as_float64(self) -> Subject:
        """A double-precision copy that takes the very same inputs and converts them: what all outputs are judged by."""
        device = self.device if _has_float64(self.device) else "cpu"
        program = self.program
        if isinstance(program, torch.nn.Module):
            program = copy.deepcopy(program).double().to(device)
        arrange = self.arrange or _unchanged
        return replace(self, program=lambda **inputs: program(**arrange(_doubled(inputs, device))), arrange=None)


def load_subjects(workloads: tuple[Workload, ...], device: str, text: str, seed: int) -> list[Subject]:
    """One subject per workload; a model that several workloads name is loaded once."""
    models: dict[object, LoadedModel] = {}
    subjects = []
    for workload in workloads:
        if workload.model is None:
            subjects.append(_operator_subject(workload, device, seed))
            continue
        from engine.child.models import load_model

        # A user's build function may make another module for another shape.
        key = workload if is_user_model(workload.model) else (workload.model, workload.dtype)
        if key not in models:
            models[key] = load_model(workload, device, seed)
        subjects.append(_model_subject(workload, models[key], device, text, seed))
    return subjects


def load_subject(workload: Workload, device: str, text: str, seed: int) -> Subject:
    """The subject of one workload."""
    return load_subjects((workload,), device, text, seed)[0]


def _model_subject(workload: Workload, model: LoadedModel, device: str, text: str, seed: int) -> Subject:
    length = workload.sequence_length or 1
    if model.max_length is not None and length > model.max_length:
        raise InvalidSpec(
            f"sequence_length is {length:,}; {workload.model} takes at most {model.max_length:,} tokens. "
            f"Choose {model.max_length:,} or fewer."
        )
    source: InputSource = model.inputs_of(workload, text, seed)
    return Subject(
        workload=workload,
        device=device,
        program=model.module,
        make_inputs=lambda index: _on(device, source.random(index)),
        make_timed=lambda index: _on(device, source.timed(index)),
        resize=lambda length: _model_subject(replace(workload, sequence_length=length), model, device, text, seed),
        longest=model.max_length,
        note=model.note,
        attention=model.attention,
    )


def _operator_subject(workload: Workload, device: str, seed: int) -> Subject:
    operator = find_operator(workload.operator or "")
    reason = find_operator_card(workload.operator or "").why_not(workload)
    if reason:
        raise InvalidSpec(f"{reason}.")
    place = "cpu" if operator.is_numpy else device

    def make(index: int) -> Inputs:
        return _on(place, operator.make_inputs(workload, torch.Generator().manual_seed(seed + index)))

    return Subject(
        workload=workload,
        device=place,
        program=operator.program(workload),
        make_inputs=make,
        make_timed=make,
        arrange=_as_arrays if operator.is_numpy else None,
        is_rowwise=operator.is_rowwise,
        alone_from_bytes=LARGE_OPERATOR_BYTES,
    )


def size_of(inputs: Inputs) -> int:
    """Bytes of all tensors and arrays among the inputs."""
    return sum(int(getattr(value, "nbytes", 0)) for value in inputs.values())


def in_dtype(inputs: Inputs, dtype: torch.dtype) -> Inputs:
    """The inputs with every floating-point tensor in `dtype`; whole numbers and what is no tensor stay as they are."""
    return {
        name: value.to(dtype) if isinstance(value, torch.Tensor) and value.is_floating_point() else value
        for name, value in inputs.items()
    }


def _on(device: str, inputs: Inputs) -> Inputs:
    return {name: value.to(device) if isinstance(value, torch.Tensor) else value for name, value in inputs.items()}


def _as_arrays(inputs: Inputs) -> Inputs:
    """Numpy arrays over the same memory."""
    return {name: value.numpy() if isinstance(value, torch.Tensor) else value for name, value in inputs.items()}


def _unchanged(inputs: Inputs) -> Inputs:
    return inputs


def _has_float64(device: str) -> bool:
    return device.startswith(("cpu", "cuda"))


def _doubled(inputs: Inputs, device: str) -> Inputs:
    return in_dtype(_on(device, inputs), torch.float64)
