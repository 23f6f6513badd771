"""Latency of single calls as cumulative shares: which part of the calls was faster than this."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from engine import formatting
from engine.catalog import label_of
from engine.charts import theme
from engine.charts.latencies import steady_quantiles
from engine.charts.scale import time_scale

SHARES = tuple(np.linspace(0, 1, 201).tolist())
"""Every half per cent, which is what a screen can show."""
SLOWEST_SHOWN = SHARES.index(0.99)
"""A single stalled call would squeeze all lines to the left: the axis ends a little beyond the slowest 1 %."""


def latency_ecdf(samples: pd.DataFrame, variants: Sequence[str], subtitle: str = "", log: bool = False) -> go.Figure:
    """One line per variant that was measured; `log` makes the latency axis logarithmic, and its title says so."""
    lines = steady_quantiles(samples, variants, SHARES)
    largest_s = max((float(line[SLOWEST_SHOWN]) for line in lines.values()), default=1.0)
    scale = time_scale(largest_s)
    figure = theme.new_figure("Share of calls that were faster", theme.PLOT_HEIGHT, subtitle)
    theme.add_legend(figure, theme.legend_lines(map(label_of, lines)))
    for variant, line in lines.items():
        style = theme.variant_style(variant)
        figure.add_scatter(
            x=line / scale.factor, y=[share * 100 for share in SHARES], mode="lines", name=theme.escaped(label_of(variant)),
            line={"color": style.colour, "dash": style.dash, "width": 2.5, "shape": "hv"},
            hovertemplate="%{y:.1f} % of calls within %{x:.3g}",
        )  # fmt: skip
    figure.update_yaxes(title="share of calls (%), higher is better", range=[0, 101], zeroline=False)
    if log:
        return figure.update_xaxes(type="log", title=f"{scale.unit}, logarithmic, lower is better")
    right = largest_s / scale.factor * 1.08
    return figure.update_xaxes(range=[0, right], title=f"{scale.unit}, lower is better", zeroline=False)


def alt_text(samples: pd.DataFrame, variants: Sequence[str]) -> str:
    """The chart in words: where half and 99 % of the calls lie."""
    parts = [
        f"{label_of(variant)}: half of the calls within {formatting.seconds(float(half))}, "
        f"99 % within {formatting.seconds(float(most))}"
        for variant, (half, most) in steady_quantiles(samples, variants, (0.5, 0.99)).items()
    ]
    return "Cumulative share of calls against latency. " + "; ".join(parts) + "."
