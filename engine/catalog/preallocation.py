"""Step 6 of the journey: memory made once instead of at every call, and what an allocator does in between."""

from engine.catalog.baseline import EAGER_CODE
from engine.catalog.types import Technique, Variant

_TORCH = """\
import torch

a = torch.randn({elements}).to("{device}", torch.{dtype})
"""
_NUMPY = """\
import numpy as np

a = np.random.randn({elements}).astype(np.{dtype})
"""
_DOT = """\
import numpy as np

x = np.random.rand({elements} // 3, 512)
"""
_RESULT = "result = np.empty((len(x), 3))\n"
_WEIGHTS = "w = np.random.rand(512, 3)\n"
_CHAIN = "for _ in range({operations}):\n"


def _torch(make: str, step: str) -> str:
    return f"{_TORCH}{make}\nwith torch.inference_mode():\n    {_CHAIN.strip()}\n        {step}\n"


def _numpy(make: str, step: str) -> str:
    return f"{_NUMPY}{make}\n{_CHAIN}    {step}\n"


def _dot(make: str, *lines: str) -> str:
    return _DOT + make + "\nfor _ in range(100):\n" + "".join(f"    {line}\n" for line in lines)


_FRESH_CODES = (
    ("relu", _torch("", "a = torch.clamp(a, min=0)  # a new result every time")),
    ("numpy-relu", _numpy("", "a = np.maximum(a, 0)  # a new result every time")),
    ("numpy-dot-as-written", _dot("", "result = np.dot(x, np.random.rand(512, 3))")),
    ("numpy-dot", _dot(_WEIGHTS, "result = np.dot(x, w)")),
)
_OUT_CODES = (
    ("relu", _torch("result = torch.empty_like(a)\n", "a = torch.clamp(a, min=0, out=result)")),
    ("numpy-relu", _numpy("result = np.empty_like(a)\n", "a = np.maximum(a, 0, out=result)")),
    ("numpy-dot-as-written", _dot(_RESULT, "np.dot(x, np.random.rand(512, 3), out=result)")),
    ("numpy-dot", _dot(_WEIGHTS + _RESULT, "np.dot(x, w, out=result)")),
)
_COPYTO_CODES = (
    (
        "numpy-dot-as-written",
        _dot(_RESULT, "np.copyto(result, np.dot(x, np.random.rand(512, 3)))  # dot still allocates"),
    ),
    ("numpy-dot", _dot(_WEIGHTS + _RESULT, "np.copyto(result, np.dot(x, w))  # dot still allocates")),
)
_IN_PLACE_CODES = (
    ("relu", _torch("", "a.clamp_(min=0)  # the input is gone")),
    ("numpy-relu", _numpy("", "np.maximum(a, 0, out=a)  # the input is gone")),
)
_ALL_BUFFERS_CODE = _dot(
    _RESULT + "generator = np.random.default_rng()\nw = np.empty((512, 3))\n",
    "generator.random(out=w)",
    "np.dot(x, w, out=result)",
)

_CALL = "with torch.inference_mode():\n    outputs = model(**inputs)\n"
_FRESH_INPUTS_CODE = EAGER_CODE.replace(
    _CALL,
    """\
request = {name: value.cpu() for name, value in inputs.items()}  # where a request lies before it is served

with torch.inference_mode():
    outputs = model(**{name: value.to("{device}", copy=True) for name, value in request.items()})
""",
)
_STATIC_INPUTS_CODE = EAGER_CODE.replace(
    _CALL,
    """\
request = {name: value.cpu() for name, value in inputs.items()}  # where a request lies before it is served
static = {name: value.clone() for name, value in inputs.items()}  # made once

def serve(request):
    for name, value in request.items():
        static[name].copy_(value)
    return model(**static)

with torch.inference_mode():
    outputs = serve(request)
""",
)
_STATIC_OUTPUT_CODE = _STATIC_INPUTS_CODE.replace(
    "def serve",
    "with torch.inference_mode():\n    answer = torch.empty_like(model(**static)[0])  # made once\n\ndef serve",
).replace("return model(**static)", "answer.copy_(model(**static)[0])\n    return answer")
_PINNED_CODE = _STATIC_INPUTS_CODE.replace("value.cpu()", "value.cpu().pin_memory()").replace(
    "copy_(value)", "copy_(value, non_blocking=True)  # the kernels queue behind the copies"
)

_STREAM = """\
{setting}import torch

hidden, device = 768, "{device}"
lengths = torch.randint(8, {elements} // hidden + 1, (32,)).tolist()
x = torch.randn({elements} // hidden, hidden, dtype=torch.{dtype}, device=device)
up, down = (torch.randn(hidden, 4 * hidden, dtype=torch.{dtype}, device=device) * hidden**-0.5 for _ in range(2))

with torch.inference_mode():
    outputs = [x[:n] + torch.nn.functional.gelu(x[:n] @ up) @ down.T for n in lengths]
print(torch.cuda.memory_summary())
"""


def _stream(setting: str = "") -> str:
    return _STREAM.replace("{setting}", f"import os\n\n{setting}  # before torch is imported\n" if setting else "")


_SWEEP = ("relu", "numpy-relu")
_ARTICLE = ("numpy-dot-as-written", "numpy-dot")
_PROOFS = ("result_preallocated",)
ARTICLE_ELEMENTS = 3000
"""The article's result is (1000, 3)."""


def _in_numpy(
    name: str,
    label: str,
    summary: str,
    codes: tuple[tuple[str, str], ...],
    proofs: tuple[str, ...],
    *,
    in_drive: bool = False,
) -> Variant:
    return Variant(
        key=f"preallocation/{name}",
        label=label,
        summary=summary,
        code=codes[0][1],
        codes=codes,
        subjects=tuple(operator for operator, _ in codes),
        baseline="preallocation/fresh",
        proofs=proofs,
        serves_many=True,
        in_drive=in_drive,
    )


def _of_model(name: str, label: str, summary: str, code: str, *proofs: str, requires: tuple[str, ...] = ()) -> Variant:
    return Variant(
        key=f"preallocation/{name}",
        label=label,
        summary=summary,
        code=code,
        baseline="preallocation/fresh-inputs",
        requires=requires,
        proofs=("nothing_compiled", *proofs),
    )


def _of_pool(name: str, label: str, summary: str, variable: str, value: str) -> Variant:
    return Variant(
        key=f"preallocation/pool-{name}",
        label=label,
        summary=summary,
        code=_stream(f'os.environ["{variable}"] = "{value}"'),
        subjects=("request-stream",),
        baseline="preallocation/pool-caching",
        requires=("cuda",),
        proofs=(f"allocator_{name}",),
        variables=((variable, value),),
        serves_many=True,
    )


TECHNIQUE = Technique(
    key="preallocation",
    title="Pre-allocation and pooling",
    page="preallocation.py",
    icon=":material/inventory_2:",
    colour="#C2478B",
    summary="Memory made once and written to at every call: where that pays, and where nothing changes.",
    picture="Leaving with a full tank: no stops, no toll booths.",
    how_it_works=(
        "A new result needs memory. Small pieces come from the allocator's own store and cost nothing that can be measured. A large piece on "
        "a CPU comes fresh from the operating system, which finds and clears every page of it when it is first touched (a page fault), and takes "
        "it back when the result is dropped: at tens of megabytes that costs more than computing. out= writes into memory that is there "
        "already. On CUDA, PyTorch pools memory for you, so pre-allocation competes with a pool, not with the driver.\n\n"
        "np.copyto(buffer, np.dot(x, w)) pre-allocates nothing: np.dot makes its result first, and the copy comes on top."
    ),
    variants=(
        _in_numpy("fresh", "Fresh result", "A new result at every call: what the others are divided by.", _FRESH_CODES, ("nothing_compiled",)),
        _in_numpy("copyto", "np.copyto into a buffer", "The article's way: the result is made afresh and then copied. It still allocates.", _COPYTO_CODES, ("overwrites_outputs",), in_drive=True),
        _in_numpy("out", "Into a buffer (out=)", "The result is computed straight into memory made once.", _OUT_CODES, (*_PROOFS, "overwrites_outputs"), in_drive=True),
        _in_numpy("in-place", "In place", "The result replaces the input: no second array at all.", _IN_PLACE_CODES, _PROOFS),
        _in_numpy("all-buffers", "Weights and result into buffers", "The random weights are drawn into a buffer too: nothing is allocated.", (("numpy-dot-as-written", _ALL_BUFFERS_CODE),), (*_PROOFS, "overwrites_outputs")),
        _of_model("fresh-inputs", "Model, fresh inputs", "New input tensors for every request, filled from host memory.", _FRESH_INPUTS_CODE),
        _of_model("static-inputs", "Model, static inputs", "Every request is copied into the same input tensors.", _STATIC_INPUTS_CODE, "inputs_stay"),
        _of_model("static-output", "Model, static inputs and output", "The answer is copied into tensors made once as well.", _STATIC_OUTPUT_CODE, "inputs_stay", "outputs_stay", "overwrites_outputs"),
        _of_model("pinned-inputs", "Model, pinned host memory", "Requests lie in page-locked memory and are copied without waiting.", _PINNED_CODE, "inputs_stay", "requests_pinned", requires=("cuda",)),
        _of_pool("caching", "Caching allocator", "PyTorch's default on CUDA: freed blocks are kept and split for later use.", "PYTORCH_CUDA_ALLOC_CONF", "backend:native"),
        _of_pool("disabled", "No pool", "Every tensor asks the driver: the control that shows what pooling is worth.", "PYTORCH_NO_CUDA_MEMORY_CACHING", "1"),
        _of_pool("expandable", "Expandable segments", "Segments grow instead of being split: made for sizes that keep changing.", "PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True"),
    ),
    default_workloads=(
        *({"operator": operator, "elements": ARTICLE_ELEMENTS, "dtype": "float64"} for operator in _ARTICLE),
        *({"operator": "relu", "elements": 2**power} for power in (10, 20, 24)),
        *({"operator": "numpy-relu", "elements": 2**power} for power in (10, 24)),
        {"operator": "request-stream", "elements": 512 * 768},
    ),
    # The article's example as it stands, and where a prepared result does pay: 64 MB, fresh from the system at every call.
    drive_workloads=(
        {"operator": "numpy-dot-as-written", "elements": ARTICLE_ELEMENTS, "dtype": "float64"},
        {"operator": "relu", "elements": 2**24},
    ),
)  # fmt: skip
