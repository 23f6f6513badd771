"""The whole result of one run as one HTML file: every chart, every table, the environment and the commands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pandas as pd

from engine import captions
from engine.catalog import pitfalls
from engine.comparison import ComparisonRow, compare_run, sentence
from engine.cost_table import cost_table
from engine.dynamic_shapes import story
from engine.dynamic_shapes.stream import streams
from engine.dynamic_shapes.table import graphs_by_order, lengths_table, serves_lengths, stalls_by_order, streams_table
from engine.evidence_table import PROVEN, evidence_table
from engine.exports.markup import escaped, figure_markup, standalone, table_markup
from engine.frames import at_workload, samples_frame
from engine.pitfalls import headline, lessons
from engine.reproduce import command
from engine.result import Run
from engine.second_look import changes, flat_latencies
from engine.spec import Workload


def html_report(run: Run) -> str:
    """The whole result of one run as a standalone HTML page, plotly's code included."""
    rows = compare_run(run)
    again = ("<h2>The same from a terminal</h2>", *commands(run, rows))
    measured_on = ("<h2>Measured on</h2>", *environment(run))
    parts = (*_pitfalls(run, rows), *_lengths(run, rows), *_points(run, rows))
    return standalone(_title(run), (*_head(run), *parts, *measured_on, *again))


def _title(run: Run) -> str:
    return f"Latency Lab: {run.label or captions.of_workload(run.experiment.workloads[0])}"


def _head(run: Run) -> Iterator[str]:
    yield f"<h1>{escaped(_title(run))}</h1>"
    yield f'<p class="caption">{escaped(captions.of_run(run))}</p>'
    yield from (f"<p>{escaped(words)}</p>" for words in (run.note, run.message) if words)


def _lengths(run: Run, rows: Sequence[ComparisonRow]) -> Iterator[str]:
    """What is about all lengths together, where one process served several."""
    if not serves_lengths(rows):
        return
    from engine.charts import length_curves, stream_bars

    variants, found = [row for row in rows if not row.is_twin], streams(run, rows)
    yield f"<h2>{escaped(story.sentence(rows, found))}</h2>"
    if found:
        yield f"<p>{escaped(story.caveat(found))}</p>"
        answered = [row for row in found if not row.is_twin]
        yield figure_markup(stream_bars.stream_bars(answered, captions.of_lengths(run)), stream_bars.alt_text(answered))
        yield table_markup(streams_table(found))
    curves = length_curves.length_curves(variants, captions.of_lengths(run))
    yield figure_markup(curves, length_curves.alt_text(variants))
    yield from (table_markup(make(variants)) for make in (graphs_by_order, stalls_by_order, lengths_table))


def _pitfalls(run: Run, rows: Sequence[ComparisonRow]) -> Iterator[str]:
    """What mistaken loops reported, where some were run."""
    if not any(row.technique == pitfalls.TECHNIQUE.key for row in rows):
        return
    from engine.charts import pitfall_errors

    found = lessons(run)
    yield f"<h2>{escaped(headline(found))}</h2>"
    figure = pitfall_errors.pitfall_errors(found, pitfalls.TECHNIQUE.colour, captions.of_run(run))
    yield figure_markup(figure, pitfall_errors.alt_text(found))
    told = [(each.pitfall.title, each.pitfall.mistake, each.pitfall.rule, each.pitfall.injected) for each in found]
    columns = ["pitfall", "mistake", "rule", "put there on purpose"]
    yield table_markup(pd.DataFrame(told, columns=columns).fillna("nothing"))


def _points(run: Run, rows: Sequence[ComparisonRow]) -> Iterator[str]:
    yield from (f"<p>{escaped(words)}</p>" for words in flat_latencies(rows))
    samples = samples_frame([run])
    for workload in dict.fromkeys(row.workload for row in rows):
        here = [row for row in rows if row.workload == workload]
        yield f"<h2>{escaped(captions.of_workload(workload))}</h2>"
        yield from (f"<p>{escaped(sentence(row))}</p>" for row in here if not row.is_twin)
        yield from (f"<p>{escaped(words)}</p>" for words in changes(here))
        yield from _figures(run, workload, here, at_workload(samples, workload))
        yield from _tables(run, here)


def _figures(run: Run, workload: Workload, rows: Sequence[ComparisonRow], samples: pd.DataFrame) -> Iterator[str]:
    from engine.charts import calls_curve, latency_boxes, latency_ecdf, speedup_bars, total_time

    subtitle = captions.of_chart(run, workload)
    yield figure_markup(speedup_bars.speedup_bars(rows, subtitle), speedup_bars.alt_text(rows))
    measured = [row for row in rows if row.samples and not row.is_twin]
    if not measured:
        return
    variants = [row.variant for row in measured]
    yield figure_markup(
        latency_boxes.latency_boxes(samples, variants, subtitle), latency_boxes.alt_text(samples, variants)
    )
    yield figure_markup(
        latency_ecdf.latency_ecdf(samples, variants, subtitle), latency_ecdf.alt_text(samples, variants)
    )
    yield figure_markup(calls_curve.calls_curve(samples, variants, subtitle), calls_curve.alt_text(samples, variants))
    yield figure_markup(total_time.total_time(measured, subtitle), total_time.alt_text(measured))


def _tables(run: Run, rows: Sequence[ComparisonRow]) -> Iterator[str]:
    measured = [row for row in rows if row.samples]
    if measured:
        yield f"<h3>What it costs</h3>{table_markup(cost_table(measured))}"
        yield f"<h3>Did it really happen?</h3>{table_markup(evidence_table(run, measured))}"
    yield "<h3>Can I trust this?</h3>"
    for row in measured:
        checks = [(PROVEN[check.passed], check.title, check.detail, check.meaning) for check in row.checks]
        found = pd.DataFrame(checks, columns=["passed", "check", "what was seen", "what it means"])
        dots = ", ".join(f"{ratio:.3f}x" for ratio in row.process_ratios)
        seen = f"<p>Speed-up of each process set: {dots}</p>" if dots else ""
        yield f"<details><summary>{escaped(row.label)}: {escaped(row.verdict)}</summary>{table_markup(found)}{seen}</details>"


def environment(run: Run) -> Iterator[str]:
    """Device, system and versions of a run, as a table."""
    if run.environment is None:
        yield "<p>Nothing was measured.</p>"
        return
    machine, device = run.environment.machine, run.environment.device
    lines = {
        "device": f"{device.name} ({device.key})",
        "driver": device.driver,
        "CPU": f"{machine.cpu_model}, {machine.physical_cores} cores, {machine.usable_cores} usable",
        "system": machine.system,
        "threads": run.environment.threads,
        "matmul precision": run.environment.matmul_precision,
        **machine.versions,
        **run.environment.variables,
        "fingerprint": run.environment.fingerprint,
    }
    yield table_markup(
        pd.DataFrame([(name, "-" if value is None else str(value)) for name, value in lines.items()]), header=False
    )


def commands(run: Run, rows: Iterable[ComparisonRow]) -> Iterator[str]:
    """The command lines that measure these rows again."""
    commands = dict.fromkeys(command(run, row) for row in rows if not row.is_twin)
    yield from (f"<code>{escaped(line)}</code>" for line in commands)
