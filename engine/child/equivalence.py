"""Does the measured callable still give the right answers? METHOD 4, A1-A5, on the very callable that is timed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from math import isnan
from typing import Any, Literal

import torch

from engine.child.output_errors import Errors, errors_of, real_positions
from engine.child.references import Case, cases_of, flatten, make_references
from engine.child.subject import Inputs
from engine.result import OutputCheck
from engine.tolerances import allowed_rmse

__all__ = ["Case", "cases_of", "check", "make_references"]

OVERWRITTEN_WORDS = "has been overwritten by a subsequent run"
"""What CUDA graph trees say when an output of an earlier replay is read."""
STALE_FRACTION = 0.01
"""An output that moved less than this part of what the reference moved between two inputs did not see the second."""


@dataclass(slots=True)
class _Findings:
    """What has been seen so far, over all cases."""

    dtype: str
    inputs: int = 0
    errors: list[tuple[Errors, Errors]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    is_stale: bool | None = None
    is_overwritten: bool | None = None
    is_deterministic: bool | None = None

    def add_case(self, outputs: list[torch.Tensor], case: Case) -> None:
        if len(outputs) != len(case.exact):
            self.notes.append(f"{case.name}: {len(outputs)} output tensors, expected {len(case.exact)}")
            return
        real = real_positions(case.inputs)
        for output, exact, eager in zip(outputs, case.exact, case.eager, strict=True):
            try:
                self.errors.append((errors_of(output, exact, real), eager))
            except ValueError as error:
                self.notes.append(f"{case.name}: {error}")

    def worst(self) -> tuple[Errors, Errors] | tuple[None, None]:
        """The tensor with the largest error in terms of what is allowed for it, and eager's errors there."""
        known = [pair for pair in self.errors if pair[0].rmse is not None]
        return max(known, key=self._excess, default=(None, None))

    def _excess(self, pair: tuple[Errors, Errors]) -> float:
        found, eager = pair
        return (found.rmse or 0.0) / (allowed_rmse(eager.rmse or 0.0, found.reference_rms, self.dtype) or 1.0)


def check(
    call: Callable[[Inputs], Any],
    cases: Iterable[Case],
    *,
    stage: Literal["before", "after"],
    workload: int,
    dtype: str,
) -> OutputCheck:
    """Call it on every case and compare; then ask for staleness, overwriting and determinism. Changes no input.

    `cases` come from `cases_of(subject, references)`. `workload` is the measurement's index, `dtype` its dtype.
    """
    findings = _Findings(dtype)
    with torch.inference_mode():
        ends = _compare_all(call, cases, findings)
        if ends is not None:
            first, last = ends
            findings.is_stale = bool(findings.is_stale) or _ignores_new_contents(call, first, last)
            findings.is_overwritten = _is_overwritten(call, first, last)
            findings.is_deterministic = _is_deterministic(call, first)
    return _report(findings, stage, workload)


def _compare_all(call: Callable[[Inputs], Any], cases: Iterable[Case], findings: _Findings) -> tuple[Case, Case] | None:
    """Compare case by case, holding two at a time; returns the first and the last one."""
    first: Case | None = None
    previous: tuple[list[torch.Tensor], Case] | None = None
    for case in cases:
        outputs = _call(call, case, case.inputs)
        findings.add_case(outputs, case)
        findings.inputs += 1
        if previous is not None:
            findings.is_stale = bool(findings.is_stale) or _is_stale(outputs, case, *previous)
        first, previous = first or case, (outputs, case)
    return None if first is None or previous is None else (first, previous[1])


def _call(call: Callable[[Inputs], Any], case: Case, inputs: Inputs) -> list[torch.Tensor]:
    """Copies of all output tensors, of a large case those rows that are compared."""
    return case.kept(flatten(call(inputs)))


def _report(findings: _Findings, stage: Literal["before", "after"], workload: int) -> OutputCheck:
    worst, eager = findings.worst()
    found = [pair[0] for pair in findings.errors]
    reference = [pair[1] for pair in findings.errors]
    return OutputCheck(
        stage=stage,
        workload=workload,
        inputs=findings.inputs,
        rmse=worst.rmse if worst else None,
        rmse_eager=eager.rmse if eager else None,
        reference_rms=worst.reference_rms if worst else None,
        max_abs_error=_largest(errors.max_abs for errors in found),
        max_abs_error_eager=_largest(errors.max_abs for errors in reference),
        cosine=_smallest(errors.cosine for errors in found),
        argmax_agreement=_smallest(errors.argmax_agreement for errors in found),
        non_finite=sum(errors.non_finite for errors in found),
        non_finite_eager=sum(errors.non_finite for errors in reference),
        is_stale=findings.is_stale,
        is_overwritten=findings.is_overwritten,
        is_deterministic=findings.is_deterministic,
        note="; ".join(findings.notes) or None,
    )


def _is_stale(outputs: list[torch.Tensor], case: Case, before: list[torch.Tensor], case_before: Case) -> bool:
    """Whether the outputs stood still, or are the previous input's answer, although the input changed."""
    moved = _distance(case.exact, case_before.exact)
    if not moved:
        return False
    return (
        _distance(outputs, before) < STALE_FRACTION * moved
        or _distance(outputs, case_before.exact) < STALE_FRACTION * moved
    )


def _distance(some: Iterable[torch.Tensor], others: Iterable[torch.Tensor]) -> float:
    """Largest absolute difference over tensors of the same shape; infinite when one is not finite."""
    largest = 0.0
    for one, other in zip(some, others, strict=False):
        if one.shape == other.shape and one.numel():
            difference = (one.to("cpu", torch.float64) - other.to("cpu", torch.float64)).abs().max().item()
            largest = max(largest, float("inf") if isnan(difference) else difference)
    return largest


def _ignores_new_contents(call: Callable[[Inputs], Any], first: Case, last: Case) -> bool:
    """Fill the same tensors with other values: a cache keyed by the tensors answers with the old outputs."""
    buffers = {
        name: value.clone() if isinstance(value, torch.Tensor) else value for name, value in first.inputs.items()
    }
    before = _call(call, first, buffers)
    for name, value in last.inputs.items():
        if isinstance(value, torch.Tensor):
            buffers[name].copy_(value)
    return _is_stale(_call(call, last, buffers), last, before, first)


def _is_overwritten(call: Callable[[Inputs], Any], first: Case, last: Case) -> bool:
    """Keep an output, call again with another input, and see whether the kept one changed or can no longer be read."""
    held = flatten(call(first.inputs))
    copies = first.kept(held)
    call(last.inputs)
    try:
        return not _are_identical(first.kept(held), copies)
    except RuntimeError as error:
        if OVERWRITTEN_WORDS in str(error):
            return True
        raise


def _is_deterministic(call: Callable[[Inputs], Any], case: Case) -> bool:
    return _are_identical(_call(call, case, case.inputs), _call(call, case, case.inputs))


def _are_identical(some: list[torch.Tensor], others: list[torch.Tensor]) -> bool:
    """Bit for bit, except that every NaN equals every other."""
    return all(torch.equal(a.nan_to_num(), b.nan_to_num()) for a, b in zip(some, others, strict=True))


def _largest(values: Iterable[float | None]) -> float | None:
    return max((value for value in values if value is not None), default=None)


def _smallest(values: Iterable[float | None]) -> float | None:
    return min((value for value in values if value is not None), default=None)
