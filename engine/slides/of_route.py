"""The screens of the whole route: all steps at once, what stacking adds, each step's calls, what to do, the claims."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from engine import captions, catalog
from engine.comparison import ComparisonRow, sentence
from engine.headline import leading_row
from engine.journey import Step, leader, route_rows, rows_beside, rungs
from engine.result import Run
from engine.slides.advice import advice, advice_slide
from engine.slides.claims import Results, claims_slide
from engine.slides.one_workload import latency_slide, price_slide, verdict_slide
from engine.slides.slide import Slide


def route_slides(steps: Sequence[Step], results: Results) -> list[Slide]:
    """From all steps to the advice; claims are judged by all `results`, as on the page. Empty where nothing was measured.

    `results` hold every run that a step speaks of.
    """
    rows, runs = route_rows(steps), runs_behind(steps)
    lead = leader(steps)
    if lead is None or not runs:
        return []
    run, rows_of = runs[0], {each.id: measured for each, measured in results}
    stamp = captions.SEPARATOR.join((captions.of_workload(lead.workload), captions.of_runs(runs)))
    here = rows_beside(lead, steps, results)
    own = [row for row in rows_of[run.id] if row.workload == lead.workload and row.samples and not row.is_twin]
    chosen = list(advice_slide(here, stamp))
    return [
        verdict_slide(lead, rows, stamp, "route"),
        *_stacked(run),
        *_each_step(steps, rows_of),
        *price_slide(lead, own, captions.of_chart(run, lead.workload), "" if chosen else advice(here)),
        *chosen,
        *claims_slide(captions.of_runs([each for each, _ in results]), catalog.CLAIMS, results),
    ]


def runs_behind(steps: Sequence[Step]) -> list[Run]:
    """Every run that a step's row comes from, once; the one of the leading row first."""
    lead = leader(steps)
    first = [step.run for step in steps if lead in step.rows and step.run]
    return list({run.id: run for run in (*first, *(step.run for step in steps if step.run))}.values())


def _stacked(run: Run) -> Iterator[Slide]:
    shown = rungs(run)
    if shown:
        best = leading_row(shown) or shown[0]
        slide = verdict_slide(best, shown, captions.of_chart(run, best.workload), "stacked")
        yield Slide(slide.key, f"What stacking adds: {sentence(best)}", slide.stamp, slide.draw)


def _each_step(steps: Sequence[Step], rows_of: Mapping[str, Sequence[ComparisonRow]]) -> Iterator[Slide]:
    """Single calls of every step that was measured, beside those of what it is divided by."""
    for step in steps:
        for place, row in enumerate(step.rows, start=1):
            if step.run and not row.is_baseline and row.samples:
                key = f"step {row.technique}" if place == 1 else f"step {row.technique} {place}"
                yield _step(row, step.run, rows_of[step.run.id], key)


def _step(row: ComparisonRow, run: Run, rows: Sequence[ComparisonRow], key: str) -> Slide:
    at_point = [other for other in rows if other.workload == row.workload and other.samples]
    pair = [other for other in at_point if other.variant in (row.baseline, row.variant) and not other.is_twin]
    return latency_slide(run, row, pair, key, sentence(row))
