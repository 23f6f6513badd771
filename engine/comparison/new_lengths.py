"""Does a variant go on compiling when lengths keep changing? Judged on the graphs counted after each length (H4, METHOD 3)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from engine.comparison.row import Arrival, ComparisonRow
from engine.formatting import count, seconds
from engine.proof import Finding
from engine.spec import Workload

LEARNING = 2
"""Lengths a variant may compile for: the first, and the second, at which torch makes the length a symbol."""
SHORTEST, LONGEST = 2, 512
"""The range the claim is about; a length of 1 always gets a graph of its own."""

Path = list[tuple[int, Arrival]]
"""The lengths one process set met, in its order."""


def no_new_graphs(rows: Sequence[ComparisonRow]) -> Finding:
    """Whether no process set compiled for a length after the second; `rows` are of one variant at several lengths."""
    paths = _paths(rows)
    if not paths or min(map(len, paths.values())) <= LEARNING:
        return Finding(None, f"it takes more than {LEARNING} lengths from {SHORTEST} to {LONGEST} tokens to tell")
    later = [(process, *step) for process, path in paths.items() for step in path[LEARNING:]]
    for process, length, arrival in later:
        if arrival.new_graphs:
            return Finding(False, f"it compiled again at {length} tokens in process set {process + 1}")
    broken = next((check for row in rows for check in row.checks if check.key == "ran" and not check.passed), None)
    if broken or any(arrival.new_graphs is None for _, _, arrival in later):
        return Finding(None, broken.detail if broken else "this torch does not tell how many graphs it compiled")
    return Finding(True, _summary(paths))


def has_enough_lengths(workloads: Iterable[Workload]) -> bool:
    """Whether a variant that meets all of these has to show what it does after the lengths it may learn from."""
    return len({point.sequence_length for point in workloads if _is_in_range(point)}) > LEARNING


def _is_in_range(workload: Workload) -> bool:
    return workload.sequence_length is not None and SHORTEST <= workload.sequence_length <= LONGEST


def _paths(rows: Iterable[ComparisonRow]) -> dict[int, Path]:
    paths: defaultdict[int, Path] = defaultdict(list)
    for row in rows:
        length = row.workload.sequence_length
        if length is not None and _is_in_range(row.workload):
            for arrival in row.arrivals:
                paths[arrival.process].append((length, arrival))
    return {process: sorted(path, key=lambda step: step[1].place) for process, path in paths.items()}


def _summary(paths: dict[int, Path]) -> str:
    arrivals = [arrival for path in paths.values() for _, arrival in path]
    graphs = max(sum(arrival.new_graphs or 0 for _, arrival in path) for path in paths.values())
    again = any(path[1][1].new_graphs for path in paths.values())
    stalls = [arrival.stall_s for arrival in arrivals if arrival.new_graphs and arrival.stall_s is not None]
    said = f"{count(graphs)} graph{'s' if graphs != 1 else ''} for {max(map(len, paths.values()))} lengths"
    said += ": it compiled once more at the second length, then no more" if again else ", none after the first length"
    return said + (f"; the longest stall was {seconds(max(stalls))}" if stalls else "")
