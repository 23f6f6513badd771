"""Did the tuner really try candidates? Asked of all process sets together: later ones find the tuning cached."""

from __future__ import annotations

from collections.abc import Sequence

from engine.proof.finding import Finding
from engine.result import Measurement


def candidates_tuned(measurements: Sequence[Measurement]) -> Finding:
    """At least one process set timed candidates (METHOD 2.4)."""
    tried = [measurement.facts.get("candidates_tried") for measurement in measurements]
    known = [count for count in tried if count is not None]
    if not known:
        return Finding(None, "this torch does not tell what its tuner tried")
    if not max(known):
        return Finding(False, "0 candidates tuned on this device")
    return Finding(True, f"{max(known)} candidates tried")
