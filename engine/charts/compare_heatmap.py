"""Technique x device: how much each technique speeds each device up, over the points that all devices have."""

from __future__ import annotations

import math
from collections.abc import Sequence

import plotly.graph_objects as go

from engine import formatting
from engine.catalog import label_of
from engine.charts import theme
from engine.device_comparison import Mean

SCALE = ((0.0, "#F0A3A3"), (0.5, "#F2F4F7"), (1.0, "#8FD0A6"))
"""Slower red, no difference pale, faster green; the number in every cell says it without colour."""
TEXT = "#1B2430"


def compare_heatmap(means: Sequence[Mean], devices: Sequence[str], subtitle: str = "") -> go.Figure:
    """One cell per technique and device; the colour is symmetric around 1.0x on a logarithmic scale."""
    variants = list(dict.fromkeys(mean.variant for mean in means))
    cells = {(mean.variant, mean.device): mean for mean in means}
    title = "Speed-up over each device's own baseline"
    figure = theme.new_figure(title, theme.rows_height(len(variants)), subtitle, wide=True)
    found = [[cells.get((variant, device)) for device in devices] for variant in variants]
    reach = max([1.1, *(max(mean.speedup, 1 / mean.speedup) for mean in means)])
    figure.add_heatmap(
        z=[[None if mean is None else _log(mean.speedup, reach) for mean in row] for row in found],
        x=list(range(len(devices))), y=list(range(len(variants))), zmin=-1, zmax=1, colorscale=SCALE, showscale=False,
        xgap=3, ygap=3, hoverinfo="text", hovertext=[[_spoken(mean) for mean in row] for row in found],
        text=[["-" if mean is None else f"<b>{formatting.speedup(mean.speedup)}</b>" for mean in row] for row in found],
        texttemplate="%{text}", textfont={"color": TEXT, "size": theme.TEXT_SIZE},
    )  # fmt: skip
    theme.label_rows(figure, [label_of(variant or "") for variant in variants])
    figure.update_xaxes(
        tickvals=list(range(len(devices))), ticktext=[theme.escaped(device[:40]) for device in devices],
        showgrid=False, fixedrange=True,
    )  # fmt: skip
    return figure


def alt_text(means: Sequence[Mean]) -> str:
    """The chart in words, cell by cell."""
    return f"Speed-up over each device's own baseline. {'; '.join(map(_said, means))}."


def _said(mean: Mean) -> str:
    points = f"{mean.points} common points" if mean.points > 1 else "the one common point"
    return f"{label_of(mean.variant or '')} on {mean.device}: {formatting.speedup(mean.speedup)} over {points}"


def _spoken(mean: Mean | None) -> str:
    return theme.escaped(_said(mean)) if mean else "not at a point that all devices have"


def _log(speedup: float, reach: float) -> float:
    """-1 at 1/reach, 0 at 1, 1 at reach."""
    return math.log(speedup) / math.log(reach)
