"""Latency against size: one line per variant, both axes logarithmic, caches marked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from engine import formatting
from engine.charts import theme
from engine.charts.scale import time_scale
from engine.charts.size_axis import add_size_axis
from engine.sweep import SweepPoint, variants_of


def size_sweep(points: Sequence[SweepPoint], caches: Mapping[str, float], subtitle: str = "") -> go.Figure:
    """`points` are of one series, `caches` from `engine.sweep.cache_marks`."""
    scale = time_scale(max((point.row.median_s or 0.0 for point in points), default=1.0) / 1e3)
    figure = theme.add_legend(theme.new_figure("Latency against size", theme.PLOT_HEIGHT, subtitle))
    for variant, line in variants_of(points).items():
        style = theme.variant_style(variant)
        figure.add_scatter(
            x=[point.array_bytes for point in line], y=[(point.row.median_s or 0.0) / scale.factor for point in line],
            mode="lines+markers", name=theme.escaped(line[0].row.label), marker={"size": 7},
            line={"color": style.colour, "dash": style.dash, "width": 2.5},
            hovertext=[f"{formatting.bytes_(point.array_bytes)}: {formatting.seconds(point.row.median_s)}" for point in line],
            hoverinfo="text+name",
        )  # fmt: skip
    figure.update_yaxes(type="log", title=f"{scale.unit}, logarithmic, lower is better", zeroline=False, dtick=1)
    return add_size_axis(figure, points, caches)


def alt_text(points: Sequence[SweepPoint]) -> str:
    """The chart in words: each variant at its smallest and its largest size."""
    parts = [
        f"{line[0].row.label}: {formatting.seconds(line[0].row.median_s)} at {formatting.bytes_(line[0].array_bytes)}, "
        f"{formatting.seconds(line[-1].row.median_s)} at {formatting.bytes_(line[-1].array_bytes)}"
        for line in variants_of(points).values()
    ]
    return "Latency against size, lower is better. " + "; ".join(parts) + "."
