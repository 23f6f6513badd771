"""A chart for a projector: everything in it larger, the line that says where it comes from as wide as the screen."""

from __future__ import annotations

import re
from typing import Any

import plotly.graph_objects as go

from engine.charts import theme

SCREEN_HEIGHT = 760
"""Pixels left for a chart on 1920 x 1080 when sentence, foot and buttons have their place."""
MOST, LEAST = 1.9, 1.15
"""How much larger than on a page: more would leave no room for the words beside bars; less could not be read from the back."""
STAMP_WIDTH = 150
"""Characters of the stamp in one line at `MOST` times its size."""
_PIXELS = re.compile(r"font-size:(\d+)px")


def stamped(figure: go.Figure, stamp: str, width: int = theme.SUBTITLE_WIDTHS[True]) -> go.Figure:
    """A new figure with `stamp` (model, shape, device, versions, date) under its title, in lines of so many characters."""
    drawn = go.Figure(figure)
    lines = theme.wrapped(theme.in_whole_parts(stamp), width, 3)
    drawn.update_layout(title={"subtitle": {"text": "<br>".join(lines), "font": {"size": theme.SUBTITLE_SIZE}}})
    more = theme.SUBTITLE_LINE * len(lines)
    return drawn.update_layout(height=drawn.layout.height + more, margin={"t": drawn.layout.margin.t + more})


def enlarged(figure: go.Figure, stamp: str) -> go.Figure:
    """A new figure that fills a screen, `stamp` included."""
    drawn = stamped(figure, stamp, STAMP_WIDTH)
    factor = min(MOST, max(LEAST, SCREEN_HEIGHT / drawn.layout.height))
    height, top = drawn.layout.height, drawn.layout.margin.t
    _scale_layout(drawn, factor)
    _scale_traces(drawn, factor)
    return drawn.update_layout(
        height=max(SCREEN_HEIGHT, height * factor), margin={"t": top * factor, "r": 16 * factor, "b": 8 * factor}
    )


def _scale_layout(figure: go.Figure, factor: float) -> None:
    layout = figure.layout
    for font in (layout.font, layout.title.font, layout.title.subtitle.font, layout.legend.font):
        font.size = (font.size or theme.TEXT_SIZE) * factor
    for axis in (*figure.select_xaxes(), *figure.select_yaxes()):
        axis.tickfont.size = theme.TEXT_SIZE * factor
        axis.title.font.size = theme.TEXT_SIZE * factor
    for note in figure.select_annotations():
        note.font.size = (note.font.size or theme.TEXT_SIZE) * factor
        note.text = _PIXELS.sub(lambda found: f"font-size:{round(int(found[1]) * factor)}px", note.text or "")
        for shift in ("xshift", "yshift", "ax", "ay"):
            if isinstance(note[shift], int | float):
                note[shift] = note[shift] * factor
    for shape in figure.select_shapes():
        _scale(shape.line, "width", factor)


def _scale_traces(figure: go.Figure, factor: float) -> None:
    for trace in figure.data:
        for part in ("marker", "line", "error_x", "error_y", "textfont"):
            if part in trace and trace[part] is not None:
                for size in ("size", "width", "thickness"):
                    _scale(trace[part], size, factor)


def _scale(part: Any, name: str, factor: float) -> None:
    """Multiply one number of a plotly object, where it has it."""
    if name in part and isinstance(part[name], int | float):
        part[name] = part[name] * factor
