"""Total time of the request stream: what was answering and what was waiting for the compiler, one bar per variant."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from engine import formatting
from engine.charts import theme
from engine.charts.scale import Scale, time_scale
from engine.dynamic_shapes.stream import StreamRow

BAR_WIDTH = 0.5
STALL_OPACITY = 0.45
ROOM_FOR_WORDS = 1.6
REASON_WIDTH = 46
ANSWERING, STALLS = "answering", "stalls: waiting for the compiler"


def stream_bars(rows: Sequence[StreamRow], subtitle: str = "") -> go.Figure:
    """Horizontal bars in the rows' order; a total that is no result of its variant is drawn open, with the reason."""
    scale = time_scale(max((row.total_s or 0.0 for row in rows), default=1.0))
    figure = theme.new_figure(title(rows), theme.rows_height(len(rows)), subtitle, wide=True)
    for position, row in enumerate(rows):
        if row.total_s is not None:
            _add_bars(figure, position, row, row.total_s, scale)
        theme.add_words(figure, (row.total_s or 0.0) / scale.factor, position, _words(row))
    theme.label_rows(figure, [row.label for row in rows])
    reach = max((row.total_s or 0.0 for row in rows), default=1.0) / scale.factor
    figure.update_xaxes(
        range=[0, reach * ROOM_FOR_WORDS], title=f"{scale.unit}, lower is better; hatched: stalls", zeroline=False
    )
    return figure.update_layout(barmode="stack")


def title(rows: Sequence[StreamRow]) -> str:
    """What the bars show, in words."""
    requests = formatting.count(max((row.requests for row in rows), default=0))
    return f"Time until {requests} requests were answered, stalls included"


def alt_text(rows: Sequence[StreamRow]) -> str:
    """The chart in words, row by row."""
    return f"{title(rows)}. " + "; ".join(f"{row.label}: {_spoken(row)}" for row in rows) + "."


def _add_bars(figure: go.Figure, position: int, row: StreamRow, total_s: float, scale: Scale) -> None:
    colour = theme.variant_style(row.variant).colour
    for name, seconds, opacity, pattern in (
        (ANSWERING, total_s - row.stall_s, 1.0, ""),
        (STALLS, row.stall_s, STALL_OPACITY, "/"),
    ):
        shown = theme.transparent(colour, opacity * (0.25 if row.problem else 1.0))
        figure.add_bar(
            x=[seconds / scale.factor], y=[position], orientation="h", width=BAR_WIDTH, name=name,
            marker={"color": shown, "line": {"color": colour, "width": 1}, "pattern": {"shape": pattern}},
            hovertext=theme.escaped(f"{row.label}, {name}: {formatting.seconds(seconds)}"), hoverinfo="text",
        )  # fmt: skip


def _words(row: StreamRow) -> str:
    lines = theme.wrapped(_spoken(row), REASON_WIDTH, 2)
    return "<br>".join([f"<b>{lines[0]}</b>" if row.total_s is not None and not row.problem else lines[0], *lines[1:]])


def _spoken(row: StreamRow) -> str:
    if row.total_s is None:
        return row.problem
    total = formatting.seconds(row.total_s)
    stalls = (
        f", of it {formatting.seconds(row.stall_s)} in {formatting.counted(row.stalls, 'stall')}" if row.stalls else ""
    )
    return f"{total}{stalls}" + (f"; {row.problem}" if row.problem else "")
