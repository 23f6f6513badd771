"""Are the outputs right? METHOD 4 on stored comparisons: torch's own rule, or the precision's where it changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.catalog.types import Variant
from engine.formatting import counted, fraction
from engine.formatting import error as error_text
from engine.proof.cudagraphs import may_replay
from engine.proof.finding import Finding
from engine.result import Measurement, OutputCheck
from engine.spec import Workload
from engine.tolerances import MIN_COSINE, allowed_relative_rmse, allowed_rmse

OVERWRITES = "overwrites_outputs"
REPLAY_OVERWRITES = "replay_overwrites_outputs"
REPLAYS_ONE_INPUT = "replays_one_input"
"""Names in `Variant.proofs` by which a variant owns up to a property that fails any other: shown as a label, not an error.

`REPLAY_OVERWRITES` holds where a CUDA graph is at work only: what the same variant overwrites on another device is wrong.
"""
SAME_SIZE = 1e-6


def judge_outputs(variant: Variant, workload: Workload, measurements: Sequence[Measurement]) -> Finding:
    """Whether every comparison at `workload`, before and after timing, in every process set, came out right."""
    checks = list(_checks(workload, measurements))
    if not checks:
        return Finding(None, "outputs were not compared")
    for measurement, check in checks:
        problem = next(_problems(variant, workload, measurement, check), None)
        if problem is not None:
            return Finding(False, f"{problem} ({check.stage} timing)")
    compared = [check for _, check in checks]
    worst = max(compared, key=lambda check: _excess(check, workload.dtype))
    return Finding(True, f"{_praise(variant, workload, worst)}{_labels(compared)}")


def _checks(workload: Workload, measurements: Sequence[Measurement]) -> Iterator[tuple[Measurement, OutputCheck]]:
    for measurement in measurements:
        for check in measurement.outputs:
            if measurement.workloads[check.workload] == workload:
                yield measurement, check


def _problems(variant: Variant, workload: Workload, measurement: Measurement, check: OutputCheck) -> Iterator[str]:
    """Everything that is wrong, in words, the plainest first: zeros are also stale and inexact."""
    if check.rmse is None or check.reference_rms is None:
        yield check.note or "no output could be compared with the reference"
        return
    if check.cosine == 0 and abs(check.rmse - check.reference_rms) <= SAME_SIZE * check.reference_rms:
        yield "an output is all zeros"
    if (check.non_finite or 0) > (check.non_finite_eager or 0):
        yield f"{counted(check.non_finite or 0, 'value')} NaN or infinite, eager has {check.non_finite_eager or 0}"
    if check.is_stale and REPLAYS_ONE_INPUT not in variant.proofs:
        yield "stale: another input got an earlier input's answer"
    if check.is_overwritten and not _may_overwrite(variant, measurement):
        yield "an output handed out earlier is overwritten by the next call"
    if check.note:
        yield check.note
    # A variant that owns up to answering one input only is wrong on all others; nothing more is to be said about it.
    if not check.is_stale:
        yield from _inexact(variant, workload, check, check.rmse, check.reference_rms)


def _may_overwrite(variant: Variant, measurement: Measurement) -> bool:
    if REPLAY_OVERWRITES in variant.proofs and may_replay(measurement.facts):
        return True
    return OVERWRITES in variant.proofs


def _inexact(
    variant: Variant, workload: Workload, check: OutputCheck, rmse: float, reference_rms: float
) -> Iterator[str]:
    """By torch's own rule; by the precision's where the variant changes it."""
    if not _changes_precision(variant, workload):
        allowed = allowed_rmse(check.rmse_eager or 0.0, reference_rms, workload.dtype)
        if rmse > allowed:
            yield f"RMSE {error_text(rmse)}, eager {error_text(check.rmse_eager)}, allowed {error_text(allowed)}"
        return
    relative = allowed_relative_rmse(variant.precision or "")
    if relative is not None and rmse > relative * reference_rms:
        yield f"error {fraction(rmse / reference_rms)} of the output's size, {variant.precision} may have {fraction(relative)}"
    if check.cosine is not None and check.cosine < MIN_COSINE:
        yield f"cosine with the reference {check.cosine:.3f}, at least {MIN_COSINE} is asked of {variant.precision}"


def _praise(variant: Variant, workload: Workload, check: OutputCheck) -> str:
    """What is shown of outputs that passed; a difference is named, and so is its direction."""
    if check.rmse is None:
        return "not compared"
    if _changes_precision(variant, workload):
        relative = check.rmse / check.reference_rms if check.reference_rms else 0.0
        return f"within what {variant.precision} allows: error {fraction(relative)} of the output's size"
    eager = check.rmse_eager or 0.0
    numbers = f"RMSE {error_text(check.rmse)}, eager {error_text(eager)}"
    if check.rmse == eager:
        return f"as close to float64 as eager ({numbers})"
    if check.rmse < eager:
        return f"different but not worse: closer to reference than eager ({numbers})"
    return f"different, within rounding ({numbers})"


def _labels(checks: Sequence[OutputCheck]) -> str:
    labels = []
    overflown = max((check.non_finite_eager or 0) - (check.non_finite or 0) for check in checks)
    if overflown > 0:
        labels.append(f"overflow in eager, finite here: {counted(overflown, 'value')}")
    if any(check.is_overwritten for check in checks):
        labels.append("output is overwritten by the next call")
    if any(check.is_stale for check in checks):
        labels.append("answers the captured input only")
    if any(check.is_deterministic is False for check in checks):
        labels.append("the same input twice differs in some bits")
    return "".join(f"; {label}" for label in labels)


def _changes_precision(variant: Variant, workload: Workload) -> bool:
    return variant.precision is not None and variant.precision != workload.dtype


def _excess(check: OutputCheck, dtype: str) -> float:
    allowed = allowed_rmse(check.rmse_eager or 0.0, check.reference_rms or 0.0, dtype)
    return (check.rmse or 0.0) / allowed if allowed else 0.0
