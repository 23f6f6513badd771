"""The axis that all charts against size share: bytes of the result, logarithmic, with the caches marked."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from engine import formatting
from engine.charts import theme
from engine.sweep.points import SweepPoint

CACHE_NAMES = {"L1d": "L1", "L1": "L1", "L2": "L2", "L3": "L3"}
TICKS = 12
"""Labels that fit side by side."""
MANY_LINES = 4
"""From so many lines on, their names need a second line of legend."""


def new_sweep(title: str, lines: int, subtitle: str) -> go.Figure:
    """An empty chart as wide as the page, with room for the names of so many lines."""
    figure = theme.new_figure(title, theme.PLOT_HEIGHT, subtitle, wide=True)
    return theme.add_legend(figure, 1 if lines < MANY_LINES else 2)


def add_size_axis(figure: go.Figure, points: Sequence[SweepPoint], caches: Mapping[str, float]) -> go.Figure:
    """Ticks at the measured sizes; a dotted line where the arrays together fill a cache."""
    sizes = sorted({point.array_bytes for point in points})
    shown = sizes[:: max(1, math.ceil(len(sizes) / TICKS))]
    low, high = (math.log10(size) for size in (sizes[0], sizes[-1])) if sizes else (0.0, 1.0)
    margin = max(0.15, 0.05 * (high - low))
    for name, size in caches.items():
        if low - margin < math.log10(size) < high + margin:
            _add_mark(figure, f"{CACHE_NAMES.get(name, name)} full", size)
    return figure.update_xaxes(
        type="log",
        range=[low - margin, high + margin],
        tickvals=shown,
        ticktext=[formatting.bytes_(size) for size in shown],
        tickangle=0,
        title="size of the result, logarithmic",
        zeroline=False,
    )


def _add_mark(figure: go.Figure, words: str, size: float) -> None:
    figure.add_vline(x=size, line={"dash": "dot", "width": 1, "color": theme.NEUTRAL})
    figure.add_annotation(
        x=math.log10(size), y=1, yref="paper", text=words, showarrow=False, xanchor="left", yanchor="top", xshift=3,
        font={"size": theme.SUBTITLE_SIZE, "color": theme.NEUTRAL},
    )  # fmt: skip
