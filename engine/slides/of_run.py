"""The screens of one run: lengths and sizes first where it has several, then one workload from the verdict to the proof."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine import captions, catalog
from engine.comparison import ComparisonRow
from engine.dynamic_shapes import story
from engine.dynamic_shapes.stream import streams
from engine.dynamic_shapes.table import serves_lengths
from engine.headline import leading_row
from engine.result import Run
from engine.slides.claims import claims_slide
from engine.slides.of_pitfalls import TECHNIQUE, pitfall_slides
from engine.slides.one_workload import workload_slides
from engine.slides.slide import Drawing, Slide
from engine.spec import Workload
from engine.sweep.points import Series, cache_marks, points_of, series_in
from engine.sweep.words import AS_WRITTEN, article_example, sentences


def run_slides(
    run: Run, rows: Sequence[ComparisonRow], technique: str | None = None, workload: Workload | None = None
) -> list[Slide]:
    """Every screen of a finished run, the leading row of `technique` first; `workload` is the one to show in full."""
    own = [row for row in rows if not row.is_twin]
    if leading_row(own) is None:
        return []
    if any(row.technique == TECHNIQUE for row in own):
        return pitfall_slides(run)
    chosen = workload or _usual_workload(run, own)
    claims = [claim for claim in catalog.CLAIMS if claim.technique == technique]
    return [
        *_length_slides(run, own, rows),
        *_size_slides(run, rows),
        *workload_slides(run, [row for row in own if row.workload == chosen], technique),
        *claims_slide(captions.of_run(run), claims, [(run, rows)]),
    ]


def _usual_workload(run: Run, rows: Sequence[ComparisonRow]) -> Workload:
    """The first point; of a sweep the largest size of its first series, where memory is the limit."""
    for series in series_in(rows):
        points = points_of(run, rows, series)
        if points:
            return points[-1].row.workload
    return next(iter(rows)).workload


def _length_slides(run: Run, variants: Sequence[ComparisonRow], rows: Sequence[ComparisonRow]) -> Iterator[Slide]:
    if not serves_lengths(rows):
        return
    found = streams(run, rows)
    answered = [row for row in found if not row.is_twin]

    def draw_stream() -> Drawing:
        from engine.charts import stream_bars

        return stream_bars.stream_bars(answered), stream_bars.alt_text(answered)

    def draw_curves() -> Drawing:
        from engine.charts import length_curves

        return length_curves.length_curves(variants), length_curves.alt_text(variants)

    stamp = captions.of_lengths(run)
    if found:
        yield Slide("stream", story.sentence(rows, found), stamp, draw_stream)
    yield Slide("lengths", story.sentence(rows, []), stamp, draw_curves)


def _size_slides(run: Run, rows: Sequence[ComparisonRow]) -> Iterator[Slide]:
    example = article_example([row for row in rows if not row.is_twin])
    if example:
        yield _bars(run, "example", example, [row for row in rows if row.workload.operator == AS_WRITTEN])
    for series in series_in(rows):
        points = points_of(run, rows, series)
        if len({point.array_bytes for point in points}) > 1:
            yield _sweep(run, rows, series)


def _bars(run: Run, key: str, sentence: str, rows: Sequence[ComparisonRow]) -> Slide:
    shown = [row for row in rows if not row.is_twin]

    def draw() -> Drawing:
        from engine.charts import speedup_bars

        return speedup_bars.speedup_bars(shown), speedup_bars.alt_text(shown)

    return Slide(key, sentence, captions.of_chart(run, shown[0].workload), draw)


def _sweep(run: Run, rows: Sequence[ComparisonRow], series: Series) -> Slide:
    points = points_of(run, rows, series)

    def draw() -> Drawing:
        from engine.charts import speedup_sweep

        return speedup_sweep.speedup_sweep(points, cache_marks(run, series)), speedup_sweep.alt_text(points)

    said = next(sentences(run, rows, series), f"{series.card.label}: no speed-up may be shown.")
    stamp = captions.SEPARATOR.join((series.card.label, series.dtype, captions.of_run(run)))
    return Slide(f"sizes {series.operator} {series.dtype} {series.operations}", said, stamp, draw)
