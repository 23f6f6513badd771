"""Did the result really go into memory that was there before, and did the allocator do what the row's name says?"""

from __future__ import annotations

from engine.catalog.operators import OPERATORS
from engine.formatting import bytes_, counted
from engine.proof.finding import Finding
from engine.result import Measurement

ALLOCATED_SHARE = 0.9
"""A call that allocates less than this part of its result did not allocate the result, but something smaller beside it."""


def result_preallocated(measurement: Measurement) -> Finding:
    """One call allocates less than its result; judged at one workload."""
    allocated, faults = (measurement.facts.get(key) for key in ("allocated_bytes_per_call", "page_faults_per_call"))
    card = OPERATORS.get(measurement.workloads[0].operator or "")
    if allocated is None or card is None:
        return Finding(None, "this torch does not tell what a call allocates")
    result = card.array_bytes(measurement.workloads[0])
    seen = f"{bytes_(allocated)} allocated per call for a result of {bytes_(result)}"
    if faults is not None:
        seen += f", {counted(faults, 'page fault')}"
    return Finding(allocated < ALLOCATED_SHARE * result, seen)


def inputs_stay(measurement: Measurement) -> Finding:
    """Every request goes into the same input tensors."""
    return _is_seen(measurement, "inputs_stay", "the model found its inputs", "in the same memory at every call")


def outputs_stay(measurement: Measurement) -> Finding:
    """Every answer goes into the same tensors."""
    return _is_seen(measurement, "outputs_stay", "the answers were", "in the same memory at every call")


def requests_pinned(measurement: Measurement) -> Finding:
    """Requests wait in page-locked memory."""
    return _is_seen(measurement, "requests_pinned", "requests lay", "in page-locked memory")


def _is_seen(measurement: Measurement, fact: str, what: str, where: str) -> Finding:
    seen = measurement.facts.get(fact)
    if seen is None:
        return Finding(None, f"it was not looked up whether {what} {where}")
    return Finding(bool(seen), f"{what} {'' if seen else 'not '}{where}")


def allocator_caching(measurement: Measurement) -> Finding:
    """Served from the pool: in steady state the driver is never asked."""
    return _uses(measurement, "caching", asks_driver=False)


def allocator_expandable(measurement: Measurement) -> Finding:
    """The allocator's segments are expandable."""
    return _uses(measurement, "expandable segments", asks_driver=False)


def allocator_disabled(measurement: Measurement) -> Finding:
    """Every call asks the driver."""
    return _uses(measurement, "no caching", asks_driver=True)


def _uses(measurement: Measurement, wanted: str, *, asks_driver: bool) -> Finding:
    used, asked = measurement.facts.get("allocator"), measurement.facts.get("device_allocations_per_call")
    if used is None or asked is None:
        return Finding(None, "this torch does not tell what its allocator did")
    seen = f"allocator: {used}, {counted(asked, 'device allocation')} per call"
    return Finding(used == wanted and bool(asked) == asks_driver, seen)
