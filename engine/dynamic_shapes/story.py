"""What a run over many lengths comes to, in the sentence that stands first. Plain text, nothing to render."""

from __future__ import annotations

import math
from collections.abc import Sequence

from engine.catalog import VARIANTS, label_of
from engine.comparison import ComparisonRow
from engine.dynamic_shapes.stream import StreamRow, chance, soonest
from engine.dynamic_shapes.table import paths
from engine.formatting import count, counted, fraction, seconds
from engine.result import Measurement, Run
from engine.verdict import Verdict


def sentence(rows: Sequence[ComparisonRow], found: Sequence[StreamRow]) -> str:
    """Who was through with the requests first, stalls included; without a stream, who compiled how often."""
    first = soonest(found)
    if first is None or first.total_s is None:
        return _graphs(rows)
    eager = next((row for row in found if row.is_baseline and row.total_s is not None), None)
    requests = count(first.requests)
    if eager is None or eager.total_s is None:
        return f"{first.label} answered {requests} requests first, in {_total(first)}."
    if first.is_baseline:
        second = soonest(row for row in found if not row.is_baseline)
        others = f" Next came {second.label}: {_total(second)}{_paying_back(second)}." if second else ""
        return f"Nothing was through with {requests} requests before eager: {seconds(eager.total_s)}.{others}"
    if first.total_s > eager.total_s / (1 + chance(found)):
        both = f"{_total(first)} and {seconds(eager.total_s)}"
        return f"{first.label} and eager took about as long for {requests} requests: {both}."
    return f"{first.label} was through with {requests} requests first: {_total(first)}; eager took {seconds(eager.total_s)}."


def _paying_back(row: StreamRow) -> str:
    after = row.pays_back_after
    if after is None or math.isinf(after):
        return ""
    return f"; the stalls pay back after about {count(after)} requests like these"


def problems(rows: Sequence[ComparisonRow]) -> list[str]:
    """One sentence per variant that was measured and whose speed may not be shown at some length."""
    found: dict[str, str] = {}
    for row in rows:
        is_none = row.verdict.hides_speedup or row.verdict is Verdict.WRONG_RESULT
        if row.samples and is_none and not row.is_twin:
            told = ": ".join(filter(None, (row.verdict.value, row.reason)))
            found.setdefault(row.variant, f"{row.label}, {row.workload.sequence_length} tokens: {told}.")
    return list(found.values())


def recorded_graphs(run: Run) -> list[str]:
    """One sentence per variant that recorded CUDA graphs: one of them per length is the price of replay (METHOD 2.3)."""
    most: dict[str, int] = {}
    for outcome in run.outcomes:
        nodes = outcome.facts.get("cudagraph_nodes") if isinstance(outcome, Measurement) else None
        if nodes:
            most[outcome.variant] = max(most.get(outcome.variant, 0), nodes)
    lengths = len({point.sequence_length for point in run.experiment.workloads})
    return [
        f"{label_of(key)}: {counted(nodes, 'CUDA graph')} recorded for {counted(lengths, 'length')}."
        for key, nodes in most.items()
    ]


def without_graphs(rows: Sequence[ComparisonRow]) -> str:
    """Why there is no table of graphs: nothing was compiled, or what was compiled could not be counted."""
    compiling = [row for row in rows if row.samples and row.variant in VARIANTS and VARIANTS[row.variant].compiles]
    if not compiling:
        return "Nothing was compiled in this run."
    labels = ", ".join(dict.fromkeys(row.label for row in compiling))
    return f"How many graphs were compiled is not known here: torch did not tell of {labels}."


def caveat(found: Sequence[StreamRow]) -> str:
    """What the totals rest on."""
    twin = next((row for row in found if row.is_twin and row.total_s and row.eager_s), None)
    said = "Each variant answered the stream once, with nothing compiled and an empty compile cache: no interval, no verdict."
    if twin is None or not twin.total_s or not twin.eager_s:
        return said
    return f"{said} The same eager work done twice differed by {fraction(abs(twin.total_s / twin.eager_s - 1))}."


def _total(row: StreamRow) -> str:
    stalls = f" ({seconds(row.stall_s)} of it in {counted(row.stalls, 'stall')})" if row.stalls else ""
    return f"{seconds(row.total_s)}{stalls}"


def _graphs(rows: Sequence[ComparisonRow]) -> str:
    """Graphs of each variant after the last length, the most of any process set."""
    most: dict[str, int] = {}
    for (label, _), path in paths(row for row in rows if not row.is_twin).items():
        graphs = path[-1][1].graphs
        if graphs is not None:
            most[label] = max(most.get(label, 0), graphs)
    lengths = len({row.workload.sequence_length for row in rows})
    if not most:
        return f"How many graphs were compiled for {counted(lengths, 'length')} is not known here."
    told = ", ".join(f"{label} {count(graphs)}" for label, graphs in most.items())
    return f"Graphs compiled for {counted(lengths, 'length')}: {told}."
