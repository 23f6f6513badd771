"""The field's words, one per thing: what users meet on the pages and can look up. Numbers have `engine.metrics` instead."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Term:
    """A word and what it means here."""

    word: str
    meaning: str


TERMS: tuple[Term, ...] = (
    Term("Call", "One timed forward pass on one batch, device synchronised before and after. Latency is the time of one call."),
    Term("Variant", "One way of running the model or operator that is measured: a technique with its settings, or the baseline."),
    Term("Arm", "One variant at one workload (model and shape, or operator and size), as it is measured beside the others of a run."),
    Term("Block", "The calls one variant makes when it is its turn: about 20 ms of them, 3 to 50 calls."),
    Term("Round", "One turn of all variants, in random order. Machine speed drifts; interleaved rounds let it hit all variants alike."),
    Term("Process set", "One fresh process per variant, measured together. Results differ from process to process, so the interval runs over these."),
    Term("Protocol", "How much is measured, fixed before the run: quick 1 process set, standard 5, rigorous 10."),
    Term("First call", "The first call after a technique was applied, compilation included."),
    Term("Stall", "What the first call at a new length takes beyond a steady one: compiling or recording, while the caller waits."),
    Term("Bucket", "A length that requests are padded up to, so that many lengths share one graph: 32, 64, 128, 256 or 512 tokens."),
    Term("Warm-up", "Calls after the first ones and before the timed ones, until the latency is steady. Kept, and never mixed into results."),
    Term("Steady state", "Two windows of ten calls whose medians differ by less than 1 %. Not always reached; then it is said."),
    Term("Median", "Half of the calls were faster. Used instead of the mean, which a single stalled call can move."),
    Term("Speed-up", "Baseline latency over this variant's latency: 1.45x means that the baseline takes 1.45 times as long. Below 1x is a slowdown."),
    Term("Baseline", "What the others are divided by, measured in the same rounds: eager unless another is named."),
    Term("95 % interval", "Where the true speed-up lies, unless chance was unkind (1 time in 20). It runs over process sets and holds for all variants of a run together."),
    Term("Verdict", "The word for a speed-up's interval: faster or slower when all of it is beyond 1 %, no measurable difference when all of it is within, else inconclusive."),
    Term("A/A twin", "The baseline measured a second time as if it were a technique. If the two differ, the machine was not quiet and nothing else can be trusted."),
    Term("Physical floor", "The least time this device can need: its arithmetic at the measured peak, or its weights read once at the measured bandwidth."),
    Term("Share of the floor", "Physical floor over median: how much of the possible speed is reached. 100 % is all of it; above, the time cannot be real."),
    Term("Cold start", "What set-up costs beyond steady calls, with an empty compile cache; warm: with the cache of an earlier process."),
    Term("Break-even", "Calls after which a technique has earned its set-up back. A range, because the saving is one; never, when the saving is not established."),
    Term("Graph", "A piece of the model that TorchDynamo could trace as a whole and TorchInductor compiled."),
    Term("Graph break", "A place where the trace stopped and Python took over."),
    Term("Recompile", "A graph compiled again, as when a new shape arrives. In a timed block it would spoil the times."),
    Term("Eager", "PyTorch's normal mode: one operation after another, each started from Python."),
    Term("Outputs equal", "Within rounding: not farther from a float64 reference than twice the error plain eager already has. Never bit for bit."),
    Term("RMSE", "Root mean square error: how far outputs are from the float64 reference, typically. Compared with what plain eager is off by."),
    Term("Cosine", "How alike the direction of outputs and reference is, 1 being the same. Asked for beside the RMSE where a variant computes in another precision."),
    Term("Rank correlation", "Whether something rises or falls with the rounds, from -1 to 1 (Spearman). Beyond 0.5, with a change of more than 2 %, the ratio drifts."),
    Term("Did not run", "The evidence says that a technique was not really in effect: nothing compiled, or part of it fell back to eager. Then no speed-up is shown."),
    Term("Unstable", "The machine was busy, throttling or drifting, or no steady state was reached: the number shown beside this word may not be the technique's."),
    Term("Error factor", "How many times too fast or too slow a mistaken loop makes something look, against the right number of the same run (Pitfalls page)."),
)  # fmt: skip
