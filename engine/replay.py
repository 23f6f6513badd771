"""What a CUDA graph's copies cost, and why there was none: sentences from stored rows and facts. Nothing measured here."""

from __future__ import annotations

from collections.abc import Sequence

from engine.comparison import ComparisonRow
from engine.formatting import bytes_, seconds
from engine.proof import explain_skip
from engine.result import Measurement, Run
from engine.spec import Workload

PAIRS = (
    ("cuda-graphs/eager-replay", "cuda-graphs/eager-served"),
    ("cuda-graphs/compiled-replay", "cuda-graphs/compiled-served"),
    ("cuda-graphs/reduce-overhead", "cuda-graphs/reduce-overhead-served"),
)
"""The bare replay, and the same with what a server must add: the input copied in, the output cloned out."""


def served_sentences(rows: Sequence[ComparisonRow]) -> list[str]:
    """For each pair that was measured: what serving adds to the bare replay. `rows` are of one workload."""
    by_variant = {row.variant: row for row in rows}
    found = []
    for bare_key, served_key in PAIRS:
        bare, served = by_variant.get(bare_key), by_variant.get(served_key)
        if bare and served and bare.median_s and served.median_s:
            added = served.median_s - bare.median_s
            cost = f"copies cost {seconds(added)}" if added > 0 else "no cost of the copies can be seen"
            found.append(
                f"{served.label}: {seconds(served.median_s)} per call, {bare.label.lower()}: {seconds(bare.median_s)}; {cost}."
            )
    return found


def pool_sentences(rows: Sequence[ComparisonRow]) -> list[str]:
    """Memory each row's graphs keep for themselves, where it was read."""
    kept = {row.label: row.memory.get("private_pool_bytes") for row in rows}
    return [f"{label} keeps {bytes_(size)} in private pools." for label, size in kept.items() if size]


def skip_sentences(run: Run, workload: Workload) -> list[str]:
    """Every reason torch gave for not using a graph at one workload, in plain words, with the variant it concerns."""
    found = [
        f"{outcome.variant.split('/')[-1]}: {explain_skip(str(reason))}"
        for outcome in run.outcomes
        if isinstance(outcome, Measurement) and workload in outcome.workloads
        for reason in outcome.facts.get("cudagraph_skip_reasons") or ()
    ]
    return list(dict.fromkeys(found))
