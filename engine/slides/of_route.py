"""The screens of the whole route: all steps at once, what stacking adds, each step's calls, what to do, the claims."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine import captions, catalog
from engine.advice import advise
from engine.comparison import ComparisonRow, compare_run, sentence, short
from engine.headline import leading_row
from engine.journey import Step, leader, route_rows, rungs
from engine.result import Run
from engine.slides.claims import Results, claims_slide
from engine.slides.one_workload import latency_slide, price_slide, verdict_slide
from engine.slides.slide import Slide


def route_slides(steps: Sequence[Step], results: Results) -> list[Slide]:
    """From all steps to the advice; claims are judged by all `results`, as on the page. Empty where nothing was measured."""
    rows, runs = route_rows(steps), runs_behind(steps)
    lead = leader(steps)
    if lead is None or not runs:
        return []
    run = runs[0]
    stamp = captions.SEPARATOR.join((captions.of_workload(lead.workload), captions.of_runs(runs)))
    every_row = next((rows for each, rows in results if each.id == run.id), ())
    here = [row for row in every_row if row.workload == lead.workload and not row.is_twin]
    return [
        verdict_slide(lead, rows, stamp, "route"),
        *_stacked(run),
        *_each_step(steps),
        *price_slide(lead, [row for row in here if row.samples], captions.of_chart(run, lead.workload), advice(here)),
        *claims_slide(captions.of_runs([each for each, _ in results]), catalog.CLAIMS, results),
    ]


def runs_behind(steps: Sequence[Step]) -> list[Run]:
    """Every run that a step's row comes from, once; the one of the leading row first."""
    lead = leader(steps)
    first = [step.run for step in steps if lead in step.rows and step.run]
    return list({run.id: run for run in (*first, *(step.run for step in steps if step.run))}.values())


def advice(rows: Sequence[ComparisonRow]) -> str:
    """What to do, in one sentence, from the rows of one workload."""
    found = advise(rows)
    if found.best is None:
        return found.without_best
    lower = (
        f"; in lower precision {found.lower_precision.label}: {short(found.lower_precision)}"
        if found.lower_precision
        else ""
    )
    return f"Use {found.best.label} here: {short(found.best)}{lower}."


def _stacked(run: Run) -> Iterator[Slide]:
    shown = rungs(run)
    if shown:
        best = leading_row(shown) or shown[0]
        slide = verdict_slide(best, shown, captions.of_chart(run, best.workload), "stacked")
        yield Slide(slide.key, f"What stacking adds: {sentence(best)}", slide.stamp, slide.draw)


def _each_step(steps: Sequence[Step]) -> Iterator[Slide]:
    """Single calls of every step that was measured, beside those of what it is divided by."""
    for step in steps:
        for place, row in enumerate(step.rows, start=1):
            if step.run and not row.is_baseline and row.samples:
                yield _step(row, step.run, f"step {row.technique}" if place == 1 else f"step {row.technique} {place}")


def _step(row: ComparisonRow, run: Run, key: str) -> Slide:
    at_point = [other for other in compare_run(run) if other.workload == row.workload and other.samples]
    pair = [other for other in at_point if other.variant in (row.baseline, row.variant) and not other.is_twin]
    return latency_slide(run, row, pair, key, sentence(row))
