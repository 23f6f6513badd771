"""Did the compiler really compile, once, before timing, and everything? METHOD 2, common block."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.formatting import counted
from engine.proof.finding import Finding
from engine.result import Measurement


def nothing_compiled(measurement: Measurement) -> Finding:
    """Plain eager: the compiler saw no frame."""
    seen = measurement.facts.get("frames_seen")
    if seen is None:
        return Finding(None, "this torch does not tell whether anything was compiled")
    if seen:
        return Finding(False, f"TorchDynamo took {counted(seen, 'frame')} of what should have run eagerly")
    return Finding(True, "nothing was compiled")


def compiled(measurement: Measurement) -> Finding:
    """At least one frame became a graph."""
    frames, graphs = measurement.facts.get("frames_compiled"), measurement.facts.get("graphs")
    if frames is None or graphs is None:
        return Finding(None, "this torch does not tell whether anything was compiled")
    if not frames or not graphs:
        return Finding(False, "nothing was compiled: every call ran eagerly")
    return Finding(True, f"{counted(graphs, 'graph')} compiled")


def no_recompile_while_timing(measurement: Measurement) -> Finding:
    """Nothing was compiled or recorded between the end of warm-up and the last timed call."""
    facts = measurement.facts
    recompiles, recorded = facts.get("recompiles_while_timing"), facts.get("graphs_recorded_while_timing")
    if recompiles is None:
        return Finding(None, "this torch does not tell whether it recompiled while timing")
    if recompiles:
        last = _last(facts.get("recompile_reasons"))
        return Finding(False, f"compiled {counted(recompiles, 'time')} while timing{last}")
    if recorded:
        return Finding(False, f"recorded {counted(recorded, 'CUDA graph')} while timing")
    return Finding(True, "no recompile while timing")


def no_eager_fallback(measurement: Measurement) -> Finding:
    """No part of the model went back to eager: no graph break, no skipped frame, recompile limit not reached."""
    facts = measurement.facts
    frames, seen, breaks = facts.get("frames_compiled"), facts.get("frames_seen"), facts.get("graph_breaks")
    if facts.get("recompile_limit_hit"):
        return Finding(False, "partly eager: recompile limit reached, new shapes ran without the compiler")
    if breaks:
        reason = _last(facts.get("graph_break_reasons"))
        return Finding(False, f"partly eager: the graph broke {counted(breaks, 'time')}{reason}")
    if frames is None or seen is None or breaks is None:
        return Finding(None, "this torch does not tell whether something fell back to eager")
    if seen > frames:
        return Finding(False, f"partly eager: {seen - frames} of {counted(seen, 'frame')} ran without the compiler")
    return Finding(True, "no fallback to eager, no graph break")


def _last(reasons: Any) -> str:
    """ ": <the last reason>", or nothing."""
    known: Sequence[str] = reasons if isinstance(reasons, list | tuple) else ()
    return f": {known[-1]}" if known else ""
