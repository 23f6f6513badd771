"""Step 5 of the journey: sentences of different length, and what each way of compiling does with them."""

from engine.catalog.types import Technique, Variant

BUCKETS = (32, 64, 128, 256, 512)
"""Lengths that requests are padded up to; longer ones go as they are."""
FEW_LENGTHS = (11, 24, 60)
"""The fewest that tell the first, the second and a later length apart: what a small CPU can measure in half an hour."""
TWELVE_LENGTHS = (8, 12, 17, 25, 36, 53, 77, 113, 165, 241, 351, 512)
"""Evenly spaced on a logarithmic scale (METHOD 2.5)."""
RECOMPILE_LIMIT = 8
"""Graphs torch compiles of one piece of code before further shapes run eagerly; it warns of as many CUDA graphs."""


def padded_length(length: int, longest: int | None = None) -> int:
    """Tokens of a request of `length` once it is padded to its bucket, which never exceeds what the model takes."""
    bucket = next((bucket for bucket in BUCKETS if bucket >= length), length)
    return max(length, min(bucket, longest or bucket))


_HEAD = """\
import torch
from transformers import AutoModel, AutoTokenizer

model = AutoModel.from_pretrained("{model}", attn_implementation="sdpa", dtype=torch.{dtype}).to("{device}").eval()
tokenizer = AutoTokenizer.from_pretrained("{model}")


def request(length):
    batch = tokenizer(["{text}"] * {batch_size}, padding="max_length", truncation=True, max_length=length, return_tensors="pt")
    return {name: batch[name].to("{device}") for name in ("input_ids", "attention_mask")}


"""
_LENGTHS = "    for length in ({sequence_length}, 24, 60, 128):  # put the lengths your users send here\n"
_SERVE = f"with torch.inference_mode():\n{_LENGTHS}        outputs = compiled(**request(length))\n"
_MARK = f"""\
with torch.inference_mode():
{_LENGTHS}\
        inputs = request(length)
        for value in inputs.values():
            if length > 1:  # a length of 1 gets a graph of its own
                torch._dynamo.mark_dynamic(value, 1, min=2, max=model.config.max_position_embeddings)
        outputs = compiled(**inputs)
"""
_PAD = f"""\
BUCKETS = {BUCKETS}


def padded_request(length):  # every length up to a bucket shares the bucket's graph; the mask keeps the answer right
    inputs = request(length)
    room = next((bucket for bucket in BUCKETS if bucket >= length), length) - length
    return {{name: torch.nn.functional.pad(value, (0, room)) for name, value in inputs.items()}}


with torch.inference_mode():
{_LENGTHS}\
        outputs = compiled(**padded_request(length))
        tokens = outputs.last_hidden_state[:, :length]
"""
_NO_CUDAGRAPHS = 'mode="max-autotune-no-cudagraphs"'
_PROOFS = ("compiled", "no_eager_fallback", "no_recompile_while_timing")
_TUNED = (*_PROOFS, "candidates_tuned")


def _compiled(arguments: str, serve: str = _SERVE) -> str:
    return f"{_HEAD}compiled = torch.compile(model{arguments})\n\n{serve}"


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
        "compiles once more; a length of 1 always gets a graph of its own. With dynamic=False it compiles for every new length "
        f"until it has {RECOMPILE_LIMIT} graphs, and then runs new lengths eagerly without an error. A CUDA graph is recorded per "
        "length. Padding requests up to a few bucket lengths is what many servers do instead, and stands beside the others here. "
        "What a symbolic graph is tuned for is the length it saw first, so every process meets the lengths in another order: as "
        "given, reversed, then random ones and their reversals."
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
            "torch.compile, every length",
            "torch.compile(model): the second length makes the shape a symbol.",
            _compiled(""),
        ),
        _variant(
            "dynamic-true",
            "dynamic=True",
            "A symbolic length from the first compilation on.",
            _compiled(", dynamic=True"),
        ),
        _variant(
            "dynamic-false",
            "dynamic=False",
            "A graph per length, until the recompile limit is reached.",
            _compiled(", dynamic=False"),
            specialises=True,
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
            "The article's mode for changing sizes as it writes it: tuned kernels, no replay; the second length makes the shape a symbol.",
            _compiled(f", {_NO_CUDAGRAPHS}"),
            proofs=(*_PROOFS, "candidates_tuned_on_cuda"),
            in_drive=True,
        ),
        _variant(
            "no-cudagraphs-dynamic",
            "max-autotune-no-cudagraphs, dynamic=True",
            "The same mode with a symbolic length from the first compilation on.",
            _compiled(f", {_NO_CUDAGRAPHS}, dynamic=True"),
            requires=("tuning", "compiler"),
            proofs=_TUNED,
        ),
        _variant(
            "no-cudagraphs-static",
            "max-autotune-no-cudagraphs, dynamic=False",
            "The same mode with a graph per length.",
            _compiled(f", {_NO_CUDAGRAPHS}, dynamic=False"),
            requires=("tuning", "compiler"),
            proofs=_TUNED,
            specialises=True,
        ),
        _variant(
            "reduce-overhead",
            "reduce-overhead, every length",
            "A CUDA graph recorded for every length.",
            _compiled(', mode="reduce-overhead"'),
            requires=("cuda", "compiler"),
            proofs=(*_PROOFS, "graph_replayed", "overwrites_outputs"),
        ),
        _variant(
            "buckets",
            "Padding to buckets",
            f"Requests padded to {', '.join(map(str, BUCKETS[:-1]))} or {BUCKETS[-1]} tokens, one graph per bucket: the honest competitor.",
            _compiled(", dynamic=False", _PAD),
            specialises=True,
        ),
    ),
)
