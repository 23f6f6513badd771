"""Was a CUDA graph really replayed? Torch's skip reasons in plain words, and the positive proof METHOD 2.3 asks for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from engine.formatting import counted
from engine.proof.finding import Finding
from engine.result import Measurement

# First match speaks. The texts are torch's (`_inductor/cudagraph_utils.py`, `output_code.py`, `compile_fx.py`,
# `lowering.py`, `cudagraph_trees.py`), which may prefix them with "skipping cudagraphs due to".
SKIP_SENTENCES: tuple[tuple[str, str], ...] = (
    (r"cpp.wrapper", "The C++ wrapper was asked for, and it cannot record the pieces of a partitioned graph."),
    (r"caching allocator", "PyTorch's caching allocator is switched off, and recording needs it."),
    (r"re-?recording limit|re-?record", "The graph had to be recorded again too often, so torch went back to normal launches."),
    (r"mutat", "The model changes one of its inputs in place, and a replay would change the recorded copy instead."),
    (r"multiple devices", "The work is spread over several devices; a CUDA graph lives on one."),
    (r"cpu device|cpu node", "Part of the work runs on the CPU, which a CUDA graph cannot hold."),
    (r"dynamic shape|symbolic shape|symint", "Shapes change from call to call, and skipping such graphs was asked for."),
    (r"incompatible op", "One operator cannot be recorded in a CUDA graph."),
    (r"boolean indexing|nonzero", "Indexing by a mask has to ask the GPU for a size, which recording forbids."),
    (r"control flow|torch\.cond|while_loop", "The model decides on the CPU what to run next, and a graph cannot branch."),
    (r"spars", "Sparse tensors cannot be recorded."),
    (r"complex", "Complex numbers are part of the graph, and torch does not record those."),
    (r"non.?tensor", "An input is not a tensor, and a graph can copy only tensors in."),
    (r"no kernel|kernel.free", "The graph starts no kernel, so there is nothing to record."),
    (r"override_cudagraphs|annotation|bisector|policy", "A setting switched CUDA graphs off for this model."),
)  # fmt: skip
LAUNCHES_BESIDE = 4
"""Kernels that a replayed call may start one by one beside its graphs. METHOD 2.3 asks for about 0; torch's trees copy the
inputs in with one kernel per dtype, and a clone of an output that does not lie in one piece is a kernel, else a plain copy."""


def explain_skip(reason: str) -> str:
    """A plain sentence for torch's reason to skip CUDA graphs; an unknown reason is quoted."""
    for pattern, sentence in SKIP_SENTENCES:
        if re.search(pattern, reason, re.IGNORECASE):
            return sentence
    first_line = reason.strip().splitlines()[0] if reason.strip() else "no reason given"
    return f'Torch says: "{first_line}".'


def graph_replayed(measurement: Measurement) -> Finding:
    """At least one graph launch per call and next to no kernel beside it, or a recorded node in torch's trees.

    A skip counter of 0 is no proof, and a graph that was recorded while timing was not replayed then.
    """
    facts = measurement.facts
    if not _is_on_cuda(facts):
        return Finding(False, "CUDA graphs NOT used: skipped, this device has no CUDA")
    if facts.get("cudagraph_skips"):
        reasons = [explain_skip(reason) for reason in facts.get("cudagraph_skip_reasons") or ()]
        told = " ".join(dict.fromkeys(reasons)) or "Torch gives no reason."
        return Finding(False, f"CUDA graphs NOT used: {told}")
    launches, nodes = facts.get("graph_launches_per_call"), facts.get("cudagraph_nodes")
    if launches is None and (nodes is None or facts.get("captured_graphs")):  # the trees know no graph captured by hand
        return Finding(None, "neither the profiler nor torch's graph trees can be read here")
    is_launched = bool(nodes) if launches is None else launches >= 1
    if not is_launched:
        return Finding(False, "CUDA graphs NOT used: no graph was launched, and torch gives no reason")
    seen = (
        f"{counted(nodes or 0, 'CUDA graph')} recorded"
        if launches is None
        else f"{counted(round(launches), 'graph launch', 'graph launches')} per call"
    )
    return _not_only_replayed(facts) or Finding(True, seen)


def graph_replayed_on_cuda(measurement: Measurement) -> Finding:
    """The same of a variant that runs on other devices too, where its mode records no graph and nobody says it does."""
    if not _is_on_cuda(measurement.facts):
        return Finding(True, "no CUDA graph is asked for on this device")
    return graph_replayed(measurement)


def may_replay(facts: Mapping[str, Any]) -> bool:
    """Whether a CUDA graph was at work, or nothing tells: its next replay writes where the last one wrote."""
    seen = [facts.get("graph_launches_per_call"), facts.get("cudagraph_nodes")]
    known = [count for count in seen if count is not None]
    return _is_on_cuda(facts) and (any(known) or not known)


def _is_on_cuda(facts: Mapping[str, Any]) -> bool:
    return str(facts.get("device", "cuda")).startswith("cuda")


def _not_only_replayed(facts: Mapping[str, Any]) -> Finding | None:
    """What happened beside the replays of a graph that is there; None when nothing did."""
    recorded, beside = _recorded_while_timing(facts), facts.get("kernel_launches_per_call")
    if recorded:
        return Finding(False, f"recorded {counted(recorded, 'CUDA graph')} while timing")
    if beside is not None and beside > LAUNCHES_BESIDE:
        launched = counted(round(beside), "kernel")
        return Finding(False, f"partly replayed: {launched} per call were launched one by one beside the graph")
    if recorded is None and facts.get("cudagraph_rerecords"):
        return Finding(None, "a CUDA graph was recorded again, and torch does not tell whether while timing")
    return None


def _recorded_while_timing(facts: Mapping[str, Any]) -> int | None:
    """Graphs in torch's trees that were not there when warm-up was over; where those cannot be read, what its events say."""
    before, after = facts.get("cudagraph_nodes_before_timing"), facts.get("cudagraph_nodes")
    if before is None or after is None:
        told: int | None = facts.get("graphs_recorded_while_timing")
        return told
    return max(0, int(after) - int(before))
