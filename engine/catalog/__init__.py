"""Techniques in the order of the journey, their variants, the models on offer and the article's claims."""

from __future__ import annotations

from engine.catalog import (
    baseline,
    cuda_graphs,
    dynamic_shapes,
    kernel_fusion,
    max_autotune,
    pitfalls,
    preallocation,
    precision,
    runtimes,
    torch_compile,
)
from engine.catalog.availability import REQUIREMENTS, why_unavailable
from engine.catalog.claims import CLAIMS
from engine.catalog.models import MODELS
from engine.catalog.pitfalls import PITFALLS
from engine.catalog.types import TWIN_SUFFIX, Claim, ModelCard, Pitfall, Technique, Variant
from engine.errors import UnknownKey
from engine.spec import Workload

TECHNIQUES: tuple[Technique, ...] = (
    baseline.TECHNIQUE,
    torch_compile.TECHNIQUE,
    cuda_graphs.TECHNIQUE,
    max_autotune.TECHNIQUE,
    dynamic_shapes.TECHNIQUE,
    preallocation.TECHNIQUE,
    kernel_fusion.TECHNIQUE,
    precision.TECHNIQUE,
    runtimes.TECHNIQUE,
)
MEASURED: tuple[Technique, ...] = (*TECHNIQUES, pitfalls.TECHNIQUE)
"""Everything that has variants: the steps, and the pitfalls, which are no step of the journey."""
VARIANTS: dict[str, Variant] = {variant.key: variant for technique in MEASURED for variant in technique.variants}


def find_technique(key: str) -> Technique:
    """The technique called `key`, or `UnknownKey` that lists the others."""
    for technique in MEASURED:
        if technique.key == key:
            return technique
    known = ", ".join(technique.key for technique in MEASURED)
    raise UnknownKey(f"Technique {key!r} does not exist; choose one of {known}.")


def find_variant(key: str) -> Variant:
    """The variant called `key` (an A/A twin's key finds the variant it doubles), or `UnknownKey`."""
    variant = VARIANTS.get(key.removesuffix(TWIN_SUFFIX))
    if variant is None:
        raise UnknownKey(f"Variant {key!r} does not exist; choose one of {', '.join(VARIANTS)}.")
    return variant


def twin_of(key: str) -> str:
    """Key under which the A/A twin of a baseline is measured."""
    return key + TWIN_SUFFIX


def is_twin(key: str) -> bool:
    """Whether `key` names an A/A twin."""
    return key.endswith(TWIN_SUFFIX)


def label_of(key: str) -> str:
    """What users read for a variant key; an unknown key (from an uploaded file) is its own label."""
    variant = VARIANTS.get(key.removesuffix(TWIN_SUFFIX))
    if variant is None:
        return key
    return f"{variant.label}, again (A/A)" if is_twin(key) else variant.label


def fits(variant: Variant, workload: Workload) -> bool:
    """Whether `variant` measures this kind of workload: model variants any model, operator variants their operators."""
    return workload.operator in variant.subjects if workload.operator else not variant.subjects


__all__ = [
    "CLAIMS",
    "MEASURED",
    "MODELS",
    "PITFALLS",
    "REQUIREMENTS",
    "TECHNIQUES",
    "VARIANTS",
    "Claim",
    "ModelCard",
    "Pitfall",
    "Technique",
    "Variant",
    "find_technique",
    "find_variant",
    "fits",
    "is_twin",
    "label_of",
    "twin_of",
    "why_unavailable",
]
