"""Rules over stored measurements: did the technique really happen, and are the outputs right? No torch, nothing measured.

`Variant.proofs` lists names of `RULES`. Evidence is stored, findings never are, so a rule can change without measuring again.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.catalog.types import Variant
from engine.proof.compiler import compiled, no_eager_fallback, no_recompile_while_timing, nothing_compiled
from engine.proof.cudagraphs import explain_skip, graph_replayed, graph_replayed_on_cuda
from engine.proof.elsewhere import other_runtime
from engine.proof.finding import Finding, Rule, combine, each
from engine.proof.fusion import fewer_kernels, one_kernel
from engine.proof.memory import (
    allocator_caching,
    allocator_disabled,
    allocator_expandable,
    inputs_stay,
    outputs_stay,
    requests_pinned,
    result_preallocated,
)
from engine.proof.outputs import OVERWRITES, REPLAY_OVERWRITES, REPLAYS_ONE_INPUT, judge_outputs
from engine.proof.tuning import MAY_TUNE_NOTHING, STANDS_UNTUNED, TUNING, candidates_tuned, candidates_tuned_on_cuda
from engine.result import Measurement

RULES: dict[str, Rule] = {
    "nothing_compiled": each(nothing_compiled),
    "compiled": each(compiled),
    "no_recompile_while_timing": each(no_recompile_while_timing),
    "no_eager_fallback": each(no_eager_fallback),
    "graph_replayed": each(graph_replayed),
    "graph_replayed_on_cuda": each(graph_replayed_on_cuda),
    "candidates_tuned": candidates_tuned,
    "candidates_tuned_on_cuda": candidates_tuned_on_cuda,
    "other_runtime": each(other_runtime),
    "result_preallocated": each(result_preallocated),
    "inputs_stay": each(inputs_stay),
    "outputs_stay": each(outputs_stay),
    "requests_pinned": each(requests_pinned),
    "fewer_kernels": each(fewer_kernels),
    "one_kernel": each(one_kernel),
    "allocator_caching": each(allocator_caching),
    "allocator_disabled": each(allocator_disabled),
    "allocator_expandable": each(allocator_expandable),
}
ALLOWANCES = frozenset({OVERWRITES, REPLAY_OVERWRITES, REPLAYS_ONE_INPUT, MAY_TUNE_NOTHING})
"""Names in `Variant.proofs` that excuse a property of the outputs, or a part that may be missing; they are no evidence."""


def judge_mechanism(variant: Variant, measurements: Sequence[Measurement]) -> Finding:
    """Whether the evidence of all process sets shows that `variant` did what its name says."""
    if not measurements:
        return Finding(None, "nothing was measured")
    rules = [RULES[name] for name in variant.proofs if name not in ALLOWANCES]
    if not rules:
        return Finding(None, "no evidence is asked of this variant")
    return combine([rule(measurements) for rule in rules])


__all__ = [
    "ALLOWANCES",
    "RULES",
    "STANDS_UNTUNED",
    "TUNING",
    "Finding",
    "Rule",
    "explain_skip",
    "judge_mechanism",
    "judge_outputs",
]
