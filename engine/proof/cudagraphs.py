"""Was a CUDA graph really replayed? Torch's skip reasons in plain words, and the positive proof METHOD 2.3 asks for."""

from __future__ import annotations

import re

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


def explain_skip(reason: str) -> str:
    """A plain sentence for torch's reason to skip CUDA graphs; an unknown reason is quoted."""
    for pattern, sentence in SKIP_SENTENCES:
        if re.search(pattern, reason, re.IGNORECASE):
            return sentence
    first_line = reason.strip().splitlines()[0] if reason.strip() else "no reason given"
    return f'Torch says: "{first_line}".'


def graph_replayed(measurement: Measurement) -> Finding:
    """At least one graph launch per call, or a recorded node in torch's trees; a skip counter of 0 is no proof."""
    facts = measurement.facts
    if not str(facts.get("device", "cuda")).startswith("cuda"):
        return Finding(False, "CUDA graphs NOT used: skipped, this device has no CUDA")
    if facts.get("cudagraph_skips"):
        reasons = [explain_skip(reason) for reason in facts.get("cudagraph_skip_reasons") or ()]
        told = " ".join(dict.fromkeys(reasons)) or "Torch gives no reason."
        return Finding(False, f"CUDA graphs NOT used: {told.removesuffix('.')}")
    launches, nodes = facts.get("graph_launches_per_call"), facts.get("cudagraph_nodes")
    if launches is None and nodes is None:
        return Finding(None, "neither the profiler nor torch's graph trees can be read here")
    if launches is not None and launches >= 1:
        return Finding(True, f"{counted(launches, 'graph launch', 'graph launches')} per call")
    if launches is None and nodes:
        return Finding(True, f"{counted(nodes, 'CUDA graph')} recorded")
    return Finding(False, "CUDA graphs NOT used: no graph was launched, and torch gives no reason")
