"""Were the compile caches in the state the runner prepared? Counters of the measured process tell (METHOD 1.7)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.formatting import counted
from engine.proof.finding import Finding
from engine.result import CacheState, Measurement

HITS = ("fxgraph_cache_hits", "autograd_cache_hits")
MISSES = ("fxgraph_cache_misses", "autograd_cache_misses")


def judge_cache(measurement: Measurement) -> Finding:
    """Whether what was compiled came from the cache where that was warm, and did not where it was cold.

    Freezing goes past the graph caches, and yet finds kernels and tuning results there: unknown, not wrong.
    """
    facts, state = measurement.facts, measurement.compile_cache
    hits, misses = _sum(facts, HITS), _sum(facts, MISSES)
    if state is None or hits is None or misses is None or not facts.get("graphs"):
        return Finding(None, "nothing tells what was in the compile cache")
    if facts.get("fxgraph_cache_bypasses"):
        return Finding(None, "this kind of compilation is not kept in the graph cache")
    seen = f"{counted(hits, 'hit')} and {counted(misses, 'miss', 'misses')} counted"
    if state == "cold":
        if hits:
            return Finding(False, f"the compile cache was not empty: {seen}")
        return Finding(True, seen) if misses else Finding(None, "the compile cache was never asked")
    if hits:
        return Finding(True, seen)
    return Finding(
        False, f"nothing came from the compile cache: {seen}" if misses else "the compile cache was never asked"
    )


def proven_cache(measurement: Measurement) -> CacheState | None:
    """The state of the compile cache as the runner prepared it; None where the counters show another one."""
    return None if judge_cache(measurement).passed is False else measurement.compile_cache


def _sum(facts: Mapping[str, Any], keys: tuple[str, ...]) -> int | None:
    """What is known, added up; None where nothing is."""
    known = [int(facts[key]) for key in keys if facts.get(key) is not None]
    return sum(known) if known else None
