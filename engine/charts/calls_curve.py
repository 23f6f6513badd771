"""Call by call from a cold start to the steady state: what the first callers of a fresh process wait for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from engine import formatting
from engine.catalog import label_of
from engine.charts import theme
from engine.charts.latencies import first_process
from engine.charts.scale import time_scale

FIRST_CALLS_SHOWN = 40
POINTS = 160
"""Points per line: the first calls one by one, the later ones thinned evenly on a logarithmic scale."""


def calls_curve(samples: pd.DataFrame, variants: Sequence[str], subtitle: str = "", log: bool = False) -> go.Figure:
    """Latency of calls 1..n of each variant's first process (empty compile cache), from a samples frame of one workload."""
    lines = first_process(samples, variants)
    scale = time_scale(max((float(line.max()) for line in lines.values()), default=1.0))
    figure = theme.new_figure("From the first call to the steady state", theme.PLOT_HEIGHT, subtitle)
    theme.add_legend(figure, theme.legend_lines(map(label_of, lines)))
    for variant, line in lines.items():
        style = theme.variant_style(variant)
        calls = shown_calls(len(line))
        figure.add_scatter(
            x=calls + 1, y=line[calls] / scale.factor, mode="lines+markers", name=theme.escaped(label_of(variant)),
            line={"color": style.colour, "dash": style.dash, "width": 2}, marker={"size": 5},
            hovertemplate="call %{x}: %{y:.3g} " + scale.unit,
        )  # fmt: skip
    _add_first_call(figure, lines, scale.factor, log)
    title = f"{scale.unit}{', logarithmic' if log else ''}, lower is better"
    figure.update_yaxes(type="log" if log else "linear", title=title, rangemode="tozero", zeroline=False)
    return figure.update_xaxes(title="call number, logarithmic", type="log", zeroline=False, dtick=1)


def shown_calls(count: int) -> NDArray[np.int_]:
    """Which of `count` calls are drawn, counted from 0."""
    if count <= POINTS:
        return np.arange(count)
    later = np.geomspace(FIRST_CALLS_SHOWN, count - 1, POINTS - FIRST_CALLS_SHOWN).round().astype(int)
    return np.unique(np.concatenate([np.arange(FIRST_CALLS_SHOWN), later]))


def alt_text(samples: pd.DataFrame, variants: Sequence[str]) -> str:
    """The chart in words: first call and steady median of each variant."""
    parts = [
        f"{label_of(variant)}: first call {formatting.seconds(float(line[0]))}, "
        f"later calls about {formatting.seconds(float(np.median(line)))}"
        for variant, line in first_process(samples, variants).items()
    ]
    return "Latency of each call of a fresh process. " + "; ".join(parts) + "."


def _add_first_call(figure: go.Figure, lines: dict[str, NDArray[np.float64]], factor: float, log: bool) -> None:
    """Name the longest first call where its line starts, so that seconds are read before the flat rest."""
    if not lines:
        return
    variant = max(lines, key=lambda key: float(lines[key][0]))
    first_s = float(lines[variant][0])
    y = np.log10(first_s / factor) if log else first_s / factor
    theme.add_words(figure, 0, y, f"first call <b>{formatting.seconds(first_s)}</b>")
