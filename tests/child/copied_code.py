"""Runs copied code and tells what it did: read from stdin as JSON, one line of evidence per snippet to stdout.

A child of the test beside it, as a user's process would be: nothing of the product runs the code, it only watches.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

LOOPS = ("\nwith torch.inference_mode():", "\nfor _ in range")
"""Where the part of an operator's snippet begins that a timed call would repeat."""


def evidence_of(source: str, compiles: bool, is_operator: bool) -> dict[str, Any]:
    """Run a snippet, then its steady part again; answer with facts as a measured child has them."""
    import torch._inductor.config

    from engine.child.autotune_log import AutotuneLog
    from engine.child.evidence import Evidence
    from engine.child.techniques.places import places

    namespace: dict[str, Any] = {"__name__": "snippet"}
    with torch._inductor.config.patch(freezing=False, force_disable_caches=True):
        evidence = Evidence("cpu", compiles)
        evidence.begin()
        log = AutotuneLog()
        exec(compile(source, "snippet", "exec"), namespace)
        evidence.mark()
        again = _steady(source, namespace, is_operator)
        with torch.inference_mode():
            again()
        facts = log.facts() | evidence.facts() | _runtime(namespace)
        if "serve" in namespace:
            facts |= places(namespace["model"], namespace["serve"], namespace["request"])
        return facts | (_profile(again) if is_operator else {})


def _steady(source: str, namespace: dict[str, Any], is_operator: bool) -> Callable[[], Any]:
    """What a server would go on doing: the operator's loop, or the model's last request."""
    if is_operator:
        start = max(source.rfind(loop) for loop in LOOPS[:1]) if LOOPS[0] in source else source.rfind(LOOPS[1])
        loop = compile(source[start:], "loop", "exec")
        return lambda: _repeat(loop, namespace)
    call = namespace.get("compiled", namespace.get("model"))
    if "serve" in namespace:
        return lambda: namespace["serve"](namespace["request"])
    if "request" in namespace and callable(namespace["request"]):
        make = namespace.get("padded_request", namespace["request"])
        return lambda: call(**make(60))
    if "session" in namespace or not hasattr(call, "parameters"):
        return lambda: namespace["outputs"]
    return lambda: call(**namespace["inputs"])


def _repeat(loop: CodeType, namespace: dict[str, Any]) -> Any:
    exec(loop, namespace)
    return namespace.get("result", namespace.get("a"))


def _runtime(namespace: dict[str, Any]) -> dict[str, Any]:
    """Whether another runtime's session answered, by the modules of what the snippet made."""
    made = {type(value).__module__.partition(".")[0] for value in namespace.values()}
    found = sorted(made & {"onnxruntime", "openvino"})
    return {"runtime": found[0]} if found else {}


def _profile(again: Callable[[], Any]) -> dict[str, Any]:
    from engine.child.allocations import count_allocations
    from engine.child.profiling import profile_calls

    return profile_calls(again, "cpu") | count_allocations(again, "cpu")


if __name__ == "__main__":
    for key, request in json.load(sys.stdin).items():
        facts = evidence_of(request["source"], request["compiles"], request["is_operator"])
        print("EVIDENCE", json.dumps({"key": key, "facts": facts}, default=str), flush=True)
