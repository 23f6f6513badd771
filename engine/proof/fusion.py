"""Were several steps really one?"""

from __future__ import annotations

from collections.abc import Callable

from engine.catalog.operators import OPERATORS
from engine.formatting import counted
from engine.proof.finding import Finding
from engine.result import Measurement


def fewer_kernels(measurement: Measurement) -> Finding:
    """One call starts less than the plain expression has steps, at one workload."""
    return _judged(measurement, lambda started, expressions, steps: started < steps)


def one_kernel(measurement: Measurement) -> Finding:
    """One call starts one kernel for each expression of its chain, at one workload."""
    return _judged(measurement, lambda started, expressions, steps: round(started) <= expressions)


def _judged(measurement: Measurement, is_fused: Callable[[float, int, int], bool]) -> Finding:
    """By kernels, without a GPU by PyTorch operators.

    Where the profiler sees no kernel of a GPU, operators tell nothing: compiled code is none, however many kernels it starts.
    """
    facts, workload = measurement.facts, measurement.workloads[0]
    card, kernels = OPERATORS.get(workload.operator or ""), facts.get("kernels_per_call")
    is_on_cuda = str(facts.get("device", "")).startswith("cuda")
    started = facts.get("operators_per_call") if kernels is None and not is_on_cuda else kernels
    if started is None or card is None:
        return Finding(None, "the profiler cannot be read here")
    expressions = workload.operations or 1
    steps = card.steps * expressions
    seen = counted(round(started), "operator" if kernels is None else "kernel")
    rest = ": all in generated code" if not started else ""
    return Finding(is_fused(started, expressions, steps), f"{seen} per call instead of {steps}{rest}")
