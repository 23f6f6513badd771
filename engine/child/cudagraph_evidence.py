"""Whether CUDA graphs were really recorded and replayed by torch.compile, and if not, what torch says about it.

A skip counter of 0 proves nothing on CUDA (METHOD 0.3): the partitioned path can return silently. The nodes of the graph
trees are the positive proof.
"""

from __future__ import annotations

import logging
from typing import Any

from engine.child import torch_internals

MANY_SIZES = "CUDAGraph supports dynamic shapes"
"""How torch's advice on many distinct sizes begins (`maybe_warning_due_to_dynamic_shape`): those graphs were recorded."""


class _Collector(logging.Handler):
    """Keeps the reasons to skip CUDA graphs that one logger is given: every warning there but the advice on many sizes."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage().strip()
        if not message.startswith(MANY_SIZES):
            self.messages.append(message)


class CudaGraphEvidence:
    """Listens to torch's reasons for skipping CUDA graphs and counts the nodes of its graph trees.

    Trees live in thread-local storage: use this in the thread that makes the calls.
    """

    def __init__(self, device: str) -> None:
        self.device = device
        self._log = _Collector()
        self._marked_nodes: int | None = None

    def begin(self) -> None:
        """Start to listen to torch's `cudagraphs` log."""
        logger = torch_internals.find("torch._inductor.cudagraph_utils:cudagraphs_log")
        if logger is not None:
            logger.addHandler(self._log)

    def mark(self) -> None:
        """Warm-up is over; graphs recorded later are counted apart."""
        self._marked_nodes = self.nodes()

    def nodes(self) -> int | None:
        """Recorded graphs in this thread's trees: 0 without any tree, None on a device without CUDA."""
        if not self.device.startswith("cuda"):
            return None
        manager = self._manager()
        return 0 if manager is None else sum(_count(node) for roots in manager.roots.values() for node in roots)

    def facts(self) -> dict[str, Any]:
        """Keys of `engine.metrics.FACTS` that begin with `cudagraph_`."""
        manager = self._manager() if self.device.startswith("cuda") else None
        return {
            "cudagraph_skips": torch_internals.counter("inductor", "cudagraph_skips"),
            "cudagraph_skip_reasons": self._reasons(),
            "cudagraph_partitions": torch_internals.counter("inductor", "cudagraph_partitions"),
            "cudagraph_copied_inputs": torch_internals.counter("inductor", "cudagraph_recorded_non_static_inputs"),
            "cudagraph_nodes": self.nodes(),
            "cudagraph_nodes_before_timing": self._marked_nodes,
            "cudagraph_rerecords": _rerecords(manager),
        }

    def _manager(self) -> Any | None:
        _, _, index = self.device.partition(":")
        return torch_internals.cudagraph_manager(int(index or 0))

    def _reasons(self) -> list[str]:
        """Torch's own words, once each: from its log, and from its metrics where a compilation carries one."""
        metrics = torch_internals.compilation_metrics() or ()
        told = (getattr(metric, "cudagraph_skip_reason", None) for metric in metrics)
        return list(dict.fromkeys([*self._log.messages, *filter(None, told)]))


def _count(node: Any) -> int:
    return 1 + sum(_count(child) for children in node.children.values() for child in children)


def _rerecords(manager: Any | None) -> int | None:
    counts = getattr(manager, "num_rerecord", None)
    return None if counts is None else sum(sum(per_function.values()) for per_function in counts.values())
