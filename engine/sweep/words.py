"""What a sweep says in sentences: where curves part, what exceeds a bound and why, what integers and float16 do to fusion."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from engine import formatting
from engine.comparison import ComparisonRow, compare_run, number
from engine.result import Measurement, Run
from engine.stats import DELTA
from engine.sweep.points import Series, SweepPoint, points_of, variants_of
from engine.verdict import Verdict

CLEARLY = 1.1
"""Without an interval, less than this is not called a difference."""
MANY_FAULTS = 100
"""Page faults per call from which on they are worth a word: 100 take some tens of microseconds."""
WRITE_ALLOCATE = 1.1
"""A CPU reads a line before it writes it: 11N/5N transfers instead of 8N/4N (METHOD 2.7)."""
AS_WRITTEN, WEIGHTS_OUTSIDE = "numpy-dot-as-written", "numpy-dot"


def where_curves_part(points: Sequence[SweepPoint], variant: str) -> str | None:
    """From which size on a variant is faster, and what the baseline pays there; None without any compared point."""
    line = [point for point in points if point.row.variant == variant and point.row.speedup]
    if not line:
        return None
    name, faster = line[0].row.label, [point for point in line if _is_faster(point)]
    if len(line) == 1:
        return f"{name}: {number(line[0].row)} at {formatting.bytes_(line[0].array_bytes)}{_faults(points, line[0])}."
    if not faster:
        return f"{name}: not shown to be faster at any of the measured sizes."
    best = max(faster, key=_estimate)
    where = f"{number(best.row)} at {formatting.bytes_(best.array_bytes)}{_faults(points, best)}"
    return f"{name}: faster at {_sizes(faster, line)}; {where}."


def beyond_bounds(run: Run, rows: Sequence[ComparisonRow], series: Series) -> list[str]:
    """A sentence for every size at which a speed-up exceeds its traffic bound: what the rest is, and the row that proves it."""
    points = points_of(run, rows, series)
    without_allocation = points_of(run, compare_run(run, "kernel-fusion/separate-out"), series)
    sentences = []
    for _, group in groupby(points, key=lambda point: point.array_bytes):
        beyond = [point for point in group if point.exceeds_bound and point.bound_by == "traffic"]
        if beyond:
            sentences.append(_explained(max(beyond, key=_estimate), points, without_allocation))
    return sentences


def _explained(point: SweepPoint, points: Sequence[SweepPoint], without: Sequence[SweepPoint]) -> str:
    proof = next(
        (
            other
            for other in without
            if other.array_bytes == point.array_bytes and other.row.variant == "kernel-fusion/addcmul-out" and other.row.speedup
        ),
        None,
    )  # fmt: skip
    rest = ""
    if proof is not None:
        is_traffic = _estimate(proof) <= WRITE_ALLOCATE * (point.bound or 0.0)
        is_what = (
            "traffic" if is_traffic else "still more than traffic explains, and nothing measured in this run tells why"
        )
        rest = f" With all results in buffers, what is left of it is {number(proof.row)}: {is_what}."
    return (
        f"At {formatting.bytes_(point.array_bytes)}, {point.row.label} is {number(point.row)}, more than the "
        f"{formatting.speedup(point.bound)} that traffic can explain{_faults(points, point)}.{rest}"
    )


def in_cache(points: Sequence[SweepPoint], bandwidth: float | None) -> str | None:
    """Why rates above the measured bandwidth are possible, where there are any; and which are not explained by a cache."""
    above = [point for point in points if bandwidth and point.bytes_per_s and point.bytes_per_s > bandwidth]
    if not above:
        return None
    cached = [point for point in above if not point.is_in_memory]
    words = ""
    if cached:
        largest = max(point.array_bytes for point in cached)
        words = (
            f"Rates above the measured {formatting.rate(bandwidth, 'B/s')} up to {formatting.bytes_(largest)} "
            "come from the caches: memory is no limit there. "
        )
    for point in above:
        if point.is_in_memory:
            where = f"{point.row.label} at {formatting.bytes_(point.array_bytes)}"
            words += f"{where} shows {formatting.fraction(point.bandwidth_share)}: {_why(point)}. "
    return words.strip()


def _why(point: SweepPoint) -> str:
    """Where a rate above the measured bandwidth may come from, of work that is too large for the caches."""
    if (point.started or 0) > 1:
        return "intermediate results that were just written are read back from the last cache"
    return "memory answered faster than when its bandwidth was measured, and this run does not tell why"


def article_example(rows: Sequence[ComparisonRow]) -> str | None:
    """Why the article's numpy example does or does not show what it says; None where it was not measured."""
    as_written = {row.variant: row for row in rows if row.workload.operator == AS_WRITTEN and row.median_s}
    outside = {row.variant: row for row in rows if row.workload.operator == WEIGHTS_OUTSIDE and row.median_s}
    fresh, copied = as_written.get("preallocation/fresh"), as_written.get("preallocation/copyto")
    plain, out = outside.get("preallocation/fresh"), outside.get("preallocation/out")
    if fresh is None or copied is None:
        return None
    words = f"np.copyto(buffer, np.dot(x, w)) came to {number(copied)}: np.dot makes its result first, and the copy comes on top."
    if plain is not None and fresh.median_s and plain.median_s:
        drawing = 1 - plain.median_s / fresh.median_s
        words += (
            f" Drawing the random weights inside the timer takes {formatting.fraction(max(0.0, drawing))} of a call"
        )
        words += f"; with that outside, np.dot(out=) is {number(out)}." if out is not None else "."
    return words


def notes_of(run: Run) -> list[str]:
    """What arms themselves reported about integer inputs and a float value."""
    notes: dict[str, str] = {}
    for outcome in run.outcomes:
        if isinstance(outcome, Measurement) and (note := outcome.facts.get("value_note")):
            notes.setdefault(outcome.variant.removesuffix("@twin"), str(note))
    return [f"{variant.partition('/')[2]}: {note}" for variant, note in notes.items()]


def overflows(rows: Sequence[ComparisonRow]) -> list[str]:
    """Where the plain expression overflows and a fused one does not, in the words of the outputs' check."""
    return [
        f"{row.label}: {check.detail}"
        for row in rows
        for check in row.checks
        if check.key == "outputs" and "overflow" in check.detail and not row.is_twin
    ]


def _is_faster(point: SweepPoint) -> bool:
    speedup, verdict = point.row.speedup, point.row.verdict
    if speedup is None or verdict.hides_speedup or verdict is Verdict.WRONG_RESULT:
        return False
    return speedup.low > 1 + DELTA if speedup.low is not None else speedup.estimate > CLEARLY


def _estimate(point: SweepPoint) -> float:
    return point.row.speedup.estimate if point.row.speedup else 0.0


def _sizes(faster: Sequence[SweepPoint], line: Sequence[SweepPoint]) -> str:
    if len(faster) == len(line):
        return "every measured size"
    if list(faster) == list(line)[-len(faster) :]:
        return f"{formatting.bytes_(faster[0].array_bytes)} and above"
    return ", ".join(formatting.bytes_(point.array_bytes) for point in faster)


def _faults(points: Sequence[SweepPoint], at: SweepPoint) -> str:
    """What the baseline pays in page faults where the point was measured."""
    lines = variants_of(points)
    baseline = next((each for each in lines.get(at.row.baseline, ()) if each.array_bytes == at.array_bytes), None)
    if baseline is None or (baseline.page_faults or 0) < MANY_FAULTS:
        return ""
    return (
        f" ({baseline.row.label.lower()} touches {formatting.count(baseline.page_faults)} fresh pages per call, "
        f"{at.row.label} {formatting.count(at.page_faults)})"
    )


def sentences(run: Run, rows: Sequence[ComparisonRow], series: Series) -> Iterator[str]:
    """Everything worth a sentence about one series."""
    points = points_of(run, rows, series)
    if series.operator == "addcmul":
        yield from beyond_bounds(run, rows, series)
        said = in_cache(points, run.limits.bandwidth_bytes_per_s if run.limits else None)
        if said:
            yield said
        return
    for variant in variants_of(points):
        said = where_curves_part(points, variant)
        if said:
            yield said
