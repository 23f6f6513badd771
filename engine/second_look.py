"""What deserves a second look although no check failed: calls that slow down while timed, a latency that no batch moves."""

from __future__ import annotations

from collections.abc import Iterable

from engine.comparison import ComparisonRow
from engine.formatting import count, fraction, seconds

LARGE_CHANGE = 0.1
"""Of one arm's own times, from the first to the last tenth of a process set. All arms change with the machine, so a ratio may
stand where a latency does not: drift of ratios is a check, this is a note (METHOD 1.3)."""
GROWTH, FLAT = 8, 1.1
"""A batch that grows so many times and costs less than so many times as much is no usual thing."""


def changes(rows: Iterable[ComparisonRow]) -> list[str]:
    """At most one sentence for the rows of a workload, about the one whose times changed most while they were taken."""
    known = [(row.raw_change, row) for row in rows if row.raw_change is not None and not row.is_twin]
    change, row = max(known, key=lambda pair: abs(pair[0]), default=(0.0, None))
    if row is None or abs(change) < LARGE_CHANGE:
        return []
    return [
        f"Calls of {row.label} became {fraction(abs(change))} {'slower' if change > 0 else 'faster'} from the first to the "
        "last tenth of a process set: heat, power or a neighbour may have changed the machine. Variants take turns, so a "
        "speed-up can stand; latencies are of a machine that changed. Measure again when it is quiet."
    ]


def flat_latencies(rows: Iterable[ComparisonRow]) -> list[str]:
    """One sentence per variant whose calls take as long with a batch that is eight times as large: were they waited for?

    Not where the GPU's own clock says that they were. Of several rows at one point the first counts.
    """
    lines: dict[tuple[object, ...], dict[int, ComparisonRow]] = {}
    for row in rows:
        point = row.workload
        if row.median_s and point.batch_size and not row.is_twin:
            key = (row.variant, row.device_name, point.model, point.sequence_length, point.dtype)
            lines.setdefault(key, {}).setdefault(point.batch_size, row)
    return [said for line in lines.values() if (said := _flat(line))]


def _flat(line: dict[int, ComparisonRow]) -> str:
    for small, large in ((small, large) for small in sorted(line) for large in sorted(line) if large >= GROWTH * small):
        before_s, after_s = line[small].median_s or 0.0, line[large].median_s or 0.0
        if after_s < FLAT * before_s and not _was_waited_for(line[large]):
            return (
                f"{line[small].label} takes {seconds(before_s)} at batch {count(small)} and {seconds(after_s)} at batch "
                f"{count(large)}: so flat a latency may mean that calls were not waited for, or that something "
                "else than the batch takes all the time. Compare its time per call, back to back."
            )
    return ""


def _was_waited_for(row: ComparisonRow) -> bool:
    """Whether the time the GPU worked fits into the latency; a clock stopped too early shows less than that."""
    return bool(row.gpu_s and row.median_s and row.gpu_s <= FLAT * row.median_s)
