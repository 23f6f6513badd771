"""How much removing launches can help at all: wall time over GPU time of eager calls, from runs that are stored (METHOD 1.1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from engine.comparison import ComparisonRow
from engine.comparison.measured import GPU_BOUND_RATIO
from engine.formatting import seconds, speedup
from engine.spec import Workload

EAGER = "baseline/eager"
NO_CUDA = "CUDA graphs cannot help here: this device has no CUDA, and nothing is launched on a GPU."
NOT_MEASURABLE = (
    "Measured here, but what CUDA graphs can bring is not known: an eager call waits for the GPU in its middle, so its launches "
    "cannot be queued ahead of it, and the run holds no reading of the GPU by the profiler."
)
NOT_KNOWN = (
    "Not known before the first run here: one run of this technique measures eager's wall and GPU time, and their ratio is the "
    "most that CUDA graphs can bring."
)


def possible_gain(row: ComparisonRow) -> float | None:
    """Wall time over GPU time: the speed-up left if launching were free; None without GPU times."""
    return row.median_s / row.gpu_s if row.median_s and row.gpu_s else None


def eager_row(rows: Iterable[ComparisonRow], workload: Workload) -> ComparisonRow | None:
    """Eager at one workload."""
    return next((row for row in rows if row.variant == EAGER and row.workload == workload), None)


def sentence(row: ComparisonRow | None, device: str) -> str:
    """What CUDA graphs can bring at eager's `row`, before any graph was made."""
    if not device.startswith("cuda"):
        return NO_CUDA
    if row is None or row.median_s is None:
        return NOT_KNOWN
    gain = possible_gain(row)
    if gain is None:
        return NOT_MEASURABLE
    by = " by the profiler, since the call waits for the GPU in its middle" if row.gpu_is_profiled else ""
    times = f"an eager call takes {seconds(row.median_s)}, the GPU works for {seconds(row.gpu_s)} of it{by}"
    if gain < GPU_BOUND_RATIO:
        return f"CUDA graphs can hardly help here, {speedup(gain)} at most: GPU-bound; {times}."
    return f"CUDA graphs can help at most wall/GPU = {speedup(gain)} here: {times}."


def gains(rows: Sequence[ComparisonRow], like: Workload) -> dict[tuple[int, int], float]:
    """Possible gain by (batch, length) for one model and dtype; of several runs the first one given speaks."""
    found: dict[tuple[int, int], float] = {}
    for row in rows:
        point, gain = row.workload, possible_gain(row)
        is_like = (point.model, point.dtype) == (like.model, like.dtype) and point.model is not None
        if gain is not None and row.variant == EAGER and is_like:
            found.setdefault((point.batch_size or 0, point.sequence_length or 0), gain)
    return found


def is_map(gains: Mapping[tuple[int, int], float]) -> bool:
    """Whether there is more than one point to draw."""
    return len(gains) > 1
