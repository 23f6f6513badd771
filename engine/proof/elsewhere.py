"""Did another runtime really answer, and on the device it should?"""

from __future__ import annotations

from engine.proof.finding import Finding
from engine.result import Measurement


def other_runtime(measurement: Measurement) -> Finding:
    """The runtime names itself; on CUDA it must name CUDA too, because it falls back to the CPU without an error."""
    facts = measurement.facts
    runtime, where = facts.get("runtime"), [str(place) for place in facts.get("runtime_devices") or ()]
    if not runtime:
        return Finding(False, "no other runtime answered")
    if str(facts.get("device", "")).startswith("cuda") and not any("CUDA" in place for place in where):
        return Finding(False, f"{runtime} fell back to {', '.join(where) or 'another device'}")
    return Finding(True, f"answered by {runtime}")
