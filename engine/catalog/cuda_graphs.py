"""Step 3 of the journey: record the GPU's work once, replay it as one unit."""

from engine.catalog.baseline import EAGER_CODE
from engine.catalog.torch_compile import COMPILE_CODE
from engine.catalog.types import Technique, Variant

_CALL = "with torch.inference_mode():\n    outputs = model(**inputs)\n"

REDUCE_OVERHEAD_CODE = COMPILE_CODE.replace("torch.compile(model)", 'torch.compile(model, mode="reduce-overhead")')
REDUCE_OVERHEAD_SERVED_CODE = REDUCE_OVERHEAD_CODE.replace(
    "        outputs = compiled(**inputs)",
    "        torch.compiler.cudagraph_mark_step_begin()\n"
    "        # The next replay overwrites what this one returns: keep a copy.\n"
    "        outputs = {name: value.clone() for name, value in compiled(**inputs).items()}",
)

_CAPTURE = """\
with torch.inference_mode():
    static_inputs = {name: value.clone() for name, value in inputs.items()}  # what the graph reads, always here
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):  # warm up off the default stream
        for _ in range(3):
            {function}(**static_inputs)
    torch.cuda.current_stream().wait_stream(stream)

    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        static_outputs = {function}(**static_inputs)
"""
_REPLAY = "    graph.replay()  # answers for whatever `static_inputs` hold now, into `static_outputs`\n    outputs = static_outputs\n"
_SERVED = """\
    for name, value in inputs.items():  # a new request: copy it into the captured tensors
        static_inputs[name].copy_(value)
    graph.replay()
    outputs = {name: value.clone() for name, value in static_outputs.items()}
"""


def _captured(function: str, tail: str) -> str:
    head = "compiled = torch.compile(model)\n\n" if function == "compiled" else ""
    return EAGER_CODE.replace(_CALL, head + _CAPTURE.replace("{function}", function) + tail)


_REPLAY_ONLY = ("overwrites_outputs", "replays_one_input")

TECHNIQUE = Technique(
    key="cuda-graphs",
    title="CUDA Graphs",
    page="cuda_graphs.py",
    icon=":material/conversion_path:",
    colour="#7A5CC4",
    summary="Record the whole sequence of GPU work once, then replay it with a single launch.",
    picture="A private motorway with only green lights.",
    how_it_works=(
        "Every kernel that Python starts costs the CPU a few microseconds. When the kernels are short the GPU waits for the "
        "next launch, and a recorded graph, replayed as one unit, removes the wait. When the GPU is busy anyway there is nothing "
        "to remove. A graph reads and writes fixed memory: a served request pays for copying its input in and its output out, "
        "so the served rows are what a user waits for, and the replay-only rows show what the copies cost."
    ),
    variants=(
        Variant(
            key="cuda-graphs/reduce-overhead",
            builds_on="torch-compile/default",
            label="reduce-overhead",
            summary='torch.compile(model, mode="reduce-overhead"): the compiler records the graphs and copies the inputs in.',
            code=REDUCE_OVERHEAD_CODE,
            requires=("compiler",),
            proofs=(
                "compiled",
                "graph_replayed",
                "no_recompile_while_timing",
                "no_eager_fallback",
                "overwrites_outputs",
            ),
            compiles=True,
        ),
        Variant(
            key="cuda-graphs/reduce-overhead-served",
            builds_on="torch-compile/default",
            label="reduce-overhead, output copied",
            summary="The same, with every output cloned, so that the next call cannot overwrite it.",
            code=REDUCE_OVERHEAD_SERVED_CODE,
            requires=("compiler", "cuda"),
            proofs=("compiled", "graph_replayed", "no_recompile_while_timing", "no_eager_fallback"),
            compiles=True,
            in_drive=True,
        ),
        Variant(
            key="cuda-graphs/eager-replay",
            label="Captured eager, replay only",
            summary="Eager kernels captured by hand; the timed call is the replay alone.",
            code=_captured("model", _REPLAY),
            requires=("cuda",),
            proofs=("graph_replayed", *_REPLAY_ONLY),
        ),
        Variant(
            key="cuda-graphs/eager-served",
            label="Captured eager, served",
            summary="Eager kernels captured by hand; input copied in, replay, output cloned out.",
            code=_captured("model", _SERVED),
            requires=("cuda",),
            proofs=("graph_replayed",),
        ),
        Variant(
            key="cuda-graphs/compiled-replay",
            label="Captured compiled, replay only",
            summary="The default-compiled function captured by hand; the timed call is the replay alone.",
            code=_captured("compiled", _REPLAY),
            requires=("cuda", "compiler"),
            proofs=("compiled", "graph_replayed", *_REPLAY_ONLY),
            compiles=True,
        ),
        Variant(
            key="cuda-graphs/compiled-served",
            label="Captured compiled, served",
            summary="The default-compiled function captured by hand; input copied in, replay, output cloned out.",
            code=_captured("compiled", _SERVED),
            requires=("cuda", "compiler"),
            proofs=("compiled", "graph_replayed"),
            compiles=True,
        ),
    ),
)
