"""Were several steps really one?"""

from __future__ import annotations

from engine.catalog.operators import OPERATORS
from engine.formatting import count
from engine.proof.finding import Finding
from engine.result import Measurement


def fewer_kernels(measurement: Measurement) -> Finding:
    """One call starts fewer kernels (on a CPU: PyTorch operators) than the plain expression has steps; judged at one workload."""
    facts, workload = measurement.facts, measurement.workloads[0]
    card, kernels = OPERATORS.get(workload.operator or ""), facts.get("kernels_per_call")
    started = facts.get("operators_per_call") if kernels is None else kernels
    if started is None or card is None:
        return Finding(None, "the profiler cannot be read here")
    steps = card.steps * (workload.operations or 1)
    what = ("operator" if kernels is None else "kernel") + ("" if started == 1 else "s")
    rest = ": all in generated code" if not started else ""
    return Finding(started < steps, f"{count(started)} {what} per call instead of {steps}{rest}")
