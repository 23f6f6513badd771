"""What a sweep says in sentences: where curves part, what exceeds a bound and why, what integers and float16 do to fusion."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine import formatting
from engine.comparison import ComparisonRow, compare_run, number
from engine.result import Measurement, Run
from engine.sweep.points import Series, SweepPoint, points_of, variants_of
from engine.verdict import Verdict

MANY_FAULTS = 100
"""Page faults per call from which on they are worth a word: 100 take some tens of microseconds."""
WRITE_ALLOCATE = 1.1
"""A CPU reads a line before it writes it: 11N/5N transfers instead of 8N/4N (METHOD 2.7)."""
SEPARATE_OUT, ADDCMUL_OUT = "kernel-fusion/separate-out", "kernel-fusion/addcmul-out"
EXPLAINED_BY = {"traffic": "traffic", "launches": "fewer launches"}
UNTOLD = "this run does not tell why"
AS_WRITTEN, WEIGHTS_OUTSIDE = "numpy-dot-as-written", "numpy-dot"


def where_curves_part(points: Sequence[SweepPoint], variant: str) -> str | None:
    """At which sizes a variant is faster, slower or neither, by their verdicts; numbers alone where there are none (quick runs).

    With what the baseline pays in page faults where the difference is largest. None without any compared point.
    """
    line = [point for point in points if point.row.variant == variant and point.row.speedup]
    if not line:
        return None
    name = line[0].row.label
    if len(line) == 1:
        return f"{name}: {_at(points, line[0])}."
    if not any(point.row.verdict.is_statistical for point in line):
        words = dict.fromkeys(p.row.verdict.value for p in line if p.row.verdict is not Verdict.NO_VERDICT)
        told = f" ({', '.join(words)})" if words else ""
        return f"{name}: from {_at(points, min(line, key=_estimate))} to {_at(points, max(line, key=_estimate))}{told}."
    said = list(_by_verdict(points, line)) or ["not shown to be faster or slower at any of the measured sizes."]
    return f"{name}: {' '.join([said[0], *(f'{each[0].upper()}{each[1:]}' for each in said[1:])])}"


def _by_verdict(points: Sequence[SweepPoint], line: Sequence[SweepPoint]) -> Iterator[str]:
    faster, slower, same = (
        [point for point in line if point.row.verdict is verdict]
        for verdict in (Verdict.FASTER, Verdict.SLOWER, Verdict.NO_DIFFERENCE)
    )
    if faster:
        yield f"faster at {_sizes(faster, line)}; {_at(points, max(faster, key=_estimate))}."
    if slower:
        yield f"slower at {_sizes(slower, line)}; {_at(points, min(slower, key=_estimate))}."
    if same:
        yield f"no measurable difference at {_sizes(same, line)}."


def _at(points: Sequence[SweepPoint], point: SweepPoint) -> str:
    return f"{number(point.row)} at {formatting.bytes_(point.array_bytes)}{_faults(points, point)}"


def beyond_bounds(run: Run, rows: Sequence[ComparisonRow], series: Series) -> list[str]:
    """A sentence for every size and bound that a speed-up exceeds, traffic first: what the rest is, and what shows it."""
    points = points_of(run, rows, series)
    beyond: dict[tuple[int, str], list[SweepPoint]] = {}
    for point in points:
        if point.exceeds_bound and point.bound_by:
            beyond.setdefault((point.array_bytes, point.bound_by), []).append(point)
    if not beyond:
        return []
    has_buffers = any(row.variant == SEPARATE_OUT for row in rows)
    without_allocation = points_of(run, compare_run(run, SEPARATE_OUT), series) if has_buffers else []
    groups = sorted(beyond.items(), key=lambda pair: pair[0][1] != "traffic")
    return [_explained(max(group, key=_estimate), points, without_allocation) for _, group in groups]


def _explained(point: SweepPoint, points: Sequence[SweepPoint], without: Sequence[SweepPoint]) -> str:
    """The largest speed-up beyond a bound at one size, and what is left of it where nothing is allocated."""
    why, faults = EXPLAINED_BY[point.bound_by or "traffic"], _faults(points, point)
    said = (
        f"At {formatting.bytes_(point.array_bytes)}, {point.row.label} is {number(point.row)}, more than the "
        f"{formatting.speedup(point.bound)} that {why} can explain{faults}"
    )
    proof = next((other for other in without if _proves(other, point)), None)
    if proof is None:
        return (
            f"{said}; whether those pages are the reason, this run does not tell." if faults else f"{said}; {UNTOLD}."
        )
    more = f"still more than {why} can explain, and {UNTOLD}"
    allowance = WRITE_ALLOCATE if point.bound_by == "traffic" else 1.0
    rest = f"no more than {why} can explain" if _estimate(proof) <= allowance * (point.bound or 0.0) else more
    return f"{said}. With all results in buffers, what is left of it is {number(proof.row)}: {rest}."


def _proves(other: SweepPoint, point: SweepPoint) -> bool:
    """Whether `other` is the same size without any allocation on either side."""
    return other.array_bytes == point.array_bytes and other.row.variant == ADDCMUL_OUT and other.row.speedup is not None


def in_cache(points: Sequence[SweepPoint], bandwidth: float | None) -> str | None:
    """What may explain rates above the measured bandwidth, where there are any: a cache, if it can hold what was touched."""
    above = [point for point in points if bandwidth and point.bytes_per_s and point.bytes_per_s > bandwidth]
    cached = [point.array_bytes for point in above if point.is_in_memory is False]
    unknown = [point.array_bytes for point in above if point.is_in_memory is None]
    rates = f"Rates above the measured {formatting.rate(bandwidth, 'B/s')} up to"
    said = []
    if cached:
        said.append(
            f"{rates} {formatting.bytes_(max(cached))} can come from the caches: what a call touches is less than four "
            "last-level ones."
        )
    if unknown:
        said.append(f"{rates} {formatting.bytes_(max(unknown))} may come from caches, whose size is not known here.")
    for point in above:
        if point.is_in_memory:
            where = f"{point.row.label} at {formatting.bytes_(point.array_bytes)}"
            said.append(f"{where} shows {formatting.fraction(point.bandwidth_share)}: {_why(point)}.")
    return " ".join(said) or None


def _why(point: SweepPoint) -> str:
    """Where a rate above the measured bandwidth may come from, of work that is too large for the caches."""
    if (point.started or 0) > 1:
        return "intermediate results may have been read back from the last cache just after they were written"
    return f"memory answered faster than when its bandwidth was measured, and {UNTOLD}"


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


def _estimate(point: SweepPoint) -> float:
    return point.row.speedup.estimate if point.row.speedup else 0.0


def _sizes(some: Sequence[SweepPoint], line: Sequence[SweepPoint]) -> str:
    if len(some) == len(line):
        return "every measured size"
    if list(some) == list(line)[-len(some) :]:
        return f"{formatting.bytes_(some[0].array_bytes)} and above"
    if len(some) > 1 and list(some) == list(line)[: len(some)]:
        return f"{formatting.bytes_(some[-1].array_bytes)} and below"
    return ", ".join(formatting.bytes_(point.array_bytes) for point in some)


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
    if series.operator != "addcmul":
        for variant in variants_of(points):
            if parting := where_curves_part(points, variant):
                yield parting
    yield from beyond_bounds(run, rows, series)
    if cached := in_cache(points, run.limits.bandwidth_bytes_per_s if run.limits else None):
        yield cached
