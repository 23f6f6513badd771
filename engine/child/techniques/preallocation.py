"""Memory made once instead of at every call: results, inputs and outputs of models, and what allocators do in between."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.utils._pytree import tree_map_only

from engine.child.cuda_allocator import allocator_facts, largest_allocation
from engine.child.operators import DOT_COLUMNS, DOT_INNER, draw_weights
from engine.child.subject import Call, Inputs, Outputs, Subject
from engine.child.techniques import Applied, Context, Technique
from engine.child.techniques.buffers import Writer, written
from engine.child.techniques.places import places


def fresh(subject: Subject, context: Context) -> Applied:
    """A new result at every call."""
    program = subject.program
    return Applied(call=lambda inputs: program(**inputs), prepare=subject.arrange)


def _relu_out(operations: int) -> Writer:
    def relu_out(buffers: list[Any], a: torch.Tensor) -> torch.Tensor:
        out = buffers[0]
        for _ in range(operations):
            a = torch.clamp(a, min=0, out=out)
        return a

    return relu_out


def _numpy_relu_out(operations: int) -> Writer:
    def numpy_relu_out(buffers: list[Any], a: Any) -> Any:
        out = buffers[0]
        for _ in range(operations):
            a = np.maximum(a, 0, out=out)
        return a

    return numpy_relu_out


def out(subject: Subject, context: Context) -> Applied:
    """The result is computed straight into a buffer."""
    operations = subject.workload.operations or 1
    writers: dict[str, Writer] = {
        "relu": _relu_out(operations),
        "numpy-relu": _numpy_relu_out(operations),
        "numpy-dot": lambda buffers, x, w: np.dot(x, w, out=buffers[0]),
        "numpy-dot-as-written": lambda buffers, x, seed: np.dot(x, draw_weights(seed), out=buffers[0]),
    }
    return written(subject, writers[subject.workload.subject])


def copyto(subject: Subject, context: Context) -> Applied:
    """The article's way: a fresh result, copied into the buffer. It still allocates."""
    program = subject.program

    def copy_result(buffers: list[Any], **inputs: Any) -> Any:
        np.copyto(buffers[0], program(**inputs))
        return buffers[0]

    return written(subject, copy_result)


def all_buffers(subject: Subject, context: Context) -> Applied:
    """The weights are drawn into a buffer as well; the same numbers, from the same generator."""
    generator = np.random.Generator(np.random.mtrand.get_bit_generator())
    weights = np.empty((DOT_INNER, DOT_COLUMNS))

    def dot(buffers: list[Any], x: Any, seed: int) -> Any:
        np.random.seed(seed)
        generator.random(out=weights)
        return np.dot(x, weights, out=buffers[0])

    return written(subject, dot)


def in_place(subject: Subject, context: Context) -> Applied:
    """The result replaces the input."""
    operations = subject.workload.operations or 1

    def torch_in_place(inputs: Inputs) -> torch.Tensor:
        a: torch.Tensor = inputs["a"]
        for _ in range(operations):
            a.clamp_(min=0)
        return a

    def numpy_in_place(inputs: Inputs) -> Any:
        a = inputs["a"]
        for _ in range(operations):
            np.maximum(a, 0, out=a)
        return a

    return Applied(call=numpy_in_place if subject.arrange else torch_in_place, prepare=subject.arrange)


class _StaticInputs:
    """Buffers on the device that every request is copied into."""

    def __init__(self, subject: Subject, non_blocking: bool = False) -> None:
        self.device = subject.device
        self.non_blocking = non_blocking
        self.buffers: Inputs = {}
        self.request: Inputs = {}

    def activate(self, inputs: Inputs) -> None:
        self.request = inputs
        self.buffers = {name: value.to(self.device, copy=True) for name, value in inputs.items()}

    def fill(self, inputs: Inputs) -> Inputs:
        for name, value in inputs.items():
            self.buffers[name].copy_(value, non_blocking=self.non_blocking)
        return self.buffers

    def applied(self, program: Callable[..., Outputs], call: Call, prepare: Callable[[Inputs], Inputs]) -> Applied:
        """`call`, which fills these buffers; where things lay is looked up when all has been measured."""
        return Applied(
            call=call,
            prepare=prepare,
            activate=self.activate,
            afterwards=lambda: places(program, call, self.request),
        )


def _on_host(inputs: Inputs) -> Inputs:
    """Where a request lies before it is served: the host's memory."""
    return {name: value.cpu() for name, value in inputs.items()}


def _pinned(inputs: Inputs) -> Inputs:
    return {name: value.cpu().pin_memory() for name, value in inputs.items()}


def fresh_inputs(subject: Subject, context: Context) -> Applied:
    """New input tensors for every request, filled from host memory."""
    device, program = subject.device, subject.program

    def call(inputs: Inputs) -> Outputs:
        return program(**{name: value.to(device, copy=True) for name, value in inputs.items()})

    return Applied(call=call, prepare=_on_host)


def static_inputs(subject: Subject, context: Context) -> Applied:
    """The same input tensors for every request."""
    static, program = _StaticInputs(subject), subject.program
    return static.applied(program, lambda inputs: program(**static.fill(inputs)), _on_host)


def pinned_inputs(subject: Subject, context: Context) -> Applied:
    """Requests lie in page-locked memory and are copied without waiting; the model's kernels queue behind the copies."""
    static, program = _StaticInputs(subject, non_blocking=True), subject.program
    return static.applied(program, lambda inputs: program(**static.fill(inputs)), _pinned)


def static_output(subject: Subject, context: Context) -> Applied:
    """The same input tensors, and the answer copied into tensors made once."""
    static, program = _StaticInputs(subject), subject.program
    kept: list[torch.Tensor] = []

    def call(inputs: Inputs) -> Outputs:
        outputs = program(**static.fill(inputs))
        if not kept:
            tree_map_only(torch.Tensor, lambda tensor: kept.append(torch.empty_like(tensor)), outputs)
        buffers = iter(kept)
        return tree_map_only(torch.Tensor, lambda tensor: next(buffers).copy_(tensor), outputs)

    return static.applied(program, call, _on_host)


def pool(subject: Subject, context: Context) -> Applied:
    """The plain program; which allocator serves it was decided by this process' environment."""
    return Applied(
        call=subject.eager,
        facts=lambda: allocator_facts(subject.device),
        afterwards=lambda: {"largest_allocation_bytes": largest_allocation(subject.device)},
    )


VARIANTS: dict[str, Technique] = {
    "preallocation/fresh": fresh,
    "preallocation/copyto": copyto,
    "preallocation/out": out,
    "preallocation/in-place": in_place,
    "preallocation/all-buffers": all_buffers,
    "preallocation/fresh-inputs": fresh_inputs,
    "preallocation/static-inputs": static_inputs,
    "preallocation/static-output": static_output,
    "preallocation/pinned-inputs": pinned_inputs,
    "preallocation/pool-caching": pool,
    "preallocation/pool-disabled": pool,
    "preallocation/pool-expandable": pool,
}
