"""Step 4 of the journey: let the compiler time several kernels per operation and keep the fastest."""

from engine.catalog.torch_compile import COMPILE_CODE
from engine.catalog.types import Technique, Variant

MAX_AUTOTUNE_CODE = COMPILE_CODE.replace("torch.compile(model)", 'torch.compile(model, mode="max-autotune")')
NO_CUDAGRAPHS_CODE = COMPILE_CODE.replace(
    "torch.compile(model)", 'torch.compile(model, mode="max-autotune-no-cudagraphs")'
)
_FREEZING = "torch._inductor.config.freezing = True  # takes effect without gradients only\n\nmodel = "


def with_freezing(code: str) -> str:
    """`code` with Inductor freezing switched on before the model is compiled."""
    return code.replace("import torch\n", "import torch\nimport torch._inductor.config\n", 1).replace(
        "model = ", _FREEZING, 1
    )


_PROOFS = ("compiled", "no_recompile_while_timing", "no_eager_fallback")

TECHNIQUE = Technique(
    key="max-autotune",
    title="max-autotune",
    page="max_autotune.py",
    icon=":material/build:",
    colour="#E07B00",
    summary="Generate several kernels per operation, time each on this machine, keep the fastest.",
    picture="A mechanic who builds an engine for your route.",
    how_it_works=(
        "For every matrix product the compiler lists candidates: the vendor's library and its own templates in several tilings. "
        "Each one is timed here, and the fastest is built in. That costs minutes once and pays only when a candidate really beats "
        "the library. On a CPU nothing is tuned unless freezing has turned the weights into constants first; "
        "on a GPU with fewer than 68 multiprocessors the matrix templates are not considered."
    ),
    variants=(
        Variant(
            key="max-autotune/documented",
            builds_on="cuda-graphs/reduce-overhead",
            label="max-autotune, as documented",
            summary='torch.compile(model, mode="max-autotune") and nothing else; on a GPU it records CUDA graphs too.',
            code=MAX_AUTOTUNE_CODE,
            requires=("compiler",),
            proofs=(*_PROOFS, "graph_replayed_on_cuda", "candidates_tuned", "replay_overwrites_outputs"),
            compiles=True,
        ),
        Variant(
            key="max-autotune/no-cudagraphs",
            builds_on="torch-compile/default",
            label="max-autotune without CUDA graphs",
            summary="The tuned kernels alone, so that replay does not take their credit.",
            code=NO_CUDAGRAPHS_CODE,
            requires=("cuda", "compiler"),
            proofs=(*_PROOFS, "candidates_tuned"),
            compiles=True,
            in_drive=True,
        ),
        Variant(
            key="max-autotune/freezing-only",
            builds_on="torch-compile/default",
            label="Freezing alone",
            summary="Weights folded into constants and packed, nothing tuned: separates packing from tuning.",
            code=with_freezing(COMPILE_CODE),
            requires=("compiler", "cpu"),
            proofs=_PROOFS,
            compiles=True,
        ),
        Variant(
            key="max-autotune/freezing",
            builds_on="torch-compile/default",
            label="max-autotune + freezing",
            summary="Weights folded into constants, then candidates timed for every linear layer.",
            code=with_freezing(MAX_AUTOTUNE_CODE),
            requires=("compiler", "cpu"),
            proofs=(*_PROOFS, "candidates_tuned"),
            compiles=True,
            in_drive=True,
        ),
    ),
)
