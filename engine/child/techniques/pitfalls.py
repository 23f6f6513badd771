"""The mistaken loops of the Pitfalls page, run as they are shown, when their child has measured everything else."""

from __future__ import annotations

import gc
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch

from engine.catalog.mistaken_loops import REMEMBERING_CODE
from engine.catalog.pitfalls import COMPILED, DOT, HALF_COMPILED, HALF_EAGER, REMEMBERING, REPLAYED
from engine.catalog.pitfalls import run_by as loops_run_by
from engine.catalog.types import Pitfall
from engine.child import torch_internals
from engine.child.devices import make_synchronize
from engine.child.subject import Inputs, Subject
from engine.child.techniques import Applied, Context, Technique
from engine.child.techniques.cuda_graphs import reduce_overhead
from engine.child.techniques.precision import cast, inputs_in
from engine.child.techniques.torch_compile import default

REPORTED = ("reported_s", "baseline_s", "note")


def run_loops(pitfalls: tuple[Pitfall, ...], subject: Subject, inputs: Inputs) -> dict[str, dict[str, Any]]:
    """What each loop leaves, by the pitfall's key. One constant input, as in the article."""
    return {pitfall.key: _run(pitfall, subject, inputs) for pitfall in pitfalls}


def _run(pitfall: Pitfall, subject: Subject, inputs: Inputs) -> dict[str, Any]:
    names: dict[str, Any] = {
        "torch": torch,
        "model": subject.program,
        "inputs": inputs,
        "synchronize": make_synchronize(subject.device),
    }
    code = compile(pitfall.code, f"<pitfall {pitfall.key}>", "exec")
    # Measuring froze all objects there were; a plain script's collector has them to look at.
    gc.unfreeze()
    if not pitfall.starts_cold:
        exec(code, names)
        return _left_in(names)
    # As in a first start: nothing compiled yet, neither in this process nor on disk.
    torch_internals.reset_compiler()
    with torch_internals.fresh_compile_cache():
        exec(code, names)
    torch_internals.shut_down_compile_workers()
    return _left_in(names)


def _left_in(names: Mapping[str, Any]) -> dict[str, Any]:
    return {name: names.get(name) for name in REPORTED}


def _ordinary(inputs: Inputs) -> Inputs:
    """Copies that a loop with gradients can use too: tensors made under inference mode cannot be saved for a backward."""
    return {name: value.clone() if isinstance(value, torch.Tensor) else value for name, value in inputs.items()}


def _with_loops(technique: Technique, variant: str) -> Technique:
    """The technique as it is, and the loops of its variant afterwards."""

    def applied_with_loops(subject: Subject, context: Context) -> Applied:
        applied = technique(subject, context)

        def afterwards() -> dict[str, Any]:
            inputs = applied.prepared(_ordinary(subject.timed_inputs()[0]))
            return {"mistaken_loops": run_loops(loops_run_by(variant, context.is_first), subject, inputs)}

        return replace(applied, afterwards=afterwards)

    return applied_with_loops


def remembering(subject: Subject, context: Context) -> Applied:
    """Eager behind a memory of one answer, from the very code that is shown."""
    names: dict[str, Any] = {"torch": torch}
    exec(compile(REMEMBERING_CODE, "<remembering>", "exec"), names)
    served = names["remembering"](subject.program)
    return Applied(call=lambda inputs: served(**inputs))


def bfloat16(subject: Subject, context: Context) -> Applied:
    """The model in bfloat16, eager."""
    program = cast(subject, torch.bfloat16)
    return Applied(call=lambda inputs: program(**inputs), prepare=inputs_in(torch.bfloat16))


def bfloat16_compiled(subject: Subject, context: Context) -> Applied:
    """The model in bfloat16, compiled as the article compiles."""
    compiled = torch.compile(cast(subject, torch.bfloat16))
    return Applied(call=lambda inputs: compiled(**inputs), prepare=inputs_in(torch.bfloat16))


def dot(subject: Subject, context: Context) -> Applied:
    """The numpy product on arrays made beforehand."""
    program = subject.program
    return Applied(call=lambda inputs: program(**inputs), prepare=subject.arrange)


_TECHNIQUES: dict[str, Technique] = {
    REMEMBERING: remembering,
    COMPILED: default,
    HALF_EAGER: bfloat16,
    HALF_COMPILED: bfloat16_compiled,
    REPLAYED: reduce_overhead,
    DOT: dot,
}
VARIANTS: dict[str, Technique] = {key: _with_loops(technique, key) for key, technique in _TECHNIQUES.items()}
