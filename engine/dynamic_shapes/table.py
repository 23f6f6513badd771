"""Length by length: in which order each process set met them, how many graphs there were, what the first call cost."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from statistics import median

import pandas as pd

from engine import formatting
from engine.comparison import Arrival, ComparisonRow
from engine.dynamic_shapes.stream import StreamRow

ARROW = " → "

Step = tuple[int, Arrival]
"""A length, and how one process set came to it."""


def serves_lengths(rows: Iterable[ComparisonRow]) -> bool:
    """Whether some variant's processes met several lengths one after another."""
    return any(arrival.place for row in rows for arrival in row.arrivals if row.workload.sequence_length)


def paths(rows: Iterable[ComparisonRow]) -> dict[tuple[str, int], list[Step]]:
    """By (label, process set): the lengths in the order they were met."""
    found: defaultdict[tuple[str, int], list[Step]] = defaultdict(list)
    for row in rows:
        for arrival in row.arrivals:
            found[row.label, arrival.process].append((row.workload.sequence_length or 0, arrival))
    return {key: sorted(path, key=lambda step: step[1].place) for key, path in found.items()}


def graphs_by_order(rows: Sequence[ComparisonRow]) -> pd.DataFrame:
    """One row per process set with its order of lengths; a column per variant that compiles: graphs after each length."""
    return _by_order(rows, lambda arrival: formatting.count(arrival.graphs))


def stalls_by_order(rows: Sequence[ComparisonRow]) -> pd.DataFrame:
    """The same with what the first call at each length took beyond a steady one."""
    return _by_order(rows, lambda arrival: formatting.seconds(arrival.stall_s))


def _by_order(rows: Sequence[ComparisonRow], cell: Callable[[Arrival], str]) -> pd.DataFrame:
    """Process sets of one number meet the lengths in the same order in every group; the n-th of each variant share a row."""
    table: defaultdict[int, dict[str, object]] = defaultdict(dict)
    turns: Counter[str] = Counter()
    for (label, _), path in compiling_paths(rows).items():
        line = table[turns[label]]
        turns[label] += 1
        line |= {
            "process set": turns[label],
            "compile cache": path[0][1].compile_cache or formatting.UNKNOWN,
            "lengths as met": ARROW.join(str(length) for length, _ in path),
            label: ARROW.join(cell(arrival) for _, arrival in path),
        }
    return pd.DataFrame(table.values()).fillna(formatting.UNKNOWN)


def compiling_paths(rows: Iterable[ComparisonRow]) -> dict[tuple[str, int], list[Step]]:
    """`paths` of variants that compile anything."""
    return {key: path for key, path in paths(rows).items() if any(arrival.graphs is not None for _, arrival in path)}


def orders_table(rows: Sequence[ComparisonRow]) -> pd.DataFrame:
    """One row per compiling variant and process set: order of the lengths, graphs after each, stall of each first call."""
    return pd.DataFrame(
        [
            {
                "variant": label,
                "set": process + 1,
                "cache": path[0][1].compile_cache or formatting.UNKNOWN,
                "lengths as met": ARROW.join(str(length) for length, _ in path),
                "graphs after each": ARROW.join(formatting.count(arrival.graphs) for _, arrival in path),
                "stall of each first call": ARROW.join(formatting.seconds(arrival.stall_s) for _, arrival in path),
            }
            for (label, process), path in compiling_paths(rows).items()
        ]
    )


def lengths_table(rows: Sequence[ComparisonRow]) -> pd.DataFrame:
    """One row per variant, length and first-seen length: latency, new graphs and stall, over the process sets it happened in."""
    table = []
    for row in rows:
        groups: defaultdict[int, list[Arrival]] = defaultdict(list)
        for arrival in row.arrivals:
            groups[arrival.first.sequence_length or 0].append(arrival)
        table += [_line(row, first, arrivals) for first, arrivals in sorted(groups.items())]
    return pd.DataFrame(table)


def streams_table(found: Sequence[StreamRow]) -> pd.DataFrame:
    """One row per variant that was to answer the request stream."""
    return pd.DataFrame(
        [
            {
                "variant": row.label,
                "total": formatting.seconds(row.total_s),
                "stalled": formatting.seconds(row.stall_s) if row.total_s is not None else formatting.UNKNOWN,
                "stalls": formatting.count(row.stalls) if row.total_s is not None else formatting.UNKNOWN,
                "graphs": formatting.count(row.graphs),
                "pays back after": pays_back(row),
                "note": row.problem,
            }
            for row in found
        ]
    )


def pays_back(row: StreamRow) -> str:
    """After how many requests like these the stalls are earned back."""
    if row.pays_back_after is None:
        return formatting.UNKNOWN
    if math.isinf(row.pays_back_after):
        return "never, on this evidence"
    return f"about {formatting.count(row.pays_back_after)} requests"


def _line(row: ComparisonRow, first: int, arrivals: Sequence[Arrival]) -> dict[str, object]:
    return {
        "variant": row.label,
        "length": row.workload.sequence_length,
        "first seen": first,
        "process sets": len(arrivals),
        "median latency": formatting.seconds(_median(arrival.median_s for arrival in arrivals)),
        "new graphs": _range(arrival.new_graphs for arrival in arrivals),
        "stall, cold cache": formatting.seconds(_stall(arrivals, "cold")),
        "stall, warm cache": formatting.seconds(_stall(arrivals, "warm")),
    }


def _stall(arrivals: Iterable[Arrival], cache: str) -> float | None:
    return _median(arrival.stall_s for arrival in arrivals if arrival.compile_cache == cache)


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None


def _range(values: Iterable[int | None]) -> str:
    known = sorted({value for value in values if value is not None})
    if not known:
        return formatting.UNKNOWN
    return formatting.count(known[0]) if len(known) == 1 else f"{known[0]} to {known[-1]}"
