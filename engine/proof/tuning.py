"""Did the tuner really try candidates? Asked of all process sets together: later ones find the tuning cached."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from engine.formatting import counted
from engine.proof.finding import Finding
from engine.result import Measurement

FEWEST_MULTIPROCESSORS = 68
"""Below this torch does not consider its Triton matrix templates (`torch._inductor.utils.is_big_gpu`)."""
MAY_TUNE_NOTHING = "may_tune_nothing"
"""In `Variant.proofs`: tuning is one part of several, and where nothing is offered a badge says so."""

TUNING = frozenset({"candidates_tuned", "candidates_tuned_on_cuda", MAY_TUNE_NOTHING})
"""Names in `Variant.proofs` of variants that are there to tune, and of those among them that stand without."""
STANDS_UNTUNED = TUNING - {"candidates_tuned"}


def too_small(multiprocessors: int | None) -> str:
    """Why torch offers a GPU of this size no templates; empty where it does, or the size is unknown."""
    if not multiprocessors or multiprocessors >= FEWEST_MULTIPROCESSORS:
        return ""
    return (
        f"not enough SMs. This GPU has {multiprocessors} multiprocessors, and torch considers its matrix templates from "
        f"{FEWEST_MULTIPROCESSORS} on"
    )


def candidates_tuned(measurements: Sequence[Measurement]) -> Finding:
    """At least one process set timed candidates itself: a warm tuning cache repeats old times as if new (METHOD 2.4)."""
    told = [each.facts for each in measurements if each.facts.get("candidates_tried") is not None]
    if not told:
        return Finding(None, "what the tuner tried was not recorded")
    claimed = max(facts["candidates_tried"] for facts in told)
    tried = max((facts["candidates_tried"] for facts in told if facts.get("autotuned_operations") != 0), default=0)
    if not claimed:
        why = next(filter(None, (too_small(_multiprocessors(facts)) for facts in told)), "")
        return Finding(False, "0 candidates tuned on this device" + (f": {why}" if why else ""))
    if not tried:
        return Finding(
            False, f"cached tuning: the times of {counted(claimed, 'candidate')} came from a cache, none was tried"
        )
    return Finding(True, f"{counted(tried, 'candidate')} tried")


def candidates_tuned_on_cuda(measurements: Sequence[Measurement]) -> Finding:
    """The same of a mode that runs on a CPU too, where it tunes nothing, and a badge says so."""
    if all(not str(each.facts.get("device", "cuda")).startswith("cuda") for each in measurements):
        return Finding(True, "there is nothing to tune on this device")
    return candidates_tuned(measurements)


def _multiprocessors(facts: Mapping[str, Any]) -> int | None:
    is_on_cuda = str(facts.get("device", "")).startswith("cuda")
    return facts.get("multiprocessors") if is_on_cuda else None
