"""One pass over memory instead of several: a + value * (b * c) in three, two and one kernels, and generated code."""

from __future__ import annotations

from typing import Any

import torch

from engine.child.operators import VALUE
from engine.child.subject import Inputs, Outputs, Subject
from engine.child.techniques import Applied, Context, Technique
from engine.child.techniques.buffers import written

MAX_SIZES = 64
"""Graphs the compiled arm may keep: torch's own limit of 8 would silently run the ninth size eagerly (METHOD 0.9)."""


def separate(subject: Subject, context: Context) -> Applied:
    """The plain expression, one kernel per step."""
    return Applied(call=subject.eager, facts=lambda: _integer_note(subject, _plain))


def two_kernels(subject: Subject, context: Context) -> Applied:
    """b * c, then a scaled sum."""
    operations = subject.workload.operations or 1

    def call(inputs: Inputs) -> Outputs:
        a, b, c = inputs["a"], inputs["b"], inputs["c"]
        for _ in range(operations):
            a = torch.add(a, b * c, alpha=VALUE)
        return a

    return Applied(call=call)


def addcmul(subject: Subject, context: Context) -> Applied:
    """All of it in one kernel."""
    operations = subject.workload.operations or 1

    def call(inputs: Inputs) -> Outputs:
        a, b, c = inputs["a"], inputs["b"], inputs["c"]
        for _ in range(operations):
            a = torch.addcmul(a, b, c, value=VALUE)
        return a

    return Applied(call=call, facts=lambda: _integer_note(subject, _fused))


def addcmul_out(subject: Subject, context: Context) -> Applied:
    """One kernel, and the result in a tensor made once."""
    operations = subject.workload.operations or 1

    def write(buffers: list[Any], a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
        for _ in range(operations):
            a = torch.addcmul(a, b, c, value=VALUE, out=buffers[0])
        return a

    return written(subject, write)


def separate_out(subject: Subject, context: Context) -> Applied:
    """Three kernels as in the plain expression, but into tensors made once: what is left is traffic alone."""
    operations = subject.workload.operations or 1

    def write(buffers: list[Any], a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
        result, product = buffers
        for _ in range(operations):
            torch.mul(b, c, out=product)
            torch.mul(product, VALUE, out=product)
            a = torch.add(a, product, out=result)
        return a

    return written(subject, write, count=2)


def compiled(subject: Subject, context: Context) -> Applied:
    """Generated code for each size of its own."""
    import torch._dynamo.config  # not before it is needed: an eager arm carries no compiler

    torch._dynamo.config.recompile_limit = MAX_SIZES
    program = torch.compile(subject.program, dynamic=False)
    return Applied(call=lambda inputs: program(**inputs))


def _plain(one: torch.Tensor) -> torch.Tensor:
    return one + VALUE * (one * one)


def _fused(one: torch.Tensor) -> torch.Tensor:
    return torch.addcmul(one, one, one, value=VALUE)


def _integer_note(subject: Subject, form: Any) -> dict[str, str]:
    """What integer inputs and the value 0.5 come to, computed here: addcmul rounds the value to a whole number."""
    if subject.workload.dtype != "int64" or subject.workload.operator != "addcmul":
        return {}
    one = torch.ones(1, dtype=torch.int64)
    return {"value_note": f"1 + {VALUE} * (1 * 1) gives {form(one).item():g}"}


VARIANTS: dict[str, Technique] = {
    "kernel-fusion/separate": separate,
    "kernel-fusion/two-kernels": two_kernels,
    "kernel-fusion/addcmul": addcmul,
    "kernel-fusion/addcmul-out": addcmul_out,
    "kernel-fusion/separate-out": separate_out,
    "kernel-fusion/compiled": compiled,
}
