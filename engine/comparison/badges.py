"""What a reader must know beside a number: precision, weights, caches, partial failures. Facts in words, no verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from engine.candidates import why_nothing
from engine.catalog import VARIANTS
from engine.catalog.types import TWIN_SUFFIX
from engine.comparison.arms import Arm, precision_of
from engine.comparison.gpu_time import gpu_time
from engine.comparison.row import Badge
from engine.floors import facts_at
from engine.formatting import counted
from engine.proof import ALLOWANCES, STANDS_UNTUNED, explain_skip
from engine.proof.caches import judge_cache, proven_cache
from engine.result import Run
from engine.verdict import Check

EAGER = "baseline/eager"
CAPTURED_EAGER = ("cuda-graphs/eager-replay", "cuda-graphs/eager-served")


def badges_of(run: Run, arm: Arm, baseline: Arm, checks: Iterable[Check]) -> tuple[Badge, ...]:
    """Every badge of one row, most important first."""
    return (
        *_precision(run, arm, baseline),
        *_weights(arm),
        *_partly_eager(arm),
        *_cuda_graphs(arm),
        *_other_kernels(arm, baseline),
        *_gpu_time(arm),
        *_nothing_tuned(run, arm),
        *_compile_cache(arm),
        *_failures(arm),
        *_unproven(arm, checks),
    )


def _precision(run: Run, arm: Arm, baseline: Arm) -> Iterator[Badge]:
    ours, theirs = precision_of(arm), precision_of(baseline)
    if ours != theirs:
        yield Badge(
            key="precision",
            text=f"{ours}, baseline {theirs}",
            meaning="Part of this speed-up is bought with another precision; its outputs are judged by that precision's rule.",
        )
    if run.experiment.matmul_precision != "highest":
        yield Badge(
            key="matmul_precision",
            text=f"matmul precision {run.experiment.matmul_precision}",
            meaning="Float32 matrix products may use TF32 or bfloat16 internally, in every arm of this run.",
        )


def _weights(arm: Arm) -> Iterator[Badge]:
    note = next((note for note in _facts(arm, "model_note") if "random weights" in str(note).lower()), None)
    if note:
        yield Badge(key="random_weights", text="random weights", meaning=str(note))


def _partly_eager(arm: Arm) -> Iterator[Badge]:
    limit = any(_facts(arm, "recompile_limit_hit"))
    missed = any(
        seen > compiled
        for measurement in arm.measurements
        if isinstance(seen := measurement.facts.get("frames_seen"), int)
        and isinstance(compiled := measurement.facts.get("frames_compiled"), int)
    )
    if limit or missed:
        why = "the recompile limit was reached" if limit else "some frames could not be compiled"
        yield Badge(key="partly_eager", text="partly eager", meaning=f"Part of the work ran eagerly: {why}.")


def _cuda_graphs(arm: Arm) -> Iterator[Badge]:
    skips = max((count for count in _facts(arm, "cudagraph_skips") if isinstance(count, int)), default=0)
    if skips:
        told = [reason for reasons in _facts(arm, "cudagraph_skip_reasons") for reason in reasons]
        reasons = " ".join(dict.fromkeys(explain_skip(str(reason)) for reason in told))
        yield Badge(
            key="cuda_graphs_skipped",
            text="CUDA graphs not used",
            meaning=f"TorchInductor skipped them {counted(skips, 'time')} and ran the kernels one by one. {reasons}".strip(),
        )


def _other_kernels(arm: Arm, baseline: Arm) -> Iterator[Badge]:
    """Of a variant that replays eager's own kernels; the arm's first known profile against eager's."""
    if arm.variant not in CAPTURED_EAGER or baseline.variant != EAGER:
        return
    ours, theirs = (next(iter(_profiled(each, "kernel_names")), None) for each in (arm, baseline))
    counts = [next(iter(_profiled(each, "kernels_per_call")), None) for each in (arm, baseline)]
    if None in counts or None in (ours, theirs) or ours == theirs:
        return
    yield Badge(
        key="other_kernels",
        text="other kernels than eager",
        meaning=f"{counts[0]:g} kernels per call, eager {counts[1]:g}, and not the same ones. Some models decide differently "
        "while a CUDA graph is recorded: those of transformers then build an attention mask that eager leaves out where nothing "
        "is padded, and take another attention kernel. So the difference to eager is not the replay's alone; copies of a request "
        "and its answer may be among the kernels too.",
    )


def _profiled(arm: Arm, key: str) -> Iterator[Any]:
    facts = (facts_at(measurement, arm.workload) for measurement in arm.measurements)
    return (each[key] for each in facts if each.get(key) is not None)


def _gpu_time(arm: Arm) -> Iterator[Badge]:
    if gpu_time(arm).is_profiled:
        yield Badge(
            key="gpu_profiled",
            text="GPU time by the profiler",
            meaning="No pair of events times this call: it waits for the GPU in its middle, so that its launches cannot all be "
            "queued ahead, or it works where events do not see it. The GPU time is what torch's profiler saw of kernels and "
            "copies, without the pauses between them.",
        )


def _nothing_tuned(run: Run, arm: Arm) -> Iterator[Badge]:
    variant = VARIANTS.get(arm.variant.removesuffix(TWIN_SUFFIX))
    if variant and STANDS_UNTUNED & set(variant.proofs) and (why := why_nothing(run, variant.key)):
        same = ": same as default" if run.experiment.device.startswith("cpu") else ""
        yield Badge(key="nothing_tuned", text=f"0 candidates tuned on this device{same}", meaning=why)


def _compile_cache(arm: Arm) -> Iterator[Badge]:
    yield from _other_cache(arm)
    states = {proven_cache(measurement) for measurement in arm.measurements} - {None}
    if states == {"warm"}:
        yield Badge(
            key="warm_cache",
            text="warm compile cache only",
            meaning="Every process set found compiled code in its cache: no cold set-up time was measured.",
        )
    if any(_facts(arm, "fxgraph_cache_bypasses")):
        yield Badge(
            key="cache_bypassed",
            text="graph cache bypassed",
            meaning="This kind of compilation (freezing) is not kept in the graph cache: every new process compiles again.",
        )


def _other_cache(arm: Arm) -> Iterator[Badge]:
    """Set-up times of a state that the counters contradict are in no row."""
    for state in ("cold", "warm"):
        named = [measurement for measurement in arm.measurements if measurement.compile_cache == state]
        others = [(each, found.reason) for each in named if (found := judge_cache(each)).passed is False]
        if others:
            (first, reason), sets = others[0], counted(len(arm.measurements), "process set")
            yield Badge(
                key=f"not_{state}",
                text=f"compile cache not {state}",
                meaning=f"It was prepared {state}, and {len(others)} of {sets} count otherwise. "
                f"In process set {first.process + 1} {reason}. No {state} set-up time is taken from there.",
            )


def _failures(arm: Arm) -> Iterator[Badge]:
    if arm.failures and arm.measurements:
        total = len(arm.failures) + len(arm.measurements)
        yield Badge(
            key="failures",
            text=f"{len(arm.failures)} of {total} process sets failed",
            meaning=f"Last: {arm.failures[-1].message}",
        )


def _unproven(arm: Arm, checks: Iterable[Check]) -> Iterator[Badge]:
    names = {"ran": "not proven to have run", "outputs": "outputs not checked"}
    variant = VARIANTS.get(arm.variant.removesuffix(TWIN_SUFFIX))
    if variant and not set(variant.proofs) - ALLOWANCES:
        del names["ran"]  # nothing can fail to happen here: no evidence is asked of it
    for check in checks:
        if check.key in names and check.passed is None:
            yield Badge(key=f"unknown_{check.key}", text=names[check.key], meaning=check.detail)


def _facts(arm: Arm, key: str) -> list[Any]:
    return [value for measurement in arm.measurements if (value := measurement.facts.get(key)) is not None]
