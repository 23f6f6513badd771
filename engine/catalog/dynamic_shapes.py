"""Step 5 of the journey: sentences of different length, and what each way of compiling does with them."""

from engine.catalog.types import Technique, Variant

_HEAD = """\
import torch
from transformers import AutoModel, AutoTokenizer

model = AutoModel.from_pretrained("{model}", attn_implementation="sdpa", dtype=torch.{dtype}).to("{device}").eval()
tokenizer = AutoTokenizer.from_pretrained("{model}")


def request(length):
    batch = tokenizer(["{text}"] * {batch_size}, padding="max_length", truncation=True, max_length=length, return_tensors="pt")
    return {name: batch[name].to("{device}") for name in ("input_ids", "attention_mask")}


"""
_SERVE = """\
with torch.inference_mode():
    for length in ({sequence_length}, 12, 64, 128, 17):  # put the lengths your users send here
        outputs = compiled(**request(length))
"""
_MARK = """\
with torch.inference_mode():
    for length in ({sequence_length}, 12, 64, 128, 17):  # put the lengths your users send here
        inputs = request(length)
        for value in inputs.values():
            torch._dynamo.mark_dynamic(value, 1, min=2, max=512)
        outputs = compiled(**inputs)
"""
_BUCKETS = """\
BUCKETS = (16, 32, 64, 128, 256, 512)


def padded_request(length):  # every length up to a bucket shares the bucket's graph; the mask keeps the answer right
    inputs = request(length)
    room = min(bucket for bucket in BUCKETS if bucket >= length) - length
    return {name: torch.nn.functional.pad(value, (0, room)) for name, value in inputs.items()}


with torch.inference_mode():
    for length in ({sequence_length}, 12, 64, 128, 17):  # put the lengths your users send here
        outputs = compiled(**padded_request(length)).last_hidden_state[:, :length]
"""


def _compiled(arguments: str, serve: str = _SERVE) -> str:
    return f"{_HEAD}compiled = torch.compile(model{arguments})\n\n{serve}"


_PROOFS = ("compiled", "no_eager_fallback", "no_recompile_while_timing")


def _variant(name: str, label: str, summary: str, code: str, **more: object) -> Variant:
    settings: dict[str, object] = {"requires": ("compiler",), "proofs": _PROOFS, "compiles": True, **more}
    return Variant(
        key=f"dynamic-shapes/{name}",
        label=label,
        summary=summary,
        code=code,
        baseline="dynamic-shapes/eager",
        serves_many=True,
        **settings,  # type: ignore[arg-type]
    )


TECHNIQUE = Technique(
    key="dynamic-shapes",
    title="Dynamic shapes",
    page="dynamic_shapes.py",
    icon=":material/local_taxi:",
    colour="#00966D",
    summary="One server, sentences of every length: who recompiles, who stalls, who pads.",
    picture="A taxi driver who knows the principles, not one route.",
    how_it_works=(
        "A compiled graph is valid for the shapes it was made for. At the second length torch.compile makes the length a symbol and "
        "compiles once more; with dynamic=False it compiles for every new length until the recompile limit, and then runs eagerly "
        "without an error. A CUDA graph is recorded per length. Padding requests up to a few bucket lengths is what many servers do "
        "instead, and stands beside the others here."
    ),
    variants=(
        _variant(
            "eager",
            "Eager, every length",
            "The model as loaded, one process serving all lengths.",
            _HEAD + _SERVE.replace("compiled(", "model("),
            requires=(),
            proofs=("nothing_compiled",),
            compiles=False,
        ),
        _variant(
            "default",
            "torch.compile",
            "torch.compile(model): the second length makes the shape a symbol.",
            _compiled(""),
        ),
        _variant(
            "dynamic-true",
            "dynamic=True",
            "Symbolic lengths from the first compilation on.",
            _compiled(", dynamic=True"),
        ),
        _variant(
            "dynamic-false",
            "dynamic=False",
            "A graph per length, until the recompile limit is reached.",
            _compiled(", dynamic=False"),
        ),
        _variant(
            "mark-dynamic",
            "mark_dynamic with bounds",
            "Only the length is symbolic, from 2 to the model's maximum.",
            _compiled("", _MARK),
        ),
        _variant(
            "no-cudagraphs",
            "max-autotune-no-cudagraphs",
            "The article's mode for changing sizes: tuned kernels, no replay, symbolic lengths.",
            _compiled(', mode="max-autotune-no-cudagraphs", dynamic=True'),
            in_drive=True,
        ),
        _variant(
            "no-cudagraphs-static",
            "max-autotune-no-cudagraphs, dynamic=False",
            "The same mode with a graph per length.",
            _compiled(', mode="max-autotune-no-cudagraphs", dynamic=False'),
        ),
        _variant(
            "reduce-overhead",
            "reduce-overhead",
            "A CUDA graph recorded for every length.",
            _compiled(', mode="reduce-overhead"'),
            requires=("cuda", "compiler"),
            proofs=(*_PROOFS, "graph_replayed"),
        ),
        _variant(
            "buckets",
            "Padding to buckets",
            "Requests padded to 16, 32, 64, 128, 256 or 512 tokens, one graph per bucket: the honest competitor.",
            _compiled(", dynamic=False", _BUCKETS),
        ),
    ),
)
