"""Latency distributions of devices side by side: boxes from quantiles, a single line where a file reports one figure only."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from engine import formatting
from engine.charts import theme
from engine.charts.latency_boxes import ENOUGH, EXTREMES, NONE, NOTES, PERCENTILES
from engine.charts.scale import time_scale
from engine.device_comparison import DeviceArm

FASTEST, P5, Q1, MEDIAN, Q3, P95, SLOWEST = 0, 5, 25, 50, 75, 95, 100
"""Places in a `DeviceArm.grid`, which has one quantile per hundredth."""
WHISKERS = {PERCENTILES: (P5, P95), EXTREMES: (FASTEST, SLOWEST), NONE: (Q1, Q3)}
ROOM_FOR_WORDS = 1.3


def compare_latencies(arms: Sequence[DeviceArm], devices: Sequence[str], subtitle: str = "") -> go.Figure:
    """One row per arm with a time, technique by technique; colour by device, the axis from zero."""
    order = list(dict.fromkeys(arm.variant for arm in arms))
    shown = [arm for arm in arms if arm.value is not None and not arm.is_rate]
    shown.sort(key=lambda arm: (order.index(arm.variant), list(devices).index(arm.device)))
    largest_s = max((_largest(arm) for arm in shown), default=1.0)
    scale = time_scale(largest_s)
    ends = {_ends(arm) for arm in shown if arm.grid}
    title = "Latency per call: quartiles" + (", whiskers from p5 to p95" if PERCENTILES in ends else "")
    figure = theme.new_figure(title, theme.rows_height(max(1, len(shown))), subtitle, wide=True)
    for position, arm in enumerate(shown):
        colour = theme.device_colour(list(devices).index(arm.device))
        (_add_box if arm.grid else _add_figure)(figure, position, arm, colour, scale.factor)
        words = f"<b>{formatting.seconds(arm.value)}</b>  {theme.escaped(arm.evidence)}"
        theme.add_words(figure, _largest(arm) / scale.factor, position, words)
    theme.label_rows(figure, [f"{arm.label}, {arm.device}" for arm in shown])
    right = largest_s / scale.factor * ROOM_FOR_WORDS
    notes = (note for key, note in NOTES.items() if key in ends)
    axis_title = "<br>".join([f"{scale.unit}, lower is better", *notes])
    return figure.update_xaxes(range=[0, right], title=axis_title, zeroline=False)


def alt_text(arms: Sequence[DeviceArm]) -> str:
    """The chart in words."""
    said = [
        f"{arm.label} on {arm.device}: {formatting.seconds(arm.value)}, {arm.evidence}"
        for arm in arms
        if not arm.is_rate
    ]
    return f"Latency per call, lower is better. {'; '.join(said)}."


def _largest(arm: DeviceArm) -> float:
    return max(arm.value or 0.0, arm.grid[WHISKERS[_ends(arm)][1]] if arm.grid else 0.0)


def _ends(arm: DeviceArm) -> str:
    """What the whiskers of a box reach to: percentiles only where so many single calls tell them."""
    if arm.calls_per_sample > 1:
        return NONE
    return PERCENTILES if arm.samples >= ENOUGH else EXTREMES


def _add_box(figure: go.Figure, position: int, arm: DeviceArm, colour: str, factor: float) -> None:
    left, right = WHISKERS[_ends(arm)]
    low, q1, median, q3, high = ([arm.grid[place] / factor] for place in (left, Q1, MEDIAN, Q3, right))
    figure.add_box(
        y=[position], lowerfence=low, q1=q1, median=median, q3=q3, upperfence=high, orientation="h", width=0.46,
        whiskerwidth=0.5, hoverinfo="x", line={"color": colour, "width": 2}, fillcolor=theme.transparent(colour, 0.35),
    )  # fmt: skip


def _add_figure(figure: go.Figure, position: int, arm: DeviceArm, colour: str, factor: float) -> None:
    mark = {"symbol": "line-ns-open", "size": 22, "color": colour, "line": {"width": 3, "color": colour}}
    figure.add_scatter(x=[(arm.value or 0.0) / factor], y=[position], mode="markers", marker=mark, hoverinfo="x")
