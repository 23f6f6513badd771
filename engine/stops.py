"""How often one call stops on its way: what the CPU starts one by one, before and after. Numbers for the driving picture.

On a GPU a stop is a launch, of a kernel or of a whole graph; on a CPU a PyTorch operator. Counted in a profiler pass of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from engine import formatting
from engine.comparison import ComparisonRow
from engine.comparison.costs import known_median
from engine.floors import facts_at
from engine.result import Measurement, Run

OPERATORS, LAUNCHES = "operators", "launches"
SINGULAR = {OPERATORS: "operator", LAUNCHES: "launch"}
MOTORWAY_SHARE = 0.25
"""At most this share of the baseline's stops: a motorway. A picture's word, no verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drive:
    """One variant's way: `stops` per call (None: cannot be counted, and `note` says why), `share` of the baseline's."""

    variant: str
    label: str
    what: str
    stops: float | None
    share: float | None
    note: str = ""

    @property
    def words(self) -> str:
        """How many stops, and what kind of road that is."""
        if self.stops is None:
            return self.note
        stops = round(self.stops)
        what = SINGULAR[self.what] if stops == 1 else self.what
        return ", ".join(filter(None, (f"{formatting.count(stops)} {what}", self._road)))

    @property
    def _road(self) -> str:
        if self.share is None:
            return "city driving"
        return "motorway" if self.share <= MOTORWAY_SHARE else "fewer stops" if self.share < 1 else "city driving"


def drives(run: Run, rows: Sequence[ComparisonRow]) -> list[Drive]:
    """One per measured row, in the rows' order; empty where nobody's stops could be counted."""
    counted = [(row, *_stops(run, row)) for row in rows if row.samples]
    before = next((stops for row, stops, _ in counted if row.is_baseline and stops), None)
    if all(stops is None for _, stops, _ in counted):
        return []
    what = OPERATORS if run.experiment.device.startswith("cpu") else LAUNCHES
    return [
        Drive(
            variant=row.variant,
            label=row.label,
            what=what,
            stops=stops,
            share=None if row.is_baseline or stops is None or before is None else stops / before,
            note=note,
        )
        for row, stops, note in counted
    ]


def _stops(run: Run, row: ComparisonRow) -> tuple[float | None, str]:
    facts = [
        facts_at(outcome, row.workload)
        for outcome in run.outcomes
        if isinstance(outcome, Measurement) and outcome.variant == row.variant and row.workload in outcome.workloads
    ]
    if any(each.get("runtime") for each in facts):
        return None, "another runtime: PyTorch's profiler does not see its operators"
    stops = known_median(_started(each, run.experiment.device) for each in facts)
    return stops, "" if stops is not None else "the profiler could not count here"


def _started(facts: dict[str, Any], device: str) -> float | None:
    launches = [facts.get("kernel_launches_per_call"), facts.get("graph_launches_per_call")]
    if any(count is not None for count in launches):
        return _sum(launches)
    return None if device.startswith("cuda") else facts.get("operators_per_call")


def _sum(counts: Iterable[float | None]) -> float:
    return sum(count for count in counts if count is not None)
