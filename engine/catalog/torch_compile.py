"""Step 2 of the journey: torch.compile with its defaults."""

from engine.catalog.baseline import EAGER_CODE
from engine.catalog.types import Technique, Variant

COMPILE_CODE = EAGER_CODE.replace(
    "with torch.inference_mode():\n    outputs = model(**inputs)",
    "compiled = torch.compile(model)\n\n"
    "with torch.inference_mode():  # around the first call too: compilation happens there\n"
    "    for _ in range(3):\n"
    "        outputs = compiled(**inputs)",
)

TECHNIQUE = Technique(
    key="torch-compile",
    title="torch.compile",
    page="torch_compile.py",
    icon=":material/route:",
    colour="#0B84C6",
    summary="Trace the model once, then run generated code instead of Python.",
    picture="Learning the route: no map needed any more.",
    how_it_works=(
        "TorchDynamo records the model's operations into a graph, TorchInductor turns the graph into generated C++ (CPU) or "
        "Triton (GPU) code and fuses neighbouring element-wise operations. The first call pays for all of it. "
        "Where the trace cannot follow the Python code the graph breaks, and the rest runs eagerly."
    ),
    variants=(
        Variant(
            key="torch-compile/default",
            builds_on="baseline/eager",
            label="torch.compile",
            summary="torch.compile(model), exactly as the article does it.",
            code=COMPILE_CODE,
            requires=("compiler",),
            proofs=("compiled", "no_recompile_while_timing", "no_eager_fallback"),
            compiles=True,
            in_drive=True,
        ),
    ),
)
