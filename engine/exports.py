"""A run taken along: a Markdown table, and one HTML file with every chart that opens with no network.

All text from outside (labels, notes, model names, messages) is escaped. plotly is imported only when a report is made.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Sequence

import pandas as pd

from engine import captions
from engine.comparison import ComparisonRow, compare_run, number, sentence
from engine.cost_table import break_even, cost_table, percentile
from engine.dynamic_shapes import story
from engine.dynamic_shapes.stream import streams
from engine.dynamic_shapes.table import graphs_by_order, lengths_table, serves_lengths, stalls_by_order, streams_table
from engine.evidence_table import PROVEN, evidence_table
from engine.formatting import seconds
from engine.frames import at_workload, samples_frame
from engine.reproduce import command
from engine.result import Run
from engine.spec import Workload

MARKDOWN_COLUMNS = (
    "What", "Workload", "Speed-up", "Verdict", "Median", "p95", "Set-up, empty cache", "Set-up, warm cache", "Pays back", "Notes",
)  # fmt: skip
STYLE = """
body { font: 16px/1.5 "Source Sans 3", "Segoe UI", "Helvetica Neue", sans-serif; color: #1B2430; background: #FFFFFF;
       max-width: 1100px; margin: 2rem auto; padding: 0 1rem; }
h1, h2, h3 { font-weight: 650; line-height: 1.25; } h2 { margin-top: 2.5rem; } .caption { color: #5A6675; }
table { border-collapse: collapse; margin: 1rem 0; font-size: 14px; } th, td { text-align: left; vertical-align: top;
       padding: .35rem .8rem .35rem 0; border-bottom: 1px solid #E3E7EC; }
figure { margin: 1.5rem 0; } code { background: #F4F6F8; padding: .5rem; display: block; overflow-x: auto; }
details { margin: .75rem 0; } summary { cursor: pointer; } @media print { figure, table { break-inside: avoid; } }
"""


def markdown_table(rows: Sequence[ComparisonRow]) -> str:
    """The rows as a GitHub table, twins included; device and date stand under it."""
    lines = [MARKDOWN_COLUMNS, ("---",) * len(MARKDOWN_COLUMNS), *(_markdown_cells(row) for row in rows)]
    table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    origins = dict.fromkeys(
        f"{row.device_name}, {row.protocol} protocol, measured {captions.moment(row.measured_at)}" for row in rows
    )
    return f"{table}\n\n" + "\n".join(_escape_markdown(origin) for origin in origins) + "\n"


def html_report(run: Run) -> str:
    """The whole result of one run as a standalone HTML page, plotly's code included."""
    rows = compare_run(run)
    return standalone(
        _title(run), (*_head(run), *_lengths(run, rows), *_points(run, rows), *_environment(run), *_commands(run, rows))
    )


def standalone(title: str, body: Iterable[str]) -> str:
    """Markup as one HTML file that opens with no network: styles and plotly's code are inside."""
    from plotly.offline import get_plotlyjs

    content = "\n".join(body)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{_text(title)}</title><style>{STYLE}</style>"
        f"<script>{get_plotlyjs()}</script></head>\n<body>\n{content}\n</body></html>\n"
    )


def _markdown_cells(row: ComparisonRow) -> tuple[str, ...]:
    cells = (
        row.label,
        captions.of_workload(row.workload),
        "baseline" if row.is_baseline else number(row),
        row.verdict.value,
        seconds(row.median_s),
        percentile(row.p95, row.percentile_note),
        seconds(row.setup_cold_s),
        seconds(row.setup_warm_s),
        break_even(row.break_even_cold),
        "; ".join(filter(None, (*(badge.text for badge in row.badges), row.reason))),
    )
    return tuple(map(_escape_markdown, cells))


def _escape_markdown(text: str) -> str:
    """Text that a Markdown renderer shows as it stands: no table, no link, no HTML, no formula."""
    escaped = "".join("\\" + character if character in "\\`*_[]|~$!#" else character for character in text)
    return html.escape(" ".join(escaped.split()), quote=False)


def _title(run: Run) -> str:
    return f"Latency Lab: {run.label or captions.of_workload(run.experiment.workloads[0])}"


def _head(run: Run) -> Iterator[str]:
    yield f"<h1>{_text(_title(run))}</h1>"
    yield f'<p class="caption">{_text(captions.of_run(run))}</p>'
    yield from (f"<p>{_text(text)}</p>" for text in (run.note, run.message) if text)


def _lengths(run: Run, rows: Sequence[ComparisonRow]) -> Iterator[str]:
    """What is about all lengths together, where one process served several."""
    if not serves_lengths(rows):
        return
    from engine.charts import length_curves, stream_bars

    variants, found = [row for row in rows if not row.is_twin], streams(run, rows)
    yield f"<h2>{_text(story.sentence(rows, found))}</h2>"
    if found:
        yield f"<p>{_text(story.caveat(found))}</p>"
        answered = [row for row in found if not row.is_twin]
        yield figure_markup(stream_bars.stream_bars(answered, captions.of_lengths(run)), stream_bars.alt_text(answered))
        yield _table(streams_table(found))
    curves = length_curves.length_curves(variants, captions.of_lengths(run))
    yield figure_markup(curves, length_curves.alt_text(variants))
    yield from (_table(table(variants)) for table in (graphs_by_order, stalls_by_order, lengths_table))


def _points(run: Run, rows: Sequence[ComparisonRow]) -> Iterator[str]:
    samples = samples_frame([run])
    for workload in dict.fromkeys(row.workload for row in rows):
        here = [row for row in rows if row.workload == workload]
        yield f"<h2>{_text(captions.of_workload(workload))}</h2>"
        yield from (f"<p>{_text(sentence(row))}</p>" for row in here if not row.is_twin)
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


def figure_markup(figure: object, alt: str) -> str:
    """A chart as markup for `standalone`; `alt` is what a screen reader says."""
    from plotly.io import to_html

    drawn = to_html(figure, full_html=False, include_plotlyjs=False, config={"displaylogo": False, "responsive": True})
    return f'<figure role="img" aria-label="{html.escape(alt)}">{drawn}</figure>'


def _tables(run: Run, rows: Sequence[ComparisonRow]) -> Iterator[str]:
    measured = [row for row in rows if row.samples]
    if measured:
        yield f"<h3>What it costs</h3>{_table(cost_table(measured))}"
        yield f"<h3>Did it really happen?</h3>{_table(evidence_table(run, measured))}"
    yield "<h3>Can I trust this?</h3>"
    for row in measured:
        checks = [(PROVEN[check.passed], check.title, check.detail, check.meaning) for check in row.checks]
        table = pd.DataFrame(checks, columns=["passed", "check", "what was seen", "what it means"])
        dots = ", ".join(f"{ratio:.3f}x" for ratio in row.process_ratios)
        seen = f"<p>Speed-up of each process set: {dots}</p>" if dots else ""
        yield f"<details><summary>{_text(row.label)}: {_text(row.verdict)}</summary>{_table(table)}{seen}</details>"


def _environment(run: Run) -> Iterator[str]:
    yield "<h2>Measured on</h2>"
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
    yield _table(
        pd.DataFrame([(name, "-" if value is None else str(value)) for name, value in lines.items()]), header=False
    )


def _commands(run: Run, rows: Iterable[ComparisonRow]) -> Iterator[str]:
    yield "<h2>The same from a terminal</h2>"
    commands = dict.fromkeys(command(run, row) for row in rows if not row.is_twin)
    yield from (f"<code>{_text(line)}</code>" for line in commands)


def _table(frame: pd.DataFrame, header: bool = True) -> str:
    markup: str = frame.to_html(index=False, header=header, border=0, escape=True, na_rep="-")
    return markup


def _text(text: str) -> str:
    return html.escape(text)
