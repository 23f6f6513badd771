"""About what a variant takes on a 2-core CPU, before anything is known about this one: for estimates alone, never a result.

DistilBERT at batch 1 and 11 tokens, torch 2.13, on two cores of a Xeon with AVX512 and AMX; a run replaces each by what it sees.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.catalog.types import Variant


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """`cold_s` and `warm_s`: getting one graph ready (compiling, tuning, exporting) with an empty and with a warm compile cache.

    `graphs` is how many different shapes make at most, where the variant does not compile anew for each. `pace` is the time
    of a call as a share of eager's. `is_padded`: shapes are padded to buckets first.
    """

    cold_s: float = 0.0
    warm_s: float = 0.0
    graphs: int = 1
    pace: float = 1.0
    is_padded: bool = False


COMPILED = Expected(cold_s=17.5, warm_s=3.4, pace=0.85)
LEARNING = Expected(cold_s=17.5, warm_s=3.4, pace=0.85, graphs=2)
"""The second shape makes it a symbol, in a second graph."""
PLAIN = Expected()

EXPECTED: dict[str, Expected] = {
    "max-autotune/freezing-only": Expected(cold_s=17.5, warm_s=9.0, pace=0.6),
    "max-autotune/freezing": Expected(cold_s=31.0, warm_s=10.2, pace=0.6),
    "precision/bfloat16-best-cpu": Expected(cold_s=36.0, warm_s=15.5, pace=0.2),
    "runtimes/onnxruntime": Expected(cold_s=4.9, warm_s=4.9, pace=0.48),
    "runtimes/openvino": Expected(cold_s=1.5, warm_s=1.5, pace=0.48),
    "dynamic-shapes/default": LEARNING,
    "dynamic-shapes/no-cudagraphs": LEARNING,
    "dynamic-shapes/buckets": Expected(cold_s=17.5, warm_s=3.4, pace=0.85, is_padded=True),
    "preallocation/out": Expected(pace=0.35),
    "preallocation/in-place": Expected(pace=0.35),
    "kernel-fusion/addcmul": Expected(pace=0.36),
    "kernel-fusion/addcmul-out": Expected(pace=0.25),
    "kernel-fusion/separate-out": Expected(pace=0.5),
    "kernel-fusion/two-kernels": Expected(pace=0.7),
    "kernel-fusion/compiled": Expected(pace=0.36),
}
"""Variants that differ from `PLAIN`, or, where they compile, from `COMPILED`."""


def expected_of(variant: Variant) -> Expected:
    """What to expect of a variant."""
    return EXPECTED.get(variant.key, COMPILED if variant.compiles else PLAIN)
