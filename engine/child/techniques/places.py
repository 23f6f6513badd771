"""Where a model's inputs and answers lie from call to call: the proof that memory made once is really used again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from engine.child.references import flatten
from engine.child.subject import Call, Inputs, Outputs


def places(program: Callable[..., Outputs], call: Call, request: Inputs) -> dict[str, bool | None]:
    """Two more calls, watched at the model's door; under keys of `engine.metrics.FACTS`.

    What the first call took and gave is kept while the second runs, or an allocator could give the same memory out again.
    Inputs are unknown where `program` is no module: a function has no door to watch.
    """
    taken: list[Inputs] = []
    watch = None
    if isinstance(program, torch.nn.Module):
        watch = program.register_forward_pre_hook(_keeper(taken), with_kwargs=True)
    try:
        with torch.inference_mode():
            given = [call(request), call(request)]
    finally:
        if watch is not None:
            watch.remove()
    return {
        "inputs_stay": _stay(taken) if taken else None,
        "outputs_stay": _stay(given),
        "requests_pinned": all(tensor.is_pinned() for tensor in flatten(request)),
    }


def _keeper(taken: list[Inputs]) -> Callable[..., None]:
    def keep(module: torch.nn.Module, positional: tuple[Any, ...], inputs: Inputs) -> None:
        taken.append(inputs)

    return keep


def _stay(calls: list[Any]) -> bool:
    """Whether all tensors of both calls are at the same addresses."""
    first, second = ([tensor.data_ptr() for tensor in flatten(each)] for each in calls)
    return first == second
