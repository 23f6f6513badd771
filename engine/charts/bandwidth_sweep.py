"""How fast each variant moves its bytes, against what this device's memory was measured to give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from engine import formatting
from engine.charts import theme
from engine.charts.size_axis import add_size_axis, new_sweep
from engine.sweep.points import SweepPoint, variants_of

GIGA = 1e9


def bandwidth_sweep(
    points: Sequence[SweepPoint], caches: Mapping[str, float], bandwidth: float | None, subtitle: str = ""
) -> go.Figure:
    """`bandwidth` is the measured one, bytes per second; rates above it are possible only from a cache."""
    lines = variants_of([point for point in points if point.bytes_per_s])
    figure = new_sweep("Bytes moved per second", len(lines), subtitle)
    for variant, line in lines.items():
        style = theme.variant_style(variant)
        figure.add_scatter(
            x=[point.array_bytes for point in line], y=[(point.bytes_per_s or 0.0) / GIGA for point in line],
            mode="lines+markers", name=theme.escaped(line[0].row.label), marker={"size": 7},
            line={"color": style.colour, "dash": style.dash, "width": 2.5},
            hovertext=[_hover(point) for point in line], hoverinfo="text+name",
        )  # fmt: skip
    if bandwidth:
        figure.add_hline(y=bandwidth / GIGA, line={"dash": "dash", "width": 2, "color": theme.NEUTRAL})
        figure.add_annotation(
            x=0, xref="paper", y=bandwidth / GIGA, text=f"memory, measured: {formatting.rate(bandwidth, 'B/s')}",
            showarrow=False, xanchor="left", yanchor="bottom", font={"size": theme.SUBTITLE_SIZE, "color": theme.NEUTRAL},
        )  # fmt: skip
    figure.update_yaxes(title="gigabytes per second, higher is better", rangemode="tozero", zeroline=False)
    return add_size_axis(figure, points, caches)


def alt_text(points: Sequence[SweepPoint], bandwidth: float | None) -> str:
    """The chart in words: each variant's rate at its largest size."""
    parts = [
        f"{line[-1].row.label}: {formatting.rate(line[-1].bytes_per_s, 'B/s')} at {formatting.bytes_(line[-1].array_bytes)}"
        for line in variants_of([point for point in points if point.bytes_per_s]).values()
    ]
    measured = f"measured bandwidth {formatting.rate(bandwidth, 'B/s')}"
    return "Bytes moved per second against size, higher is better. " + "; ".join([*parts, measured]) + "."


def _hover(point: SweepPoint) -> str:
    share = "" if point.bandwidth_share is None else f", {point.bandwidth_share:.0%} of the measured bandwidth"
    return f"{formatting.bytes_(point.array_bytes)}: {formatting.rate(point.bytes_per_s, 'B/s')}{share}"
