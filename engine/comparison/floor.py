"""The physical floor of an arm, from the limits measured in its run."""

from __future__ import annotations

from engine.result import Run
from engine.spec import Workload


def floor_of(variant: str, workload: Workload, run: Run) -> float | None:
    """Seconds below which no call can be; None where no floor is known."""
    return None
