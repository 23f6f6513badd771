"""The whole route as one HTML file for a meeting: bars, claims, what to do, distributions, costs, proofs, environment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine import captions, catalog
from engine.comparison import ComparisonRow
from engine.cost_table import cost_table
from engine.exports.markup import escaped, figure_markup, standalone, table_markup
from engine.exports.report import commands, environment
from engine.frames import at_workload, samples_frame
from engine.journey import Step, leader, rows_beside
from engine.result import Run
from engine.slides import Results, Slide, advice, advice_table, claims_table, route_slides, runs_behind
from engine.slides.one_workload import proofs_table
from engine.spec import Workload

TITLE = "Latency Lab: meeting pack"


def meeting_pack(steps: Sequence[Step], results: Results) -> str:
    """The steps' results as a standalone page, plotly's code included once; without any result it says so.

    `results` are the runs that the steps and the claims were taken from, in the order they are asked: the page's, or the files'.
    """
    return standalone(TITLE, _body(steps, results))


def _body(steps: Sequence[Step], results: Results) -> Iterator[str]:
    runs = runs_behind(steps)
    rows = {run.id: rows for run, rows in results}
    yield f"<h1>{TITLE}</h1>"
    if not runs:
        yield "<p>Nothing has been measured yet.</p>"
        return
    yield f'<p class="caption">{escaped(captions.of_runs(runs))}</p>'
    yield from _route(steps, route_slides(steps, results))
    yield from _advice(steps, results)
    yield f"<h2>The claims board</h2>{table_markup(claims_table(catalog.CLAIMS, results))}"
    told = f"Claims from {catalog.CLAIMS[0].source}; judged by runs of {captions.of_runs([run for run, _ in results])}."
    yield f'<p class="caption">{escaped(told)}</p>'
    for run, workload in _points(steps):
        yield from _point(run, workload, [row for row in rows[run.id] if row.workload == workload and not row.is_twin])
    for run in runs:
        yield f"<h2>Environment: {escaped(captions.of_run(run))}</h2>"
        yield from environment(run)
        yield "<h3>The same from a terminal</h3>"
        yield from commands(run, [step.row for step in steps if step.row and step.run is run])


def _route(steps: Sequence[Step], slides: Sequence[Slide]) -> Iterator[str]:
    """The slides with their pictures, in their order; tables have places of their own further down."""
    from engine.charts.projector import stamped

    missing = [step.technique.title for step in steps if step.row is None]
    for place, slide in enumerate(slides):
        if slide.draw is not None:
            figure, alt = slide.draw()
            yield f'<p class="lead">{escaped(slide.sentence)}</p>'
            yield figure_markup(stamped(figure, slide.stamp), f"{alt} {slide.stamp}")
        if place == 0 and missing:
            yield f'<p class="caption">Not measured: {escaped(", ".join(missing))}.</p>'


def _advice(steps: Sequence[Step], results: Results) -> Iterator[str]:
    lead = leader(steps)
    rows = rows_beside(lead, steps, results) if lead else []
    table = advice_table(rows)
    yield f'<h2>What to do here</h2><p class="lead">{escaped(advice(rows))}</p>'
    if not table.empty:
        yield table_markup(table)


def _points(steps: Sequence[Step]) -> list[tuple[Run, Workload]]:
    """Every run and workload that a step speaks of, once."""
    pairs = {(step.run.id, step.row.workload): (step.run, step.row.workload) for step in steps if step.run and step.row}
    return list(pairs.values())


def _point(run: Run, workload: Workload, rows: Sequence[ComparisonRow]) -> Iterator[str]:
    """Calls, costs and proofs of every variant at one workload."""
    known = [row for row in rows if row.samples]
    if not known:
        return
    from engine.charts import latency_ecdf

    stamp = captions.of_chart(run, workload)
    yield f'<h2>{escaped(captions.of_workload(workload))}</h2><p class="caption">{escaped(captions.of_run(run))}</p>'
    samples, variants = at_workload(samples_frame([run]), workload), [row.variant for row in known]
    yield figure_markup(latency_ecdf.latency_ecdf(samples, variants, stamp), latency_ecdf.alt_text(samples, variants))
    yield f"<h3>What it costs</h3>{table_markup(cost_table(known))}"
    yield f"<h3>Did it really happen?</h3>{table_markup(proofs_table(known))}"
