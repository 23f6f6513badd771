"""One server, every length: what each way of compiling does when the sequence length changes from call to call."""

from __future__ import annotations

from typing import Any

import torch

from engine.catalog.dynamic_shapes import BUCKETS, padded_length
from engine.child.subject import Inputs, Outputs, Subject
from engine.child.techniques import Applied, Context, Technique
from engine.child.techniques.max_autotune import compiled_with
from engine.errors import InvalidSpec

NO_CUDAGRAPHS = "max-autotune-no-cudagraphs"


def eager(subject: Subject, context: Context) -> Applied:
    """The model as loaded."""
    return Applied(call=subject.eager)


def _compiled(**arguments: object) -> Technique:
    def technique(subject: Subject, context: Context) -> Applied:
        compiled = torch.compile(subject.program, **arguments)  # type: ignore[call-overload]
        return Applied(call=lambda inputs: compiled(**inputs))

    return technique


def _tuned(dynamic: bool | None = None) -> Technique:
    return lambda subject, context: compiled_with(subject.program, NO_CUDAGRAPHS, dynamic=dynamic)


def mark_dynamic(subject: Subject, context: Context) -> Applied:
    """Only the sequence dimension is symbolic, within bounds; a length of 1 is outside and compiles a graph of its own."""
    compiled = torch.compile(subject.program)
    longest = subject.longest or BUCKETS[-1]

    def call(inputs: Inputs) -> Outputs:
        for value in inputs.values():
            if _has_length(value) and 2 <= value.shape[1] <= longest:
                torch._dynamo.mark_dynamic(value, 1, min=2, max=longest)
        return compiled(**inputs)

    return Applied(call=call)


def buckets(subject: Subject, context: Context) -> Applied:
    """Pad to the next bucket, answer, cut the padding off: the mask keeps the real tokens' answers right.

    Cut is what is `(batch, sequence, hidden)`; a pooled output `(batch, hidden)` has no padding in it.
    """
    compiled = torch.compile(subject.program, dynamic=False)

    def call(inputs: Inputs) -> Outputs:
        length = _length_of(inputs, subject)
        full = padded_length(length, subject.longest)
        padded = {name: _padded(value, full - length) for name, value in inputs.items()}
        return {name: _cut(value, length, full) for name, value in compiled(**padded).items()}

    return Applied(call=call)


def _has_length(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.dim() > 1


def _length_of(inputs: Inputs, subject: Subject) -> int:
    if "attention_mask" not in inputs:
        raise InvalidSpec(
            f"{subject.workload.subject} takes no attention_mask, so its requests cannot be padded to buckets. "
            "Leave this variant out."
        )
    return int(inputs["attention_mask"].shape[1])


def _padded(value: Any, room: int) -> Any:
    """`(batch, sequence)` with `room` zeros after every row: the id of some token, and a mask that hides it."""
    return torch.nn.functional.pad(value, (0, room))


def _cut(value: Any, length: int, full: int) -> Any:
    if isinstance(value, tuple):  # the hidden states of every layer, where a model hands them out
        return tuple(_cut(each, length, full) for each in value)
    return value[:, :length] if value.dim() == 3 and value.shape[1] == full else value


VARIANTS: dict[str, Technique] = {
    "dynamic-shapes/eager": eager,
    "dynamic-shapes/default": _compiled(),
    "dynamic-shapes/dynamic-true": _compiled(dynamic=True),
    "dynamic-shapes/dynamic-false": _compiled(dynamic=False),
    "dynamic-shapes/mark-dynamic": mark_dynamic,
    "dynamic-shapes/no-cudagraphs": _tuned(),
    "dynamic-shapes/no-cudagraphs-dynamic": _tuned(dynamic=True),
    "dynamic-shapes/no-cudagraphs-static": _tuned(dynamic=False),
    "dynamic-shapes/reduce-overhead": _compiled(mode="reduce-overhead"),
    "dynamic-shapes/buckets": buckets,
}
