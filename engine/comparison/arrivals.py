"""How each process set met a workload that its child serves beside others: in which order, and what the first call cost."""

from __future__ import annotations

from engine import stats
from engine.comparison.arms import Arm
from engine.comparison.row import Arrival
from engine.proof.caches import proven_cache
from engine.result import Measurement, PointSetUp


def arrivals(arm: Arm) -> tuple[Arrival, ...]:
    """One per process set, in the order of their numbers."""
    found = [
        _arrival(arm, measurement, place) for measurement, place in zip(arm.measurements, arm.indices, strict=True)
    ]
    return tuple(sorted(found, key=lambda arrival: arrival.process))


def _arrival(arm: Arm, measurement: Measurement, place: int) -> Arrival:
    first_call_s = next(iter(measurement.points[place].first_calls_s), None)
    median_s = stats.median(arm.latencies.get(measurement.process, ()))
    so_far = [_new_graphs(point) for point in measurement.points[: place + 1]]
    known = [count for count in so_far if count is not None]
    return Arrival(
        process=measurement.process,
        place=place,
        first=measurement.workloads[0],
        new_graphs=so_far[-1],
        graphs=sum(known) if len(known) == len(so_far) else None,
        first_call_s=first_call_s,
        stall_s=None if first_call_s is None or median_s is None else first_call_s - median_s,
        median_s=median_s,
        compile_cache=proven_cache(measurement),
    )


def _new_graphs(point: PointSetUp) -> int | None:
    return None if point.new_graphs is None else sum(point.new_graphs)
