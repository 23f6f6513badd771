"""Speed-up against size with its interval, and the bound that traffic or launches set, drawn where it applies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

import plotly.graph_objects as go

from engine import formatting
from engine.charts import theme
from engine.charts.size_axis import add_size_axis, new_sweep
from engine.comparison import number
from engine.sweep.points import SweepPoint, variants_of

BOUND_WORDS = {"traffic": "traffic bound", "launches": "launch bound"}


def speedup_sweep(points: Sequence[SweepPoint], caches: Mapping[str, float], subtitle: str = "") -> go.Figure:
    """Whiskers are 95 % intervals; with one process set there are none."""
    lines = variants_of(points)
    figure = new_sweep("Speed-up against size", len(lines), subtitle)
    for variant, line in lines.items():
        compared = [point for point in line if point.row.speedup and not point.row.is_baseline]
        if compared:
            _add_line(figure, variant, compared)
    _add_bounds(figure, points)
    figure.add_hline(y=1, line={"dash": "dot", "width": 1.5, "color": theme.NEUTRAL})
    figure.update_yaxes(title="speed-up (x), higher is better", rangemode="tozero", zeroline=False)
    return add_size_axis(figure, points, caches)


def alt_text(points: Sequence[SweepPoint]) -> str:
    """The chart in words: every speed-up, size by size."""
    parts = [
        f"{line[0].row.label}: " + ", ".join(f"{number(point.row)} at {formatting.bytes_(point.array_bytes)}" for point in line)
        for line in variants_of([point for point in points if point.row.speedup]).values()
    ]  # fmt: skip
    bounds = {f"{BOUND_WORDS[name]} {formatting.speedup(bound)}" for name, bound in strongest_bounds(points)}
    return "Speed-up against size, higher is better. " + "; ".join([*parts, *sorted(bounds)]) + "."


def strongest_bounds(points: Sequence[SweepPoint]) -> list[tuple[str, float]]:
    """Kind and value of the largest bound at each size that has one, from small to large."""
    found = []
    for _, group in groupby(points, key=lambda point: point.array_bytes):
        bounds = [(point.bound, point.bound_by) for point in group if point.bound and point.bound_by]
        if bounds:
            bound, name = max(bounds)
            found.append((str(name), bound))
    return found


def _add_line(figure: go.Figure, variant: str, line: Sequence[SweepPoint]) -> None:
    style = theme.variant_style(variant)
    speedups = [point.row.speedup for point in line if point.row.speedup]
    above = [(found.high or found.estimate) - found.estimate for found in speedups]
    below = [found.estimate - (found.low or found.estimate) for found in speedups]
    figure.add_scatter(
        x=[point.array_bytes for point in line], y=[found.estimate for found in speedups], mode="lines+markers",
        name=theme.escaped(line[0].row.label), line={"color": style.colour, "dash": style.dash, "width": 2.5}, marker={"size": 7},
        error_y={"symmetric": False, "array": above, "arrayminus": below, "color": style.colour, "thickness": 1.5, "width": 4},
        hovertext=[f"{formatting.bytes_(point.array_bytes)}: {number(point.row)}, {point.row.verdict.value}" for point in line],
        hoverinfo="text+name",
    )  # fmt: skip


def _add_bounds(figure: go.Figure, points: Sequence[SweepPoint]) -> None:
    """A dashed line over the sizes where a bound applies; launches are named at the left end, traffic at the right."""
    for name, words in BOUND_WORDS.items():
        bounded = [point for point in points if point.bound_by == name and point.bound]
        if not bounded:
            continue
        highest = max(point.bound or 0.0 for point in bounded)
        sizes = [point.array_bytes for point in bounded]
        left, right, labels = min(sizes) / 1.4, max(sizes) * 1.4, [f"{words} {formatting.speedup(highest)}", ""]
        figure.add_scatter(
            x=[left, right], y=[highest, highest], mode="lines+text", showlegend=False, hoverinfo="skip",
            text=labels if name == "launches" else labels[::-1], textposition=["top right", "top left"],
            textfont={"size": theme.SUBTITLE_SIZE},
            line={"color": theme.NEUTRAL, "width": 2, "dash": "dash"},
        )  # fmt: skip
