"""Did the tuner really try candidates? Asked of all process sets together: later ones find the tuning cached."""

from __future__ import annotations

from collections.abc import Sequence

from engine.formatting import counted
from engine.proof.finding import Finding
from engine.result import Measurement


def candidates_tuned(measurements: Sequence[Measurement]) -> Finding:
    """At least one process set timed candidates itself: a warm tuning cache repeats old times as if new (METHOD 2.4)."""
    told = [each.facts for each in measurements if each.facts.get("candidates_tried") is not None]
    if not told:
        return Finding(None, "this torch does not tell what its tuner tried")
    claimed = max(facts["candidates_tried"] for facts in told)
    tried = max((facts["candidates_tried"] for facts in told if facts.get("autotuned_operations") != 0), default=0)
    if not claimed:
        return Finding(False, "0 candidates tuned on this device")
    if not tried:
        return Finding(
            False, f"cached tuning: the times of {counted(claimed, 'candidate')} came from a cache, none was tried"
        )
    return Finding(True, f"{counted(tried, 'candidate')} tried")
