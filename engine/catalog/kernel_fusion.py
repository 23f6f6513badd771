"""Step 7 of the journey: one pass over memory instead of several."""

from engine.catalog.types import Technique, Variant

_ADDCMUL = """\
import torch

a, b, c = (torch.randn({elements}).to("{device}", torch.{dtype}) for _ in range(3))


"""
_NORM = """\
import torch

x, residual = (torch.randn({elements} // 768, 768).to("{device}", torch.{dtype}) for _ in range(2))
bias, weight, shift = (torch.randn(768).to("{device}", torch.{dtype}) for _ in range(3))


"""
_THREE_STEPS = """\
def three_steps(a, b, c):
    for _ in range({operations}):
        a = a + 0.5 * (b * c)  # three kernels, two of their results only pass through memory
    return a


"""
_BIAS_GELU_NORM = """\
def bias_gelu_norm(x, residual, bias, weight, shift):
    for _ in range({operations}):
        hidden = residual + torch.nn.functional.gelu(x + bias)
        x = torch.nn.functional.layer_norm(hidden, (768,), weight, shift)
    return x


"""
_RUN_THREE = "with torch.inference_mode():\n    result = three_steps(a, b, c)\n"
_RUN_NORM = "with torch.inference_mode():\n    result = bias_gelu_norm(x, residual, bias, weight, shift)\n"


def _compiled(code: str, name: str) -> str:
    made = f"compiled = torch.compile({name}, dynamic=False)  # generated code for this size\n\nwith torch"
    return code.replace("with torch", made, 1).replace(f"result = {name}(", "result = compiled(")


def _loop(make: str, *steps: str) -> str:
    body = "".join(f"        {step}\n" for step in steps)
    return f"{_ADDCMUL.rstrip()}\n{make}\nwith torch.inference_mode():\n    for _ in range({{operations}}):\n{body}"


_SEPARATE_CODES = (
    ("addcmul", _ADDCMUL + _THREE_STEPS + _RUN_THREE),
    ("bias-gelu-norm", _NORM + _BIAS_GELU_NORM + _RUN_NORM),
)
_COMPILED_CODES = (
    ("addcmul", _compiled(_SEPARATE_CODES[0][1], "three_steps")),
    ("bias-gelu-norm", _compiled(_SEPARATE_CODES[1][1], "bias_gelu_norm")),
)
_FUSED, _ONE = "fewer_kernels", "one_kernel"


def _variant(name: str, label: str, summary: str, code: str, *proofs: str, in_drive: bool = False) -> Variant:
    return Variant(
        key=f"kernel-fusion/{name}",
        label=label,
        summary=summary,
        code=code,
        subjects=("addcmul",),
        baseline="kernel-fusion/separate",
        proofs=proofs,
        serves_many=True,
        in_drive=in_drive,
    )


TECHNIQUE = Technique(
    key="kernel-fusion",
    title="Kernel fusion",
    page="kernel_fusion.py",
    icon=":material/merge:",
    colour="#A88B00",
    summary="b * c, times a value, plus a: in three kernels, in two, in one, and generated from the plain expression.",
    picture="One shopping trip with a list instead of three.",
    how_it_works=(
        "Each kernel reads its inputs from memory and writes its result back. The three steps move 8 arrays, one addcmul moves 4: where memory "
        "is the limit, that is worth 2.0x at most (2.2x on a CPU that reads a line before it writes it). Where starting kernels is the "
        "limit it is 3x at most. What goes beyond is not traffic: on a CPU the three steps also make three fresh results, and large "
        "fresh results cost page faults. The row with prepared buffers takes that away and shows what fusion alone brings.\n\n"
        "A fused kernel rounds less often, so results can differ by rounding; the page says which is closer to float64."
    ),
    variants=(
        Variant(
            key="kernel-fusion/separate",
            label="One kernel per step",
            summary="The plain expression: what the others are divided by.",
            code=_SEPARATE_CODES[0][1],
            codes=_SEPARATE_CODES,
            subjects=("addcmul", "bias-gelu-norm"),
            baseline="kernel-fusion/separate",
            proofs=("nothing_compiled",),
            serves_many=True,
        ),
        _variant("addcmul", "torch.addcmul", "All three steps in one kernel.", _loop("", "a = torch.addcmul(a, b, c, value=0.5)"), _ONE, in_drive=True),
        _variant(
            "addcmul-out",
            "torch.addcmul into a buffer",
            "One kernel, and its result in a tensor made once.",
            _loop("result = torch.empty_like(a)\n", "a = torch.addcmul(a, b, c, value=0.5, out=result)"),
            _ONE,
            "result_preallocated",
            "overwrites_outputs",
        ),
        _variant(
            "separate-out",
            "One kernel per step into buffers",
            "Three kernels, all results in tensors made once: what is left is traffic alone.",
            _loop(
                "product, result = torch.empty_like(a), torch.empty_like(a)\n",
                "torch.mul(b, c, out=product)",
                "torch.mul(product, 0.5, out=product)",
                "a = torch.add(a, product, out=result)",
            ),
            "result_preallocated",
            "overwrites_outputs",
        ),
        Variant(
            key="kernel-fusion/compiled",
            label="torch.compile",
            summary="Generated from the plain expression, one graph per size.",
            code=_COMPILED_CODES[0][1],
            codes=_COMPILED_CODES,
            subjects=("addcmul", "bias-gelu-norm"),
            baseline="kernel-fusion/separate",
            requires=("compiler",),
            proofs=("compiled", "no_recompile_while_timing", "no_eager_fallback", _FUSED),
            compiles=True,
            serves_many=True,
            specialises=True,
        ),
        _variant("two-kernels", "Two kernels: torch.add(alpha=)", "The product, then a scaled sum.", _loop("", "a = torch.add(a, b * c, alpha=0.5)"), _FUSED),
    ),
    default_workloads=(
        *({"operator": "addcmul", "elements": 2**power} for power in (14, 23)),
        *({"operator": "bias-gelu-norm", "elements": tokens * 768} for tokens in (11, 1024)),
    ),
    # In a cache, where starting kernels is the limit, and in memory, where traffic is.
    drive_workloads=tuple({"operator": "addcmul", "elements": 2**power} for power in (14, 23)),
)  # fmt: skip
