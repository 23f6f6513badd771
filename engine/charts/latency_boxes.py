"""Latency of single calls as boxes: quartiles, and p5 and p95 where so many calls tell them; no sample travels to the browser."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go

from engine import formatting
from engine.catalog import label_of
from engine.charts import theme
from engine.charts.latencies import Floats, single_calls, steady_quantiles
from engine.charts.scale import time_scale
from engine.stats import USEFUL_SAMPLES

SHARES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
ENOUGH = USEFUL_SAMPLES[0.95]
PERCENTILES, EXTREMES, NONE = "p5 and p95", "fastest and slowest call", "none"
NOTES = {
    EXTREMES: f"whiskers: fastest and slowest call, of fewer than {ENOUGH}",
    NONE: "no whiskers where a sample is the mean of several calls",
}
"""What the axis says of boxes whose whiskers are not p5 and p95."""
ROOM_FOR_WORDS = 1.6
"""Half a page wide, with long names of rows, a plot has 190 pixels left, of which a time takes 70."""


@dataclass(frozen=True, slots=True)
class Box:
    """Seconds at five places; `ends` says what the whiskers reach to."""

    low: float
    q1: float
    median: float
    q3: float
    high: float
    ends: str


def latency_boxes(samples: pd.DataFrame, variants: Sequence[str], subtitle: str = "") -> go.Figure:
    """One box per variant in the order of `variants`, from a samples frame of one workload; the axis starts at zero."""
    boxes = _boxes(samples, variants)
    largest_s = max((box.high for box in boxes.values()), default=1.0)
    scale = time_scale(largest_s)
    height = max(theme.PLOT_HEIGHT + theme.LEGEND_HEIGHT, theme.rows_height(len(variants)))
    figure = theme.new_figure(_title(boxes.values()), height, subtitle)
    for position, variant in enumerate(variants):
        if variant in boxes:
            _add_box(figure, position, variant, boxes[variant], scale.factor)
            words = f"<b>{formatting.seconds(boxes[variant].median)}</b>"
            theme.add_words(figure, boxes[variant].high / scale.factor, position, words)
        else:
            theme.add_words(figure, 0, position, "not measured")
    theme.label_rows(figure, [label_of(variant) for variant in variants])
    right = largest_s / scale.factor * ROOM_FOR_WORDS
    ends = {box.ends for box in boxes.values()}
    title = "<br>".join([f"{scale.unit}, lower is better", *(note for key, note in NOTES.items() if key in ends)])
    return figure.update_xaxes(range=[0, right], title=title, zeroline=False)


def alt_text(samples: pd.DataFrame, variants: Sequence[str]) -> str:
    """The chart in words: each variant's median and spread."""
    parts = [f"{label_of(variant)} {_words(box)}" for variant, box in _boxes(samples, variants).items()]
    return "Box plot of latency per call, lower is better. " + "; ".join(parts) + "."


def _boxes(samples: pd.DataFrame, variants: Sequence[str]) -> dict[str, Box]:
    calls = single_calls(samples, variants)
    quantiles = steady_quantiles(samples, variants, SHARES)
    return {variant: _box(seconds, calls[variant]) for variant, seconds in quantiles.items()}


def _box(seconds: Floats, calls: int) -> Box:
    fastest, p5, q1, median, q3, p95, slowest = map(float, seconds)
    if calls >= ENOUGH:
        return Box(p5, q1, median, q3, p95, PERCENTILES)
    if calls:
        return Box(fastest, q1, median, q3, slowest, EXTREMES)
    return Box(q1, q1, median, q3, q3, NONE)


def _title(boxes: Iterable[Box]) -> str:
    has_percentiles = any(box.ends == PERCENTILES for box in boxes)
    return "Latency per call: p5, quartiles, p95" if has_percentiles else "Latency per call: quartiles"


def _words(box: Box) -> str:
    share = {PERCENTILES: "90 % of calls", EXTREMES: "all calls", NONE: "half of its means of several calls"}[box.ends]
    between = f"between {formatting.seconds(box.low)} and {formatting.seconds(box.high)}"
    return f"median {formatting.seconds(box.median)}, {share} {between}"


def _add_box(figure: go.Figure, position: int, variant: str, box: Box, factor: float) -> None:
    style = theme.variant_style(variant)
    low, q1, median, q3, high = ([each / factor] for each in (box.low, box.q1, box.median, box.q3, box.high))
    figure.add_box(
        y=[position], lowerfence=low, q1=q1, median=median, q3=q3, upperfence=high,
        orientation="h", width=0.46, whiskerwidth=0.5, hoverinfo="x", name=theme.escaped(label_of(variant)),
        line={"color": style.colour, "width": 2}, fillcolor=theme.transparent(style.colour, 0.35),
    )  # fmt: skip
