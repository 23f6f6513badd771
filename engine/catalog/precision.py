"""The ladder's top: fewer bits per number, each rung with its error and its badge."""

from engine.catalog.baseline import EAGER_CODE
from engine.catalog.max_autotune import MAX_AUTOTUNE_CODE, with_freezing
from engine.catalog.types import Technique, Variant

_TF32 = 'torch.set_float32_matmul_precision("high")  # TF32 on GPUs that have it\n\nmodel = '
_PROOFS = ("compiled", "no_recompile_while_timing", "no_eager_fallback")
_FROZEN = (*_PROOFS, "candidates_tuned")
_GRAPHED = (*_PROOFS, "graph_replayed", "replay_overwrites_outputs", "may_tune_nothing")
"""max-autotune records CUDA graphs on a GPU: an answer lives until the next call. A small GPU is offered no candidates, and
there precision and graphs are what the rung has."""


def _in_dtype(code: str, dtype: str) -> str:
    return code.replace("dtype=torch.{dtype}", f"dtype=torch.{dtype}")


TECHNIQUE = Technique(
    key="precision",
    title="Precision",
    page="precision.py",
    icon=":material/compress:",
    colour="#D1495B",
    summary="Fewer bits per number: less memory traffic, faster matrix units, larger errors.",
    picture="A lighter car: fast, as long as nothing you need was left behind.",
    how_it_works=(
        "Half-precision weights halve what must be read from memory, and matrix units process them several times faster. "
        "The outputs change: every row here carries its error against a float64 reference and a badge, and none of them is the "
        "same work as a float32 row. Floating-point inputs are converted before the clock starts; token ids are whole numbers."
    ),
    # Without the same mode in float32, nobody could tell what precision itself gave.
    beside=(("cpu", "max-autotune/freezing"), ("cuda", "max-autotune/documented")),
    variants=(
        Variant(
            key="precision/tf32",
            label="TF32, eager",
            summary="Matrix products round their inputs to 10 mantissa bits; everything stays float32 outside.",
            code=EAGER_CODE.replace("model = ", _TF32, 1),
            requires=("cuda", "tf32"),
            precision="tf32",
        ),
        Variant(
            key="precision/tf32-best",
            label="TF32 + max-autotune",
            summary="TF32 with the best compiled mode of a GPU.",
            code=MAX_AUTOTUNE_CODE.replace("model = ", _TF32, 1),
            requires=("cuda", "tf32", "compiler"),
            proofs=_GRAPHED,
            precision="tf32",
            compiles=True,
        ),
        Variant(
            key="precision/bfloat16",
            label="bfloat16, eager",
            summary="Weights and activations in bfloat16: float32's range with 7 mantissa bits.",
            code=_in_dtype(EAGER_CODE, "bfloat16"),
            requires=("bfloat16",),
            precision="bfloat16",
        ),
        Variant(
            key="precision/bfloat16-best-cpu",
            builds_on="max-autotune/freezing",
            label="bfloat16 + freezing + max-autotune",
            summary="bfloat16 with the best compiled mode of a CPU.",
            code=_in_dtype(with_freezing(MAX_AUTOTUNE_CODE), "bfloat16"),
            requires=("cpu", "bfloat16", "compiler"),
            proofs=_FROZEN,
            precision="bfloat16",
            compiles=True,
            in_drive=True,
        ),
        Variant(
            key="precision/bfloat16-best-cuda",
            builds_on="max-autotune/documented",
            label="bfloat16 + max-autotune",
            summary="bfloat16 with the best compiled mode of a GPU.",
            code=_in_dtype(MAX_AUTOTUNE_CODE, "bfloat16"),
            requires=("cuda", "bfloat16", "compiler"),
            proofs=_GRAPHED,
            precision="bfloat16",
            compiles=True,
            in_drive=True,
        ),
        Variant(
            key="precision/float16",
            label="float16, eager",
            summary="Weights and activations in float16: 10 mantissa bits, a range that ends at 65,504.",
            code=_in_dtype(EAGER_CODE, "float16"),
            requires=("cuda",),
            precision="float16",
        ),
        Variant(
            key="precision/float16-best",
            label="float16 + max-autotune",
            summary="float16 with the best compiled mode of a GPU.",
            code=_in_dtype(MAX_AUTOTUNE_CODE, "float16"),
            requires=("cuda", "compiler"),
            proofs=_GRAPHED,
            precision="float16",
            compiles=True,
        ),
    ),
)
