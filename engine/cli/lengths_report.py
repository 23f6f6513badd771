"""What a run over many lengths came to, on the terminal: graphs after each length, and the request stream."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from rich.table import Table
from rich.text import Text

from engine.cli.console import OUT, say
from engine.comparison import ComparisonRow
from engine.dynamic_shapes.story import caveat, sentence
from engine.dynamic_shapes.stream import streams
from engine.dynamic_shapes.table import orders_table, serves_lengths, streams_table
from engine.result import Run


def show_lengths(run: Run, rows: Sequence[ComparisonRow]) -> None:
    """The sentence and its tables; nothing for a run whose processes met one length each."""
    variants = [row for row in rows if not row.is_twin]
    if not serves_lengths(variants):
        return
    _show(orders_table(variants))
    found = streams(run, rows)
    if found:
        _show(streams_table(found))
        say(caveat(found))
    say(sentence(rows, found))


def _show(frame: pd.DataFrame) -> None:
    if frame.empty:
        return
    table = Table(*map(str, frame.columns))
    for cells in frame.itertuples(index=False):
        table.add_row(*(Text(str(cell)) for cell in cells))
    OUT.print(table)
