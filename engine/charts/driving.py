"""City driving against motorway: every stop of one call as a mark on its road, one road per variant."""

from __future__ import annotations

import math
from collections.abc import Sequence

import plotly.graph_objects as go

from engine.charts import theme
from engine.stops import Drive

MOST_MARKS = 150
"""More marks on one road cannot be told apart; each then stands for several stops, and the subtitle says so."""
ROOM_FOR_WORDS = 1.6
MARK_SIZE = 14


def driving(drives: Sequence[Drive], subtitle: str = "") -> go.Figure:
    """Roads in the order of `drives`, all of one length; marks spread evenly, since the profiler counts and does not place."""
    each = stops_per_mark(drives)
    figure = theme.new_figure(_title(drives, each), theme.rows_height(len(drives)), subtitle, wide=True)
    for position, drive in enumerate(drives):
        colour = theme.variant_style(drive.variant).colour
        figure.add_scatter(
            x=[0, 1], y=[position, position], mode="lines", hoverinfo="skip",
            line={"color": theme.transparent(colour, 0.35), "width": 5},
        )  # fmt: skip
        marks = round((drive.stops or 0) / each)
        figure.add_scatter(
            x=[(mark + 0.5) / marks for mark in range(marks)], y=[position] * marks, mode="markers",
            marker={"symbol": "line-ns", "size": MARK_SIZE, "line": {"color": colour, "width": 2}},
            hovertext=theme.escaped(f"{drive.label}: {drive.words}"), hoverinfo="text",
        )  # fmt: skip
        theme.add_words(figure, 1.0, position, "<br>".join(theme.wrapped(drive.words, 40, 2)))
    theme.label_rows(figure, [drive.label for drive in drives])
    figure.update_xaxes(range=[-0.01, ROOM_FOR_WORDS], showgrid=False, zeroline=False, showticklabels=False)
    return figure


def stops_per_mark(drives: Sequence[Drive]) -> int:
    """1 unless some road has more stops than can be drawn."""
    most = max((drive.stops or 0 for drive in drives), default=0)
    return max(1, math.ceil(most / MOST_MARKS))


def alt_text(drives: Sequence[Drive]) -> str:
    """The chart in words, road by road."""
    return f"{_title(drives, 1)}. " + "; ".join(f"{drive.label}: {drive.words}" for drive in drives) + "."


def _title(drives: Sequence[Drive], each: int) -> str:
    what = drives[0].what if drives else "operators"
    marks = f"; each mark stands for {each}" if each > 1 else ""
    return f"City driving or motorway: {what} that one call starts one by one, fewer is better{marks}"
