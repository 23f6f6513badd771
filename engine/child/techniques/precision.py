"""The same model with fewer bits per number, eager and with the best compiled mode of the device.

Floating-point inputs, as a user's own model may take, are converted before the clock starts: a server hands them over in the
precision of its model. Who holds float32 pays for the conversion on top; it is not in the times. Token ids stay what they are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import torch

from engine.child.subject import Inputs, Outputs, Subject, in_dtype
from engine.child.techniques import Applied, Context, Technique
from engine.child.techniques.max_autotune import compiled_with


def cast(subject: Subject, dtype: torch.dtype) -> Callable[..., Outputs]:
    """The program with its weights in `dtype`, in place: this process serves no other variant."""
    program = subject.program
    return program.to(dtype) if isinstance(program, torch.nn.Module) else program


def inputs_in(dtype: torch.dtype) -> Callable[[Inputs], Inputs]:
    """For `Applied.prepare`: inputs with their floating-point tensors in `dtype`."""
    return lambda inputs: in_dtype(inputs, dtype)


def _eager(dtype: torch.dtype) -> Technique:
    def technique(subject: Subject, context: Context) -> Applied:
        program = cast(subject, dtype)
        return Applied(call=lambda inputs: program(**inputs), prepare=inputs_in(dtype))

    return technique


def _compiled(dtype: torch.dtype, *, freezing: bool = False) -> Technique:
    def technique(subject: Subject, context: Context) -> Applied:
        applied = compiled_with(cast(subject, dtype), "max-autotune", freezing=freezing)
        return replace(applied, prepare=inputs_in(dtype))

    return technique


def tf32(subject: Subject, context: Context) -> Applied:
    """TF32 for this process alone: the other arms keep the experiment's precision."""
    torch.set_float32_matmul_precision("high")
    return Applied(call=subject.eager)


def tf32_best(subject: Subject, context: Context) -> Applied:
    """TF32 and the best compiled mode of a GPU."""
    torch.set_float32_matmul_precision("high")
    return compiled_with(subject.program, "max-autotune")


VARIANTS: dict[str, Technique] = {
    "precision/tf32": tf32,
    "precision/tf32-best": tf32_best,
    "precision/bfloat16": _eager(torch.bfloat16),
    "precision/bfloat16-best-cpu": _compiled(torch.bfloat16, freezing=True),
    "precision/bfloat16-best-cuda": _compiled(torch.bfloat16),
    "precision/float16": _eager(torch.float16),
    "precision/float16-best": _compiled(torch.float16),
}
