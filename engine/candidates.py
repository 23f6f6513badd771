"""What the tuner tried, operation by operation: candidates, times, who was fastest. Read from stored facts; no torch.

Identical operations (a model's layers) are counted, not repeated. On a CPU the fastest candidate is what runs. On a GPU it is
not known to be: fusion decides later, so there the kernels that really ran are read from the profiler (METHOD 2.4).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from engine import formatting
from engine.catalog.types import TWIN_SUFFIX
from engine.floors import facts_at
from engine.proof.tuning import too_small
from engine.result import Measurement, Run

TIE = 0.05
"""Tuning times repeat to about 5 % (minimum of a 25 ms window): closer candidates are a tie (METHOD 2.4)."""
GENERATED = ("cpp_", "triton_", "cutlass_", "ck_", "rocm_")
"""How names of generated candidates begin; every other name is a call into a library."""
GENERATED_MATRIX_KERNEL = "triton_tem_"
LIBRARY_MATRIX_KERNEL = re.compile(
    r"(?!.*(fmha|flash|attention|splitkreduce)).*(gemm|gemv|splitk|cutlass|cublas|nvjet)", re.IGNORECASE
)
"""No product of a linear layer: attention's fused kernels, built with CUTLASS too, and the sum after a product split over k."""
_NUMBER = re.compile(r"_\d+$")


@dataclass(frozen=True, slots=True)
class Candidate:
    """One kernel the tuner timed, in seconds."""

    name: str
    seconds: float

    @property
    def is_generated(self) -> bool:
        """Made from a template for this operation, not taken from a library."""
        return self.name.startswith(GENERATED)


@dataclass(frozen=True, slots=True, kw_only=True)
class TunedOperation:
    """One operation at one size, `count` times in the model; `candidates` from the fastest to the slowest."""

    operation: str
    sizes: str
    candidates: tuple[Candidate, ...]
    count: int = 1

    @property
    def label(self) -> str:
        """Operation, size, how often."""
        return f"{self.operation}, {self.sizes}" + (f", {self.count} times" if self.count > 1 else "")

    @property
    def fastest(self) -> Candidate:
        """The tuner's best."""
        return self.candidates[0]

    @property
    def tied(self) -> tuple[Candidate, ...]:
        """Those that cannot be told from the fastest."""
        return tuple(each for each in self.candidates[1:] if each.seconds <= self.fastest.seconds * (1 + TIE))

    @property
    def is_only_one(self) -> bool:
        """Nothing to race against."""
        return len(self.candidates) == 1


def tuned_operations(run: Run, variant: str) -> list[TunedOperation]:
    """Different operations in the order they were tuned, from the first process set that timed any; empty without."""
    tuned = next(
        (facts["autotune_operations"] for facts in _facts(run, variant) if facts.get("autotune_operations")), ()
    )
    found = [operation for each in tuned if (operation := _operation(each))]
    counts = Counter(map(_identity, found))
    first = {_identity(operation): operation for operation in reversed(found)}
    return [replace(first[key], count=counts[key]) for key in dict.fromkeys(map(_identity, found))]


def is_from_cache(run: Run, variant: str) -> bool:
    """Whether the times are repeated from an earlier tuning: torch hands them out again without timing anything."""
    tuned = next((facts for facts in _facts(run, variant) if facts.get("autotune_operations")), {})
    return tuned.get("autotuned_operations") == 0


def outcome(operations: Sequence[TunedOperation], is_cpu: bool) -> str:
    """Who won how many operations, in one sentence."""
    if not operations:
        return "Nothing was tuned."
    total = sum(each.count for each in operations)
    raced = [each for each in operations if not each.is_only_one]
    generated, library = (
        sum(each.count for each in raced if each.fastest.is_generated is made) for made in (True, False)
    )
    ties = sum(each.count for each in raced if each.tied)
    alone = total - generated - library
    won = "won" if is_cpu else "were fastest when timed alone in"
    parts = [
        f"{formatting.counted(len(operations), 'different operation')} tuned, {total} in all",
        f"generated kernels {won} {generated} of them, library calls {library}",
        f"{ties} by less than {TIE * 100:g} %, a tie" if ties else "",
        f"{alone} had only one candidate" if alone else "",
    ]
    return "; ".join(filter(None, parts)) + "."


def why_nothing(run: Run, variant: str) -> str:
    """Why a variant tuned nothing here, in words; empty where torch does not tell or something was tuned."""
    counts = [count for facts in _facts(run, variant) if (count := facts.get("candidates_tried")) is not None]
    if not counts or max(counts) or run.environment is None:
        return ""
    device = run.environment.device
    if device.backend == "cpu":
        return (
            "0 candidates tuned on this device: while weights are inputs, every operation has the library as its one "
            "candidate. Freezing makes them constants, and only then are templates offered."
        )
    if device.backend == "cuda" and (why := too_small(device.multiprocessors)):
        return f"0 candidates tuned: {why}."
    return "0 candidates tuned: every operation had only one candidate, or the tuning came from a cache."


def kernels_that_ran(run: Run, variant: str) -> str:
    """Which matrix kernels ran per call, by the profiler: the winners on a GPU; empty where no kernel names are known."""
    names = next((facts["kernel_names"] for facts in _facts(run, variant) if facts.get("kernel_names")), None)
    if not names:
        return ""
    generated = {name: count for name, count in names.items() if name.startswith(GENERATED_MATRIX_KERNEL)}
    library = {
        name: count for name, count in names.items() if name not in generated and LIBRARY_MATRIX_KERNEL.match(name)
    }
    return (
        f"What really ran, by the profiler: {_per_call(generated)} matrix products per call in kernels generated from "
        f"templates{_example(generated)}, {_per_call(library)} in library kernels{_example(library)}."
    )


def candidates_table(operations: Sequence[TunedOperation]) -> pd.DataFrame:
    """Every candidate of every operation as text."""
    rows = [
        {
            "operation": operation.operation,
            "sizes": operation.sizes,
            "times in the model": formatting.count(operation.count),
            "candidate": candidate.name,
            "made by": "generated" if candidate.is_generated else "library",
            "time": formatting.seconds(candidate.seconds),
            "result": standing(operation, candidate),
        }
        for operation in operations
        for candidate in operation.candidates
    ]
    return pd.DataFrame(rows)


def standing(operation: TunedOperation, candidate: Candidate) -> str:
    """How a candidate did, in a word or two."""
    if operation.is_only_one:
        return "only candidate"
    if candidate in (operation.fastest, *operation.tied):
        return "tie" if operation.tied else "fastest"
    return f"{candidate.seconds / operation.fastest.seconds:.2f}x the time"


def _facts(run: Run, variant: str) -> Iterator[Mapping[str, Any]]:
    """Facts of a variant's process sets at their first workload, the first set first: later ones find the tuning cached."""
    own = [
        each
        for each in run.outcomes
        if isinstance(each, Measurement) and each.variant == variant.removesuffix(TWIN_SUFFIX)
    ]
    yield from (facts_at(each, each.workloads[0]) for each in sorted(own, key=lambda each: each.process))


def _operation(stored: Mapping[str, Any]) -> TunedOperation | None:
    candidates = [Candidate(name, float(stored["candidates"][key])) for key, name in _names(stored["candidates"])]
    if not candidates:
        return None
    return TunedOperation(
        operation=str(stored["operation"]),
        sizes=_sizes(stored["operation"], stored["inputs"]),
        candidates=tuple(sorted(candidates, key=lambda each: each.seconds)),
    )


def _names(candidates: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Torch numbers candidates through the whole process; here they are numbered within their operation."""
    families = Counter(_NUMBER.sub("", key) for key in candidates)
    seen: Counter[str] = Counter()
    for key in candidates:
        family = _NUMBER.sub("", key)
        seen[family] += 1
        yield key, f"{family} {seen[family]}" if families[family] > 1 else family


def _sizes(operation: str, inputs: Sequence[Sequence[Any]]) -> str:
    # The second input of a packed linear layer is the weight's packed bytes, of no shape that says anything.
    shown = [size for place, size in enumerate(inputs) if not (operation.startswith("packed_") and place == 1)]
    return " and ".join(" x ".join(map(str, size)) for size in shown)


def _identity(operation: TunedOperation) -> tuple[str, str, frozenset[str]]:
    return operation.operation, operation.sizes, frozenset(each.name for each in operation.candidates)


def _per_call(kernels: Mapping[str, float]) -> str:
    return f"{sum(kernels.values()):g}"


def _example(kernels: Mapping[str, float]) -> str:
    return f" (most often {max(kernels, key=lambda name: kernels[name])})" if kernels else ""
