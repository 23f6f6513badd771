"""Does a technique save memory? Peak memory of a row against its own baseline's at the same point."""

from __future__ import annotations

from collections.abc import Sequence

from engine.comparison.row import ComparisonRow
from engine.formatting import counted, fraction
from engine.metrics import MEMORY

KINDS = ("peak_reserved_bytes", "peak_process_bytes")
"""What a GPU's allocator held, else what the process held: the first that both rows know."""


def change_of(row: ComparisonRow, rows: Sequence[ComparisonRow]) -> float | None:
    """By which share peak memory is above the baseline's (negative: below); None where that cannot be told or does not count.

    Of models only, in the precision asked for: half the bytes per number is another matter than a memory technique. And of as
    many process sets as a verdict takes: one difference between two processes may be chance.
    """
    is_counted = row.verdict.is_statistical and not (row.is_baseline or row.is_twin)
    if not is_counted or not row.workload.model or row.precision != row.workload.dtype:
        return None
    baseline = next((other for other in rows if _is_baseline_of(other, row)), None)
    kind = kind_of(row)
    ours, theirs = row.memory.get(kind or ""), baseline.memory.get(kind or "") if baseline else None
    return ours / theirs - 1 if ours and theirs else None


def kind_of(row: ComparisonRow) -> str | None:
    """The kind of memory that is compared."""
    return next((kind for kind in KINDS if row.memory.get(kind)), None)


def peak_memory_words(changes: Sequence[tuple[float, ComparisonRow]]) -> str:
    """From the largest saving to the largest increase: one phrase."""
    (least, best), (most, worst) = (choose(changes, key=lambda pair: pair[0]) for choose in (min, max))
    label = MEMORY[kind_of(best) or KINDS[-1]].label.lower()
    if best is worst:
        return f"{label} {_told(least)} ({best.label})"
    variants = len({row.variant for _, row in changes})  # at every length they were measured at
    return f"{label} of {counted(variants, 'variant')}: from {_told(least)} ({best.label}) to {_told(most)} ({worst.label})"


def _is_baseline_of(other: ComparisonRow, row: ComparisonRow) -> bool:
    return other.variant == row.baseline and other.workload == row.workload and not other.is_twin


def _told(change: float) -> str:
    return f"{fraction(abs(change))} {'less' if change < 0 else 'more'}"
