"""What the tuner tried: candidates, their times, and the one it took, read through inductor's own feedback hook.

The hook is not called when a graph comes from the cache or when there is one choice; with a warm tuning cache it repeats old
times. So candidates are taken from the first process set, and later sets say "cached tuning" (METHOD 1.7, 2.4).
"""

from __future__ import annotations

from typing import Any

from engine.child import torch_internals

COUNTERS = {
    "autotuned_operations": "select_algorithm_autotune",
    "precompiled_candidates": "select_algorithm_num_precompiles",
    "generated_gemms": "cpp_templated_kernel_counter",
    "fused_epilogues": "cpp_epilogue_fusion_counter",
}


class AutotuneLog:
    """Listens from its making on. Times come in milliseconds from torch and are kept in seconds."""

    def __init__(self) -> None:
        self.operations: list[dict[str, Any]] = []
        add = torch_internals.find("torch._inductor.select_algorithm:add_feedback_saver")
        self.can_listen = add is not None
        if add is not None:
            add(self._save)

    def _save(self, timings: Any, name: str, input_nodes: Any, choices: Any, *others: Any) -> None:
        times = {str(choice.name): float(milliseconds) / 1e3 for choice, milliseconds in timings.items()}
        finite = {choice: seconds for choice, seconds in times.items() if seconds < float("inf")}
        sizes = [[str(size) for size in node.get_size()] for node in input_nodes]
        self.operations.append({"operation": name, "inputs": sizes, "candidates": finite})

    def facts(self) -> dict[str, Any]:
        """Keys of `engine.metrics.FACTS`; the counters tell of cached tuning as well, the list does not."""
        tried = [operation["candidates"] for operation in self.operations]
        return {
            "autotune_operations": self.operations if self.can_listen else None,
            "multiprocessors": torch_internals.multiprocessors(),
            "candidates_tried": sum(map(len, tried)) if self.can_listen else None,
            **{fact: torch_internals.counter("inductor", name) for fact, name in COUNTERS.items()},
        }
