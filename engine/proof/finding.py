"""What a rule of evidence says: passed, failed, or unknown; and the sentence a reader sees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from engine.result import Measurement


@dataclass(frozen=True, slots=True)
class Finding:
    """`passed` is None when the evidence does not tell; unknown is never taken for passed."""

    passed: bool | None
    reason: str


Rule = Callable[[Sequence[Measurement]], Finding]
"""Judges all process sets of one variant together; `each` makes one of a rule for a single measurement."""


def each(judge: Callable[[Measurement], Finding]) -> Rule:
    """A rule that every process set must pass: the first failure speaks, then the first unknown."""

    def rule(measurements: Sequence[Measurement]) -> Finding:
        return combine([judge(measurement) for measurement in measurements])

    rule.__doc__ = judge.__doc__
    return rule


def combine(findings: Sequence[Finding]) -> Finding:
    """All must pass; the reasons of those that decided, once each, without a full stop: they become part of a sentence."""
    for decided in (False, None, True):
        reasons = [finding.reason.rstrip(". ") for finding in findings if finding.passed is decided]
        if reasons:
            return Finding(decided, "; ".join(dict.fromkeys(reasons)))
    return Finding(None, "nothing was measured")
