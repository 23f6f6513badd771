"""Experiments on operators: a technique's own points, or the same at other sizes, dtypes and chain lengths."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from engine.catalog import Technique, Variant
from engine.catalog.operators import HIDDEN_SIZE, ITEM_BYTES
from engine.errors import InvalidSpec, UnknownKey
from engine.floors import CACHE_MULTIPLE
from engine.result import Machine
from engine.spec import CacheMode, Experiment, Protocol, Workload

FULL_RANGES: dict[str, tuple[int, ...]] = {
    "relu": tuple(2**power for power in (10, 12, 14, 16, 18, 20, 22, 23, 24, 25, 26)),
    "numpy-relu": tuple(2**power for power in (10, 12, 14, 16, 18, 20, 22, 23, 24, 25, 26)),
    "addcmul": tuple(2**power for power in (10, 12, 14, 16, 18, 20, 22, 24, 26, 27)),
    "bias-gelu-norm": tuple(HIDDEN_SIZE * tokens for tokens in (11, 128, 1024, 8192, 65536)),
}
"""Operators whose size is swept, and the sizes of the full range: 4 KB to 256 MB, 2^10 to 2^27, 11 to 65,536 tokens."""
USUAL_LARGEST = 2**24
"""Elements of fusion's largest usual size: 64 MB in each array; the next one takes minutes more at the standard protocol."""
ROW_OPERATORS = ("bias-gelu-norm",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of a technique's page that can be measured by itself: some operators, or (none named) the model.

    Usual parts are measured unless the reader chooses others: together they take about five minutes.
    """

    key: str
    label: str
    operators: tuple[str, ...] = ()
    is_usual: bool = True


PARTS: dict[str, tuple[Part, ...]] = {
    "preallocation": (
        Part(key="example", label="The article's example", operators=("numpy-dot-as-written", "numpy-dot")),
        Part(key="sizes", label="Sizes", operators=("relu",)),
        Part(key="numpy-sizes", label="Sizes in numpy", operators=("numpy-relu",), is_usual=False),
        Part(key="model", label="The model", is_usual=False),
        Part(key="pooling", label="Pooling (CUDA)", operators=("request-stream",)),
    ),
    "kernel-fusion": (
        Part(key="expression", label="a + value * (b * c)", operators=("addcmul",)),
        Part(key="chain", label="bias + GELU + residual + LayerNorm", operators=("bias-gelu-norm",), is_usual=False),
    ),
}


Sizes = Literal["default", "full", "own"]
POWERS = tuple(range(10, 28))
USUAL_POWERS = (10, 16, 20, 24)
"""Sizes to choose from are powers of two, from 2^10 to 2^27 elements."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What a reader may change about a technique's operator points; `powers` count where `sizes` is `own`."""

    parts: tuple[str, ...]
    sizes: Sizes = "default"
    powers: tuple[int, ...] = USUAL_POWERS
    dtype: str = "float32"
    operations: int = 1
    cache_mode: CacheMode = "hot"


def choose(
    technique: Technique,
    choice: Choice,
    *,
    model: Workload,
    device: str,
    protocol: Protocol,
    machine: Machine | None = None,
) -> Experiment:
    """The experiment a choice describes; `model` is the point of the part that measures one. Raises `InvalidSpec`."""
    points = operator_workloads(
        technique,
        dtype=choice.dtype,
        elements=[2**power for power in choice.powers] if choice.sizes == "own" else None,
        operations=choice.operations,
        is_full=choice.sizes == "full",
        last_cache_bytes=last_cache_of(machine, device),
    )
    workloads = in_parts(technique, choice.parts, [*points, model])
    if not workloads:
        raise InvalidSpec("Nothing is chosen to be measured. Choose at least one part, and at least one size.")
    return Experiment(
        workloads=tuple(workloads),
        variants=tuple(variant.key for variant in needed(technique.variants, workloads)),
        device=device,
        protocol=protocol,
        cache_mode=choice.cache_mode,
    )


def last_cache_of(machine: Machine | None, device: str) -> int | None:
    """Size of the last cache in front of the memory of `device`; None where nothing tells."""
    found = machine.device(device) if machine else None
    return found.last_level_cache_bytes if found else None


def choice_of(technique: Technique, experiment: Experiment, machine: Machine | None = None) -> Choice:
    """The choice that describes an experiment's operator points, had it been made on `machine`."""
    points = [point for point in experiment.workloads if point.operator]
    swept = [point for point in points if point.operator in FULL_RANGES]
    parts = PARTS[technique.key]
    sizes, powers = _sizes_of(technique, swept, last_cache_of(machine, experiment.device))
    return Choice(
        parts=tuple(part.key for part in parts if in_parts(technique, [part.key], experiment.workloads)),
        sizes=sizes,
        powers=powers or USUAL_POWERS,
        dtype=swept[0].dtype if swept else "float32",
        operations=(swept[0].operations or 1) if swept else 1,
        cache_mode=experiment.cache_mode,
    )


def _sizes_of(
    technique: Technique, swept: Sequence[Workload], last_cache_bytes: int | None
) -> tuple[Sizes, tuple[int, ...]]:
    """Which sizes were chosen, and as powers of two."""
    dtype = swept[0].dtype if swept else "float32"
    usual = operator_workloads(technique, dtype=dtype, last_cache_bytes=last_cache_bytes)
    measured = _sizes_by_operator(swept)
    powers = tuple(sorted({(point.elements or 1).bit_length() - 1 for point in swept} & set(POWERS)))
    if measured.items() <= _sizes_by_operator(usual).items():
        return "default", powers
    is_full = all(sizes == set(FULL_RANGES[operator]) for operator, sizes in measured.items())
    return ("full" if is_full else "own"), powers


def _sizes_by_operator(points: Iterable[Workload]) -> dict[str, set[int]]:
    sizes: dict[str, set[int]] = {}
    for point in points:
        sizes.setdefault(point.operator or "", set()).add(point.elements or 1)
    return sizes


def operator_workloads(
    technique: Technique,
    *,
    dtype: str = "float32",
    elements: Sequence[int] | None = None,
    operations: int | None = None,
    is_full: bool = False,
    last_cache_bytes: int | None = None,
) -> list[Workload]:
    """The technique's operator points; swept operators take `dtype`, `operations` and other sizes, if given.

    The usual sizes of fusion end beyond four last-level caches, where memory is the limit, if the cache's size is told and a
    sweep can afford it.
    """
    fields: Iterable[dict[str, Any]] = technique.default_workloads
    points = [Workload(**values) for values in fields]
    swept = dict.fromkeys(point.operator or "" for point in points if point.operator in FULL_RANGES)
    sizes = {operator: _sizes(operator, points, elements, is_full) for operator in swept}
    if "addcmul" in sizes and elements is None and not is_full:
        sizes["addcmul"][-1] = max(sizes["addcmul"][-1], _beyond_caches(dtype, last_cache_bytes or 0))
    found: dict[Workload, None] = {}
    for point in points:
        if point.operator in sizes:
            like = replace(point, dtype=dtype, operations=operations if operations != 1 else None)
            found |= dict.fromkeys(replace(like, elements=size) for size in sizes[point.operator])
        else:
            found[point] = None
    return list(found)


def _sizes(operator: str, points: Iterable[Workload], elements: Sequence[int] | None, is_full: bool) -> list[int]:
    if is_full:
        return list(FULL_RANGES[operator])
    if elements is None:
        return [point.elements or 1 for point in points if point.operator == operator]
    if operator in ROW_OPERATORS:
        return list(dict.fromkeys(max(1, size // HIDDEN_SIZE) * HIDDEN_SIZE for size in sorted(elements)))
    return sorted(set(elements))


def _beyond_caches(dtype: str, cache_bytes: int) -> int:
    """The smallest power of two at which the least traffic, three arrays read and one written, exceeds four caches.

    0 where that takes more than a usual sweep has time for: a size that costs minutes and proves nothing.
    """
    least = CACHE_MULTIPLE * cache_bytes / (4 * ITEM_BYTES[dtype])
    elements = int(2 ** math.ceil(math.log2(max(least, 1))))
    return elements if elements <= USUAL_LARGEST else 0


def part_keys(technique: Technique, named: Sequence[str] = ()) -> tuple[str, ...]:
    """The parts of a technique among the named ones, else its usual ones; none for a technique without parts.

    Raises `UnknownKey` for a name that no technique's part has.
    """
    known = dict.fromkeys(part.key for parts in PARTS.values() for part in parts)
    if unknown := [name for name in named if name not in known]:
        raise UnknownKey(f"Part {unknown[0]!r} does not exist; choose from {', '.join(known)}.")
    own = PARTS.get(technique.key, ())
    return tuple(part.key for part in own if part.key in named) or tuple(part.key for part in own if part.is_usual)


def variants_of(technique: Technique, named: Sequence[str] = ()) -> list[Variant]:
    """All variants of a technique; of one that has parts those that its named (else its usual) parts need."""
    keys = part_keys(technique, named)
    chosen = [part for part in PARTS.get(technique.key, ()) if part.key in keys]
    operators = {operator for part in chosen for operator in part.operators}
    has_model = not chosen or any(not part.operators for part in chosen)
    return [v for v in technique.variants if (not chosen or operators & set(v.subjects) if v.subjects else has_model)]


def in_parts(technique: Technique, keys: Iterable[str], workloads: Iterable[Workload]) -> list[Workload]:
    """Those of `workloads` that belong to the named parts; a model's belong to the part that names no operator.

    All of them for a technique without parts.
    """
    if technique.key not in PARTS:
        return list(workloads)
    chosen = [part for part in PARTS[technique.key] if part.key in set(keys)]
    operators = {operator for part in chosen for operator in part.operators}
    has_model = any(not part.operators for part in chosen)
    return [point for point in workloads if (point.operator in operators if point.operator else has_model)]


def needed(variants: Iterable[Variant], workloads: Sequence[Workload]) -> list[Variant]:
    """The variants that measure at least one of the points."""
    operators = {point.operator for point in workloads if point.operator}
    has_model = any(point.model for point in workloads)
    return [variant for variant in variants if (operators & set(variant.subjects) if variant.subjects else has_model)]
