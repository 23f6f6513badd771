"""Latency against size: one line per variant, both axes logarithmic, caches marked."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from engine import formatting
from engine.charts import theme
from engine.charts.size_axis import add_size_axis, new_sweep
from engine.sweep.points import SweepPoint, variants_of


def size_sweep(points: Sequence[SweepPoint], caches: Mapping[str, float], subtitle: str = "") -> go.Figure:
    """`points` are of one series, `caches` from `engine.sweep.points.cache_marks`."""
    lines = variants_of(points)
    figure = new_sweep("Latency against size", len(lines), subtitle)
    for variant, line in lines.items():
        style = theme.variant_style(variant)
        figure.add_scatter(
            x=[point.array_bytes for point in line], y=[point.row.median_s for point in line],
            mode="lines+markers", name=theme.escaped(line[0].row.label), marker={"size": 7},
            line={"color": style.colour, "dash": style.dash, "width": 2.5},
            hovertext=[f"{formatting.bytes_(point.array_bytes)}: {formatting.seconds(point.row.median_s)}" for point in line],
            hoverinfo="text+name",
        )  # fmt: skip
    times = [point.row.median_s for point in points if point.row.median_s]
    decades = range(math.floor(math.log10(min(times, default=1))), math.ceil(math.log10(max(times, default=1))) + 1)
    figure.update_yaxes(
        type="log",
        title="per call, logarithmic, lower is better",
        zeroline=False,
        tickvals=[10.0**decade for decade in decades],
        ticktext=[formatting.seconds(10.0**decade) for decade in decades],
    )
    return add_size_axis(figure, points, caches)


def alt_text(points: Sequence[SweepPoint]) -> str:
    """The chart in words: each variant at its smallest and its largest size."""
    parts = [
        f"{line[0].row.label}: {formatting.seconds(line[0].row.median_s)} at {formatting.bytes_(line[0].array_bytes)}, "
        f"{formatting.seconds(line[-1].row.median_s)} at {formatting.bytes_(line[-1].array_bytes)}"
        for line in variants_of(points).values()
    ]
    return "Latency against size, lower is better. " + "; ".join(parts) + "."
