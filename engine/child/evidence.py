"""What the compiler did in this process: frames, graphs, breaks, recompiles, cache hits, and the reasons torch gives.

Raw observations under the keys of `engine.metrics.FACTS`; whether they prove anything is decided in `engine.proof`.
Usage: `begin()` before the technique is applied, `mark()` when warm-up is over, `facts()` at the end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from engine.child import cudagraph_evidence, torch_internals

RECOMPILE_LIMIT_WORDS = ("recompile limit", "recompile_limit", "cache_size_limit")
"""What `counters["unimplemented"]` says, across torch versions, once new shapes run eagerly."""
MAX_REASONS = 20
EXPLANATION = "Explanation: "


class Evidence:
    """Watches TorchDynamo and TorchInductor during the life of one measured child.

    An arm that does not compile (`compiles=False`) does not import the compiler either: its process stays as a user's
    would, and a compiler that was never loaded compiled nothing.
    """

    def __init__(self, device: str, compiles: bool) -> None:
        self.device = device
        self.compiles = compiles
        self._events: list[str] = []
        self._hears_events = False
        self._marked_events = 0
        self._marked_graphs: int | None = None
        self._cudagraphs = cudagraph_evidence.CudaGraphEvidence(device)

    def begin(self) -> None:
        """Forget what was compiled so far and start to listen."""
        if not (self.compiles or torch_internals.is_dynamo_loaded()):
            return
        torch_internals.reset_compiler()
        self._hears_events = torch_internals.on_compile_start(self._events.append)
        if self.compiles:
            self._cudagraphs.begin()

    def graphs(self) -> int | None:
        """How many different graphs exist so far; None where nothing compiles or torch does not tell."""
        return torch_internals.counter("stats", "unique_graphs") if self.compiles else None

    def compilations(self) -> int | None:
        """How often torch has compiled or recorded something so far; None where nothing compiles or torch does not tell."""
        if not self.compiles:
            return None
        return len(self._events) if self._hears_events else self.graphs()

    def mark(self) -> None:
        """Warm-up is over: whatever is compiled or recorded from here on spoils the times."""
        self._marked_events = len(self._events)
        if torch_internals.is_dynamo_loaded():
            self._marked_graphs = torch_internals.counter("stats", "unique_graphs")
        if self.compiles:  # counting nodes imports the compiler
            self._cudagraphs.mark()

    def compile_s(self) -> float | None:
        """Seconds torch spent compiling, by its own metrics; None where nothing was compiled."""
        return torch_internals.metrics_sum("entire_frame_compile_time_s") if self.compiles else None

    def autotune_s(self) -> float | None:
        """Seconds torch spent timing candidate kernels, at compile time and at run time; None where it tells neither."""
        if not self.compiles:
            return None
        parts = [
            torch_internals.metrics_sum("compile_time_autotune_time_us"),
            torch_internals.metrics_sum("runtime_triton_autotune_time_us"),
        ]
        known = [microseconds for microseconds in parts if microseconds is not None]
        return sum(known) / 1e6 if known else None

    def facts(self) -> dict[str, Any]:
        """Everything observed, under keys of `engine.metrics.FACTS`; a value torch does not tell is None."""
        facts: dict[str, Any] = {"device": self.device, **self._frames()}
        if self.compiles:
            facts |= self._graph_breaks() | self._recompiles() | _caches()
            facts["generated_kernels"] = torch_internals.generated_kernels()
            facts["inductor_settings"] = torch_internals.changed_inductor_settings()
            facts |= self._cudagraphs.facts()
        return facts

    def _frames(self) -> dict[str, int | None]:
        if not torch_internals.is_dynamo_loaded():
            return {"frames_compiled": 0, "frames_seen": 0, "graphs": 0}
        return {
            "frames_compiled": torch_internals.counter("frames", "ok"),
            "frames_seen": torch_internals.counter("frames", "total"),
            "graphs": torch_internals.counter("stats", "unique_graphs"),
        }

    def _graph_breaks(self) -> dict[str, Any]:
        breaks = torch_internals.counters("graph_break")
        return {
            "graph_breaks": None if breaks is None else sum(breaks.values()),
            "graph_break_reasons": None if breaks is None else _first_lines(breaks),
        }

    def _recompiles(self) -> dict[str, Any]:
        metrics = torch_internals.compilation_metrics()
        reasons = None if metrics is None else [getattr(metric, "recompile_reason", None) for metric in metrics]
        unimplemented = torch_internals.counters("unimplemented")
        events = Counter(self._events[self._marked_events :])
        return {
            "recompiles_while_timing": events["DYNAMO"] if self._hears_events else self._new_graphs(),
            "graphs_recorded_while_timing": events["CUDAGRAPH_RECORDING"] if self._hears_events else None,
            "recompile_reasons": None if reasons is None else _first_lines(filter(None, reasons)),
            "recompile_limit_hit": None if unimplemented is None else _names_the_limit(unimplemented),
        }

    def _new_graphs(self) -> int | None:
        graphs = torch_internals.counter("stats", "unique_graphs")
        return None if graphs is None or self._marked_graphs is None else graphs - self._marked_graphs


def _caches() -> dict[str, int | None]:
    return {
        "fxgraph_cache_hits": torch_internals.counter("inductor", "fxgraph_cache_hit"),
        "fxgraph_cache_misses": torch_internals.counter("inductor", "fxgraph_cache_miss"),
        "fxgraph_cache_bypasses": torch_internals.counter("inductor", "fxgraph_cache_bypass"),
        "autograd_cache_hits": torch_internals.counter("aot_autograd", "autograd_cache_hit"),
        "autograd_cache_misses": torch_internals.counter("aot_autograd", "autograd_cache_miss"),
    }


def _names_the_limit(unimplemented: dict[str, int]) -> bool:
    text = " ".join(unimplemented).lower()
    return any(words in text for words in RECOMPILE_LIMIT_WORDS)


def _first_lines(texts: Iterable[str]) -> list[str]:
    """The first line of each text, once each, with the explanation where a second line gives one; the rest is a screenful."""
    shortened = []
    for text in texts:
        first, *others = [line.strip() for line in text.strip().splitlines()] or [""]
        is_explained = bool(others) and others[0].startswith(EXPLANATION)
        shortened.append(f"{first}: {others[0].removeprefix(EXPLANATION)}" if is_explained else first)
    return list(dict.fromkeys(filter(None, shortened)))[:MAX_REASONS]
