"""Latency against batch size, sequence length or elements: one line per device, for one technique."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import plotly.graph_objects as go

from engine.charts import theme
from engine.charts.scale import time_scale
from engine.device_comparison import DeviceArm, Point

DIMENSIONS = {"batch_size": "batch size", "sequence_length": "tokens", "elements": "elements"}


def swept(arms: Sequence[DeviceArm]) -> dict[str, list[str]]:
    """Dimensions along which some technique was measured at several points that are otherwise the same, with those techniques."""
    found = {name: [key[-1] for key, line in _lines(arms, name).items() if len(line) > 1] for name in DIMENSIONS}
    return {name: list(dict.fromkeys(variants)) for name, variants in found.items() if variants}


def compare_curves(arms: Sequence[DeviceArm], dimension: str, devices: Sequence[str], subtitle: str = "") -> go.Figure:
    """Lines over `dimension` for arms of one technique; everything else of a point stays the same along a line."""
    lines = {key: line for key, line in _lines(arms, dimension).items() if len(line) > 1}
    scale = time_scale(max((arm.value or 0.0 for line in lines.values() for arm in line), default=1.0))
    figure = theme.new_figure(f"Latency against {DIMENSIONS[dimension]}", theme.PLOT_HEIGHT, subtitle, wide=True)
    figure = theme.add_legend(figure)
    dashes: dict[str, int] = {}
    for (device, rest, *_), line in lines.items():
        turn = dashes[device] = dashes.get(device, -1) + 1
        figure.add_scatter(
            x=[getattr(arm.point, dimension) for arm in line], y=[(arm.value or 0.0) / scale.factor for arm in line],
            mode="lines+markers", name=theme.escaped(f"{device}, {rest}"[:80]), hovertemplate="%{x}: %{y:.3g}",
            line={"color": theme.device_colour(list(devices).index(device)), "width": 2.5, "dash": DASHES[turn % len(DASHES)]},
        )  # fmt: skip
    figure.update_yaxes(title=f"{scale.unit}, lower is better", rangemode="tozero")
    return figure.update_xaxes(type="log", title=f"{DIMENSIONS[dimension]}, logarithmic", dtick="D2")


DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
"""Lines of one device differ by dash; after five they repeat, and the hover text says which is which."""


def alt_text(arms: Sequence[DeviceArm], dimension: str) -> str:
    """The chart in words: what it spans."""
    lines = {key: line for key, line in _lines(arms, dimension).items() if len(line) > 1}
    said = [f"{device}, {rest}: {len(line)} points" for (device, rest, *_), line in lines.items()]
    return f"Latency against {DIMENSIONS[dimension]}, lower is better. {'; '.join(said)}."


Lines = dict[tuple[str, Point, str | None, str], list[DeviceArm]]


def _lines(arms: Sequence[DeviceArm], dimension: str) -> Lines:
    lines: Lines = {}
    for arm in arms:
        if arm.value is not None and not arm.is_rate and getattr(arm.point, dimension) is not None:
            rest = replace(arm.point, **{dimension: None})
            lines.setdefault((arm.device, rest, arm.dtype, arm.variant), []).append(arm)
    return {key: sorted(line, key=lambda arm: int(getattr(arm.point, dimension))) for key, line in lines.items()}
