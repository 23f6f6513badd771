"""Which operator points an experiment has: a technique's own, or the same at other sizes, dtypes and chain lengths."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from engine.catalog import Technique, Variant
from engine.catalog.operators import HIDDEN_SIZE
from engine.spec import Workload

FULL_RANGES: dict[str, tuple[int, ...]] = {
    "relu": tuple(2**power for power in (10, 12, 14, 16, 18, 20, 22, 23, 24, 25, 26)),
    "numpy-relu": tuple(2**power for power in (10, 12, 14, 16, 18, 20, 22, 23, 24, 25, 26)),
    "addcmul": tuple(2**power for power in (10, 12, 14, 16, 18, 20, 22, 24, 26, 27)),
    "bias-gelu-norm": tuple(HIDDEN_SIZE * tokens for tokens in (11, 128, 1024, 8192, 65536)),
}
"""Operators whose size is swept, and the sizes of the full range: 4 KB to 256 MB, 2^10 to 2^27, 11 to 65,536 tokens."""
ROW_OPERATORS = ("bias-gelu-norm",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of a technique's page that can be measured by itself: some operators, or (none named) the model."""

    key: str
    label: str
    operators: tuple[str, ...] = ()


PARTS: dict[str, tuple[Part, ...]] = {
    "preallocation": (
        Part(key="example", label="The article's example", operators=("numpy-dot-as-written", "numpy-dot")),
        Part(key="sizes", label="Sizes", operators=("relu", "numpy-relu")),
        Part(key="model", label="The model"),
        Part(key="pooling", label="Pooling (CUDA)", operators=("request-stream",)),
    ),
    "kernel-fusion": (
        Part(key="expression", label="a + value * (b * c)", operators=("addcmul",)),
        Part(key="chain", label="bias + GELU + residual + LayerNorm", operators=("bias-gelu-norm",)),
    ),
}


def operator_workloads(
    technique: Technique, *, dtype: str = "float32", elements: Sequence[int] | None = None, operations: int | None = None,
    is_full: bool = False,
) -> list[Workload]:  # fmt: skip
    """The technique's operator points; swept operators take `dtype`, `operations` and other sizes, if given."""
    fields: Iterable[dict[str, Any]] = technique.default_workloads
    points = [Workload(**values) for values in fields]
    swept = dict.fromkeys(point.operator or "" for point in points if point.operator in FULL_RANGES)
    sizes = {operator: _sizes(operator, points, elements, is_full) for operator in swept}
    found: dict[Workload, None] = {}
    for point in points:
        if point.operator in sizes:
            shape = {"operator": point.operator, "dtype": dtype, "operations": operations if operations != 1 else None}
            found |= dict.fromkeys(Workload(elements=size, **shape) for size in sizes[point.operator])
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
    return sorted(elements)


def in_parts(technique: Technique, keys: Iterable[str], workloads: Iterable[Workload]) -> list[Workload]:
    """Those of `workloads` that belong to the named parts; a model's belong to the part that names no operator."""
    chosen = [part for part in PARTS[technique.key] if part.key in set(keys)]
    operators = {operator for part in chosen for operator in part.operators}
    has_model = any(not part.operators for part in chosen)
    return [point for point in workloads if (point.operator in operators if point.operator else has_model)]


def needed(variants: Iterable[Variant], workloads: Sequence[Workload]) -> list[Variant]:
    """The variants that measure at least one of the points."""
    operators = {point.operator for point in workloads if point.operator}
    has_model = any(point.model for point in workloads)
    return [variant for variant in variants if (operators & set(variant.subjects) if variant.subjects else has_model)]
