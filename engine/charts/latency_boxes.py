"""Latency of single calls as boxes: p5, quartiles, p95, drawn from quantiles so that no sample travels to the browser."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go

from engine import formatting
from engine.catalog import label_of
from engine.charts import theme
from engine.charts.latencies import Floats, steady_quantiles
from engine.charts.scale import time_scale

SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)
ROOM_FOR_WORDS = 1.25


def latency_boxes(samples: pd.DataFrame, variants: Sequence[str], subtitle: str = "") -> go.Figure:
    """One box per variant in the order of `variants`, from a samples frame of one workload; the axis starts at zero."""
    boxes = steady_quantiles(samples, variants, SHARES)
    largest_s = max((float(box[-1]) for box in boxes.values()), default=1.0)
    scale = time_scale(largest_s)
    height = max(theme.PLOT_HEIGHT + theme.LEGEND_HEIGHT, theme.rows_height(len(variants)))
    figure = theme.new_figure("Latency per call: p5, quartiles, p95", height, subtitle)
    for position, variant in enumerate(variants):
        if variant in boxes:
            _add_box(figure, position, variant, boxes[variant] / scale.factor)
            words = f"<b>{formatting.seconds(float(boxes[variant][2]))}</b>"
            theme.add_words(figure, float(boxes[variant][-1]) / scale.factor, position, words)
        else:
            theme.add_words(figure, 0, position, "not measured")
    theme.label_rows(figure, [label_of(variant) for variant in variants])
    right = largest_s / scale.factor * ROOM_FOR_WORDS
    return figure.update_xaxes(range=[0, right], title=f"{scale.unit}, lower is better", zeroline=False)


def alt_text(samples: pd.DataFrame, variants: Sequence[str]) -> str:
    """The chart in words: each variant's median and spread."""
    parts = [
        f"{label_of(variant)} median {formatting.seconds(float(box[2]))}, 90 % of calls between "
        f"{formatting.seconds(float(box[0]))} and {formatting.seconds(float(box[-1]))}"
        for variant, box in steady_quantiles(samples, variants, SHARES).items()
    ]
    return "Box plot of latency per call, lower is better. " + "; ".join(parts) + "."


def _add_box(figure: go.Figure, position: int, variant: str, box: Floats) -> None:
    style = theme.variant_style(variant)
    low, q1, median, q3, high = ([float(value)] for value in box)
    figure.add_box(
        y=[position], lowerfence=low, q1=q1, median=median, q3=q3, upperfence=high,
        orientation="h", width=0.46, whiskerwidth=0.5, hoverinfo="x", name=theme.escaped(label_of(variant)),
        line={"color": style.colour, "width": 2}, fillcolor=theme.transparent(style.colour, 0.35),
    )  # fmt: skip
