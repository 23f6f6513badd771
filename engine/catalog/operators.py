"""Operators measured by themselves: what each computes, in which dtypes, how much it moves and how much memory it takes."""

from __future__ import annotations

from dataclasses import dataclass

from engine.errors import UnknownKey
from engine.spec import Workload

NUMPY_DTYPES = ("float32", "float64", "float16")
TORCH_DTYPES = ("float32", "bfloat16", "float16", "float64", "int64")
HIDDEN_SIZE = 768
"""Width of a row of the transformer chain and of the request stream: DistilBERT's."""
ITEM_BYTES = {"float64": 8, "float32": 4, "bfloat16": 2, "float16": 2, "int64": 8}
REFERENCE_ROWS_BYTES = 64 * 2**20
"""What comparing outputs in float64 takes at most beside the arrays: large operators are compared at sampled positions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorCard:
    """One operator. All counts are per operation, in arrays of the result's size.

    `steps` are the kernels its plain form starts, `alive` the arrays that exist at once while the plain form runs (inputs,
    result, temporaries). `transfers` says how many arrays a variant reads and writes; `fused` names variants that read and
    write once for the whole chain of operations. `multiple_of` must divide the number of elements.
    """

    key: str
    label: str
    summary: str
    steps: int
    alive: float
    dtypes: tuple[str, ...]
    transfers: tuple[tuple[str, int], ...] = ()
    fused: tuple[str, ...] = ()
    multiple_of: int = 1
    is_cpu_only: bool = False

    def moved_bytes(self, variant: str, workload: Workload) -> int | None:
        """Bytes one call of `variant` reads and writes, intermediates included; None where nobody counted them."""
        arrays = dict(self.transfers).get(variant)
        if arrays is None:
            return None
        operations = 1 if variant in self.fused else workload.operations or 1
        return arrays * operations * self.array_bytes(workload)

    def array_bytes(self, workload: Workload) -> int:
        """Bytes of the result."""
        return (workload.elements or 0) * ITEM_BYTES[workload.dtype]

    def needed_bytes(self, workload: Workload) -> int:
        """Memory one child needs at this size: three sets of arrays while outputs are compared, and the comparison itself."""
        return int(3 * self.alive * self.array_bytes(workload)) + REFERENCE_ROWS_BYTES

    def why_not(self, workload: Workload) -> str | None:
        """Why the operator cannot be measured at this point, whatever the machine; None when it can."""
        if workload.dtype not in self.dtypes:
            return f"{self.label} is not measured in {workload.dtype}; choose one of {', '.join(self.dtypes)}"
        if (workload.elements or 0) % self.multiple_of:
            return (
                f"{self.label} works on rows of {self.multiple_of}, and {workload.elements:,} elements are no whole number of "
                f"rows; choose a multiple of {self.multiple_of}"
            )
        return None


_REWRITES = (("preallocation/fresh", 2), ("preallocation/out", 2), ("preallocation/in-place", 2))

OPERATORS: dict[str, OperatorCard] = {
    card.key: card
    for card in (
        OperatorCard(
            key="numpy-dot-as-written",
            label="np.dot, random weights drawn in the call",
            summary="The article's example: x (1000, 512) times fresh random weights (512, 3).",
            steps=2,
            alive=512 / 3 + 2,
            dtypes=("float64",),
            multiple_of=3,
            is_cpu_only=True,
        ),
        OperatorCard(
            key="numpy-dot",
            label="np.dot, weights drawn beforehand",
            summary="The same product with the weights made once, outside the timer.",
            steps=1,
            alive=512 / 3 + 2,
            dtypes=("float64",),
            multiple_of=3,
            is_cpu_only=True,
        ),
        OperatorCard(
            key="relu",
            label="ReLU in torch",
            summary="torch.clamp(a, min=0): one array in, one out.",
            steps=1,
            alive=2,
            dtypes=TORCH_DTYPES,
            transfers=_REWRITES,
        ),
        OperatorCard(
            key="numpy-relu",
            label="ReLU in numpy",
            summary="np.maximum(a, 0): one array in, one out.",
            steps=1,
            alive=2,
            dtypes=NUMPY_DTYPES,
            transfers=_REWRITES,
            is_cpu_only=True,
        ),
        OperatorCard(
            key="request-stream",
            label="Requests of varying length",
            summary="Requests of seeded lengths through one feed-forward layer; their answers stay alive until the stream ends.",
            steps=1,
            alive=24,
            dtypes=("float32", "bfloat16", "float16"),
            multiple_of=HIDDEN_SIZE,
        ),
        OperatorCard(
            key="addcmul",
            label="a + value * (b * c)",
            summary="The article's expression: a product, a scaled product, a sum.",
            steps=3,
            alive=6,
            dtypes=TORCH_DTYPES,
            transfers=(
                ("kernel-fusion/separate", 8),
                ("kernel-fusion/two-kernels", 6),
                ("kernel-fusion/addcmul", 4),
                ("kernel-fusion/addcmul-out", 4),
                ("kernel-fusion/separate-out", 8),
                ("kernel-fusion/compiled", 4),
            ),
            fused=("kernel-fusion/compiled",),
        ),
        OperatorCard(
            key="bias-gelu-norm",
            label="bias + GELU + residual + LayerNorm",
            summary="What follows a linear layer in a transformer, on rows of 768.",
            steps=4,
            alive=5,
            dtypes=("float32", "bfloat16", "float16", "float64"),
            transfers=(("kernel-fusion/separate", 9), ("kernel-fusion/compiled", 3)),
            multiple_of=HIDDEN_SIZE,
        ),
    )
}


def find_operator_card(key: str) -> OperatorCard:
    """The operator called `key`, or `UnknownKey` that lists the others."""
    if key not in OPERATORS:
        raise UnknownKey(f"Operator {key!r} does not exist; choose one of {', '.join(OPERATORS)}.")
    return OPERATORS[key]
