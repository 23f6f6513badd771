"""One server, every length: what each way of compiling does when the sequence length changes from call to call."""

from __future__ import annotations

import torch

from engine.child.subject import Inputs, Outputs, Subject
from engine.child.techniques import Applied, Context, Technique

BUCKETS = (16, 32, 64, 128, 256, 512)
"""Lengths that requests are padded up to; longer ones go unpadded."""


def eager(subject: Subject, context: Context) -> Applied:
    """The model as loaded."""
    return Applied(call=subject.eager)


def _compiled(**arguments: object) -> Technique:
    def technique(subject: Subject, context: Context) -> Applied:
        compiled = torch.compile(subject.program, **arguments)  # type: ignore[call-overload]
        return Applied(call=lambda inputs: compiled(**inputs))

    return technique


def mark_dynamic(subject: Subject, context: Context) -> Applied:
    """Only the sequence dimension is symbolic, within bounds; a length of 1 is outside and compiles a graph of its own."""
    compiled = torch.compile(subject.program)
    longest = subject.longest or max(BUCKETS)

    def call(inputs: Inputs) -> Outputs:
        for value in inputs.values():
            if value.dim() > 1 and 2 <= value.shape[1] <= longest:
                torch._dynamo.mark_dynamic(value, 1, min=2, max=longest)
        return compiled(**inputs)

    return Applied(call=call)


def buckets(subject: Subject, context: Context) -> Applied:
    """Pad to the next bucket, answer, cut the padding off: the mask keeps the real tokens' answers right."""
    compiled = torch.compile(subject.program, dynamic=False)

    def call(inputs: Inputs) -> Outputs:
        length = inputs["input_ids"].shape[1]
        room = next((bucket for bucket in BUCKETS if bucket >= length), length) - length
        padded = {name: torch.nn.functional.pad(value, (0, room)) for name, value in inputs.items()}
        outputs = compiled(**padded)
        return {name: value[:, :length] if value.dim() == 3 else value for name, value in outputs.items()}

    return Applied(call=call, facts=lambda: {"buckets": list(BUCKETS)})


VARIANTS: dict[str, Technique] = {
    "dynamic-shapes/eager": eager,
    "dynamic-shapes/default": _compiled(),
    "dynamic-shapes/dynamic-true": _compiled(dynamic=True),
    "dynamic-shapes/dynamic-false": _compiled(dynamic=False),
    "dynamic-shapes/mark-dynamic": mark_dynamic,
    "dynamic-shapes/no-cudagraphs": _compiled(mode="max-autotune-no-cudagraphs", dynamic=True),
    "dynamic-shapes/no-cudagraphs-static": _compiled(mode="max-autotune-no-cudagraphs", dynamic=False),
    "dynamic-shapes/reduce-overhead": _compiled(mode="reduce-overhead"),
    "dynamic-shapes/buckets": buckets,
}
