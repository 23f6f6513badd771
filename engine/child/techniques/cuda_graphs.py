"""CUDA graphs: recorded by the compiler (`reduce-overhead`), or captured by hand from the eager or the compiled function.

Replay-only answers for whatever the captured tensors hold; served copies the request in and the answer out, as a server must.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils._pytree import tree_map_only

from engine.child.subject import Inputs, Outputs, Subject
from engine.child.techniques import Applied, Context, Technique

CAPTURE_WARM_UP = 3
"""Calls on a side stream before the capture, as torch's own notes on CUDA graphs ask for."""


class CapturedCall:
    """One captured graph of `program` for the shapes of its first inputs, with the tensors it reads and writes."""

    def __init__(self, program: Callable[..., Outputs]) -> None:
        self.program = program
        self.graph: torch.cuda.CUDAGraph | None = None
        self.inputs: Inputs = {}
        self.outputs: Outputs = None

    def replay(self, inputs: Inputs) -> Outputs:
        """Launch the graph; the answer is for the captured inputs, in tensors that the next replay overwrites."""
        if self.graph is None:
            self.capture(inputs)
        assert self.graph is not None
        self.graph.replay()
        return self.outputs

    def serve(self, inputs: Inputs) -> Outputs:
        """Copy the request in, launch, hand out a copy of the answer."""
        if self.graph is None:
            self.capture(inputs)
        for name, value in inputs.items():
            if isinstance(value, torch.Tensor):
                self.inputs[name].copy_(value)
        return tree_map_only(torch.Tensor, torch.clone, self.replay(inputs))

    def capture(self, inputs: Inputs) -> None:
        """Warm up on a side stream, where a first compilation may happen, then record."""
        self.inputs = tree_map_only(torch.Tensor, torch.clone, inputs)
        side = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(CAPTURE_WARM_UP):
                self.program(**self.inputs)
        torch.cuda.current_stream().wait_stream(side)
        # Not with `check_input_liveness`: it looks at every input again in each replay, inside the timed call, and captures under
        # a dispatch mode that compiled code avoids. This object keeps the inputs alive, the program its weights.
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.outputs = self.program(**self.inputs)
        self.graph = graph

    def close(self) -> None:
        """Drop the graph before the tensors it reads."""
        self.graph = None


def reduce_overhead(subject: Subject, context: Context) -> Applied:
    """The compiler records the graphs; its outputs live until the next call."""
    compiled = torch.compile(subject.program, mode="reduce-overhead")
    return Applied(call=lambda inputs: compiled(**inputs))


def reduce_overhead_served(subject: Subject, context: Context) -> Applied:
    """The same, with every output cloned."""
    compiled = torch.compile(subject.program, mode="reduce-overhead")

    def call(inputs: Inputs) -> Outputs:
        torch.compiler.cudagraph_mark_step_begin()  # type: ignore[no-untyped-call]
        return tree_map_only(torch.Tensor, torch.clone, compiled(**inputs))

    return Applied(call=call)


def _captured(program: Callable[..., Outputs], is_served: bool) -> Applied:
    captured = CapturedCall(program)
    facts: Callable[[], dict[str, Any]] = lambda: {"captured_graphs": int(captured.graph is not None)}  # noqa: E731
    return Applied(call=captured.serve if is_served else captured.replay, facts=facts, close=captured.close)


VARIANTS: dict[str, Technique] = {
    "cuda-graphs/reduce-overhead": reduce_overhead,
    "cuda-graphs/reduce-overhead-served": reduce_overhead_served,
    "cuda-graphs/eager-replay": lambda subject, context: _captured(subject.program, is_served=False),
    "cuda-graphs/eager-served": lambda subject, context: _captured(subject.program, is_served=True),
    "cuda-graphs/compiled-replay": lambda subject, context: _captured(torch.compile(subject.program), is_served=False),
    "cuda-graphs/compiled-served": lambda subject, context: _captured(torch.compile(subject.program), is_served=True),
}
