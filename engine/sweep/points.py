"""A run's operator points in order of size: what was moved, how fast, what bounds it, what was allocated. Numbers for charts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from engine.catalog.operators import OPERATORS, OperatorCard
from engine.comparison import ComparisonRow
from engine.comparison.costs import known_median
from engine.floors import facts_at, footprint, is_beyond_caches
from engine.result import Measurement, Run
from engine.spec import Workload

Bound = Literal["traffic", "launches"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """Points that differ in size alone."""

    operator: str
    dtype: str
    operations: int | None

    @property
    def card(self) -> OperatorCard:
        """What is known of the operator."""
        return OPERATORS[self.operator]


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepPoint:
    """One variant at one size. Bytes, seconds and counts are per call; what was not read is None.

    `array_bytes` is the size of the result, `moved_bytes` what this variant reads and writes, `is_in_memory` whether even the
    least traffic is beyond four last-level caches, whose size may be unknown. `bound` is the largest speed-up over the
    baseline that traffic (in memory) or launches (in caches) can explain.
    """

    row: ComparisonRow
    array_bytes: int
    moved_bytes: int | None
    bytes_per_s: float | None
    bandwidth_share: float | None
    is_in_memory: bool | None
    bound: float | None
    bound_by: Bound | None
    started: float | None
    allocations: float | None
    allocated_bytes: float | None
    page_faults: float | None

    @property
    def exceeds_bound(self) -> bool:
        """Whether the whole interval (without one, the estimate) lies above the bound."""
        speedup = self.row.speedup
        if self.bound is None or speedup is None:
            return False
        return (speedup.low if speedup.low is not None else speedup.estimate) > self.bound


def series_of(workload: Workload) -> Series | None:
    """The series a workload belongs to; None for a model, and for an operator this version does not know."""
    if workload.operator not in OPERATORS:
        return None
    return Series(operator=workload.operator or "", dtype=workload.dtype, operations=workload.operations)


def series_in(rows: Iterable[ComparisonRow]) -> list[Series]:
    """Every series of the rows, in their order."""
    return list(dict.fromkeys(series for row in rows if (series := series_of(row.workload))))


def points_of(run: Run, rows: Sequence[ComparisonRow], series: Series) -> list[SweepPoint]:
    """The measured rows of one series by size; A/A twins are left out."""
    own = [row for row in rows if series_of(row.workload) == series and not row.is_twin and row.median_s]
    return [_point(run, own, row) for row in sorted(own, key=lambda row: row.workload.elements or 0)]


def left_out_of(rows: Sequence[ComparisonRow], series: Series) -> dict[int, str]:
    """Sizes of a series that no row has a time for, and the first reason given."""
    sizes: dict[int, list[ComparisonRow]] = {}
    for row in rows:
        if series_of(row.workload) == series:
            sizes.setdefault(row.workload.elements or 0, []).append(row)
    return {size: at[0].reason for size, at in sizes.items() if not any(row.median_s for row in at)}


def variants_of(points: Iterable[SweepPoint]) -> dict[str, list[SweepPoint]]:
    """Points by variant, the baseline first."""
    lines: dict[str, list[SweepPoint]] = {}
    for point in sorted(points, key=lambda point: not point.row.is_baseline):
        lines.setdefault(point.row.variant, []).append(point)
    return lines


def cache_marks(run: Run, series: Series) -> dict[str, float]:
    """Size of the result, in bytes, at which the arrays of the plain form fill each cache."""
    device = run.environment.device if run.environment else None
    caches = dict(device.cache_bytes) if device else {}
    return {name: size / series.card.alive for name, size in sorted(caches.items(), key=lambda pair: pair[1])}


def _point(run: Run, rows: Sequence[ComparisonRow], row: ComparisonRow) -> SweepPoint:
    card, facts = OPERATORS[row.workload.operator or ""], _facts(run, row)
    baseline = next((other for other in rows if other.variant == row.baseline and other.workload == row.workload), None)
    moved = card.moved_bytes(row.variant, row.workload)
    rate = moved / row.median_s if moved and row.median_s else None
    bandwidth = run.limits.bandwidth_bytes_per_s if run.limits else None
    is_in_memory = _is_in_memory(run, facts)
    bound, bound_by = _bound(card, row, is_in_memory, _started(run, facts), _started(run, _facts(run, baseline)))
    return SweepPoint(
        row=row,
        array_bytes=card.array_bytes(row.workload),
        moved_bytes=moved,
        bytes_per_s=rate,
        bandwidth_share=rate / bandwidth if rate and bandwidth else None,
        is_in_memory=is_in_memory,
        bound=bound,
        bound_by=bound_by,
        started=_started(run, facts),
        allocations=facts.get("allocations_per_call"),
        allocated_bytes=facts.get("allocated_bytes_per_call"),
        page_faults=facts.get("page_faults_per_call"),
    )


def _facts(run: Run, row: ComparisonRow | None) -> dict[str, float | None]:
    """Medians over the process sets of every numeric fact at the row's size."""
    if row is None:
        return {}
    known = [
        facts_at(outcome, row.workload)
        for outcome in run.outcomes
        if isinstance(outcome, Measurement) and outcome.variant == row.variant and row.workload in outcome.workloads
    ]
    keys = {key for facts in known for key, value in facts.items() if _is_number(value)}
    return {key: known_median(facts[key] for facts in known if _is_number(facts.get(key))) for key in keys}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _started(run: Run, facts: dict[str, float | None]) -> float | None:
    """Kernels one call starts on a GPU; on a CPU PyTorch operators, and generated code as one."""
    kernels, is_on_cuda = facts.get("kernels_per_call"), run.experiment.device.startswith("cuda")
    return facts.get("operators_per_call") if kernels is None and not is_on_cuda else kernels


def _is_in_memory(run: Run, facts: dict[str, float | None]) -> bool | None:
    cache, touched = run.environment.device.last_level_cache_bytes if run.environment else None, footprint(facts)
    return is_beyond_caches(touched, cache) if cache and touched is not None else None


def _bound(
    card: OperatorCard,
    row: ComparisonRow,
    is_in_memory: bool | None,
    started: float | None,
    baseline_started: float | None,
) -> tuple[float | None, Bound | None]:
    """Traffic bounds what comes from memory, launches what does not; a bound of 1.0x or less bounds nothing worth a line."""
    if is_in_memory is None:
        return None, None
    if is_in_memory:
        ours, theirs = (card.moved_bytes(key, row.workload) for key in (row.variant, row.baseline))
        bound = theirs / ours if ours and theirs else None
        return (bound, "traffic") if bound and bound > 1 else (None, None)
    bound = baseline_started / max(started, 1.0) if started is not None and baseline_started else None
    return (bound, "launches") if bound and bound > 1 else (None, None)
