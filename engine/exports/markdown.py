"""Rows as a Markdown table, for chats, issues and wikis."""

from __future__ import annotations

import html
from collections.abc import Sequence

from engine import captions
from engine.comparison import ComparisonRow, number
from engine.cost_table import break_even, percentile
from engine.formatting import seconds

MARKDOWN_COLUMNS = (
    "What", "Workload", "Speed-up", "Verdict", "Median", "p95", "Set-up, empty cache", "Set-up, warm cache", "Pays back", "Notes",
)  # fmt: skip


def markdown_table(rows: Sequence[ComparisonRow]) -> str:
    """The rows as a GitHub table, twins included; device and date stand under it."""
    lines = [MARKDOWN_COLUMNS, ("---",) * len(MARKDOWN_COLUMNS), *(_markdown_cells(row) for row in rows)]
    table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    origins = dict.fromkeys(
        f"{row.device_name}, {row.protocol} protocol, measured {captions.moment(row.measured_at)}" for row in rows
    )
    return f"{table}\n\n" + "\n".join(_escape_markdown(origin) for origin in origins) + "\n"


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
