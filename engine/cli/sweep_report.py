"""Operators in many sizes on the command line: traffic, bounds and allocations, sentences, and the article's claims on them."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from rich.table import Table
from rich.text import Text

from engine.catalog import CLAIMS
from engine.cli.console import OUT, say
from engine.comparison import ComparisonRow, claim_verdict
from engine.formatting import rate
from engine.result import Run
from engine.sweep.points import points_of, series_in
from engine.sweep.table import sweep_table
from engine.sweep.words import article_example, notes_of, overflows, sentences

COLUMNS = (
    "size of the result",
    "variant",
    "speed-up",
    "bound",
    "moved per second",
    "of measured bandwidth",
    "page faults",
    "allocated",
)


def show_sweeps(run: Run, rows: Sequence[ComparisonRow]) -> None:
    """For every operator of the run; nothing for a run of models alone."""
    swept = series_in(rows)
    if not swept:
        return
    if run.limits and run.limits.bandwidth_bytes_per_s:
        say(f"Memory bandwidth, measured in this run: {rate(run.limits.bandwidth_bytes_per_s, 'B/s')}.")
    for series in swept:
        points = points_of(run, rows, series)
        if points:
            _show_table(f"{series.card.label}, {series.dtype}", sweep_table(points))
        for sentence in sentences(run, rows, series):
            say(sentence)
    for told in (article_example(rows), *notes_of(run), *overflows(rows)):
        if told:
            say(told)
    _show_claims(rows)


def _show_table(title: str, lines: pd.DataFrame) -> None:
    say(title)
    table = Table(*COLUMNS)
    for line in lines[list(COLUMNS)].itertuples(index=False):
        table.add_row(*map(Text, line))
    OUT.print(table)


def _show_claims(rows: Sequence[ComparisonRow]) -> None:
    techniques = {row.technique for row in rows if row.workload.operator}
    for claim in CLAIMS:
        if claim.technique in techniques:
            judged = claim_verdict(claim, rows)
            say(f"The article says {claim.figure or 'no figure'}: {judged.word.value}; {judged.reason}.")
