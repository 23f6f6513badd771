"""Ten ways to measure something else: the article's stopwatch, one mistake at a time (METHOD 3). No step of the journey.

Each loop runs as it stands here, in a child that has measured everything else; `model`, `inputs` and `synchronize` are there.
"""

from engine.catalog import mistaken_loops
from engine.catalog.baseline import EAGER_CODE
from engine.catalog.cuda_graphs import REDUCE_OVERHEAD_CODE
from engine.catalog.torch_compile import COMPILE_CODE
from engine.catalog.types import TWIN_SUFFIX, Pitfall, Technique, Variant

EAGER = "baseline/eager"
REMEMBERING, COMPILED, REPLAYED = "pitfalls/remembering", "pitfalls/compiled", "pitfalls/replayed"
HALF_EAGER, HALF_COMPILED, DOT = "pitfalls/eager-bfloat16", "pitfalls/compiled-bfloat16", "pitfalls/dot"
_COMPILER_PROOFS = ("compiled", "no_recompile_while_timing", "no_eager_fallback")

BEFORE = EAGER_CODE.partition("\nwith torch.inference_mode():")[0] + (
    '\nsynchronize = torch.cuda.synchronize if "{device}".startswith("cuda") else lambda: None\n'
)
"""What stands before every loop on a model, to make it complete."""

PITFALLS: tuple[Pitfall, ...] = (
    Pitfall(key="first-call", title="The first call counted", run_by=COMPILED, right=COMPILED, is_ratio=True, calls=200, starts_cold=True, code=mistaken_loops.FIRST_CALL,
        mistake="The loop starts with the first call, so seconds of compiling are spread over a hundred calls.",
        rule="Time set-up by itself; start the clock when calls have become steady."),
    Pitfall(key="no-synchronise", title="No synchronise", run_by=REPLAYED, right=REPLAYED, is_ratio=True, calls=210, code=mistaken_loops.NO_SYNCHRONISE,
        mistake="A GPU call returns when work has been queued; a loop that never waits times the queueing, and a CUDA graph queues everything in one go.",
        rule="Synchronise before every reading of the clock."),
    Pitfall(key="wall-clock", title="A clock that can jump", run_by=REMEMBERING, right=REMEMBERING, is_ratio=False, code=mistaken_loops.WALL_CLOCK,
        mistake="time.time() is the time of day: whoever keeps it right may set it while you measure.",
        rule="Use time.perf_counter(): nobody can set it.",
        injected="The jump is ours, once, half-way, by 0.128 s, the smallest step ntpd makes: we neither set this machine's clock nor saw it jump. The calls are real."),
    Pitfall(key="mean", title="The mean of a hundred", run_by=REMEMBERING, right=REMEMBERING, is_ratio=False, code=mistaken_loops.MEAN,
        mistake="One slow call out of a hundred moves the mean for all of them.",
        rule="Keep every call; show the median and the spread.",
        injected="The slow call is a real garbage collection of this process, asked for once, half-way, so that it is there in every run."),
    Pitfall(key="a-then-b", title="First A, then B", run_by=REMEMBERING, right=EAGER + TWIN_SUFFIX, is_ratio=True, repeats=True, calls=200, code=mistaken_loops.A_THEN_B,
        mistake="All calls of A come first and all of B afterwards, so whatever changed on the machine in between is counted for or against B. Here B is A again: the true answer is 1.00x.",
        rule="Let A and B take turns, in random order, and measure A twice to see what the machine does by itself."),
    Pitfall(key="one-process", title="One process", run_by=COMPILED, right=COMPILED, is_ratio=True, repeats=True, calls=206, code=mistaken_loops.ONE_PROCESS,
        mistake="One process is one sample, however many calls it makes: memory layout and kernels fall out differently in the next one.",
        rule="Start several fresh processes; the interval is over these."),
    Pitfall(key="constant-input", title="The same input every time", run_by=REMEMBERING, right=REMEMBERING, is_ratio=True, code=mistaken_loops.CONSTANT_INPUT,
        mistake="A hundred times the same sentence: whatever remembers an answer looks like speed.",
        rule="Rotate over several inputs, and compare the outputs as well.",
        injected="The memory is ours: a wrapper that keeps its last answer, in place of the caches that stacks bring along."),
    Pitfall(key="work-left", title="Work left in the timer", run_by=DOT, right=DOT, is_ratio=False, calls=0, code=mistaken_loops.WORK_LEFT,
        mistake="The article's numpy example draws its random weights between the two readings of the clock, and times those too.",
        rule="Between the two readings stands what you mean to time, and nothing else."),
    Pitfall(key="gradients", title="Gradients left on", run_by=REMEMBERING, right=REMEMBERING, is_ratio=False, code=mistaken_loops.GRADIENTS,
        mistake="Without inference_mode every operation is recorded for a backward pass that never comes.",
        rule="Put inference_mode around every call, the first one and the baseline's included."),
    Pitfall(key="unfair-baseline", title="An unfair baseline", run_by=HALF_COMPILED, right=HALF_COMPILED, over=HALF_EAGER, is_ratio=True, calls=206, code=mistaken_loops.UNFAIR,
        mistake="Eager in float32 against compiled in bfloat16: the change of precision is counted as the compiler's.",
        rule="Change one thing; the baseline gets everything else that the technique has."),
)  # fmt: skip

TECHNIQUE = Technique(
    key="pitfalls",
    title="Pitfalls",
    page="pitfalls.py",
    icon=":material/release_alert:",
    colour="#6B4E3D",
    summary="The article's stopwatch beside ours, one mistake at a time: what its script would have told you here.",
    picture="A speedometer that shows what you would like to see.",
    how_it_works=(
        "A process measures its variant as on every other page: warm, in turns with the others, with rotating inputs. When all that "
        "is done it runs the mistaken loop, exactly as shown. The loop's number is what it would have reported; the right number is "
        "from the interleaved rounds of the same run, with the interval over process sets. Every loop makes one mistake and is "
        "otherwise right, so an error that does not show here may well show on your machine."
    ),
    variants=(
        Variant(key=REMEMBERING, label="Eager behind a memory of one answer", summary="Answers at once when the same inputs come again; other inputs run the model.",
            code=EAGER_CODE.replace("with torch.inference_mode():\n    outputs = model(", f"{mistaken_loops.REMEMBERING_CODE}\nserved = remembering(model)\nwith torch.inference_mode():\n    outputs = served("),
            proofs=("nothing_compiled",)),
        Variant(key=COMPILED, label="torch.compile, before its pitfalls", summary="torch.compile(model), measured right.", code=COMPILE_CODE,
            requires=("compiler",), proofs=_COMPILER_PROOFS, compiles=True),
        Variant(key=HALF_EAGER, label="bfloat16, eager, the fair baseline", summary="The model in bfloat16, not compiled.",
            code=EAGER_CODE.replace("torch.{dtype}", "torch.bfloat16"), requires=("bfloat16",), precision="bfloat16"),
        Variant(key=HALF_COMPILED, label="bfloat16 and torch.compile", summary="The model in bfloat16, compiled.",
            code=COMPILE_CODE.replace("torch.{dtype}", "torch.bfloat16"), requires=("bfloat16", "compiler"), proofs=_COMPILER_PROOFS, precision="bfloat16", compiles=True),
        Variant(key=REPLAYED, label="CUDA graphs, before their pitfall", summary='torch.compile(model, mode="reduce-overhead"), measured right.', code=REDUCE_OVERHEAD_CODE,
            requires=("cuda", "compiler"), proofs=(*_COMPILER_PROOFS, "graph_replayed", "overwrites_outputs"), compiles=True),
        Variant(key=DOT, label="np.dot, timed by itself", summary="The article's product, weights made beforehand.",
            code="import numpy as np\n\nx, w = np.random.rand({elements} // 3, 512), np.random.rand(512, 3)\nresult = np.dot(x, w)\n",
            subjects=("numpy-dot",), baseline=DOT, proofs=("nothing_compiled",), serves_many=True),
    ),
    default_workloads=({"operator": "numpy-dot", "elements": 3000, "dtype": "float64"},),
)  # fmt: skip


def run_by(variant: str, is_first: bool) -> tuple[Pitfall, ...]:
    """The loops that the child of a variant runs at its end; the first process set runs all of them, later ones some."""
    return tuple(pitfall for pitfall in PITFALLS if pitfall.run_by == variant and (is_first or pitfall.repeats))
