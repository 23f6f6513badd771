"""Latency against sequence length: one line per variant, every length served by the same process."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from engine import formatting
from engine.charts import theme
from engine.charts.scale import time_scale
from engine.comparison import ComparisonRow

Line = list[tuple[int, float]]


def length_curves(rows: Sequence[ComparisonRow], subtitle: str = "") -> go.Figure:
    """Median latency of every measured variant; rows whose number may not be shown as a result are drawn open."""
    lines = lines_of(rows)
    scale = time_scale(max((seconds for line in lines.values() for _, seconds in line), default=1.0))
    labels = {row.variant: row.label for row in rows}
    figure = theme.new_figure("Latency at every length", theme.PLOT_HEIGHT, subtitle, wide=True)
    theme.add_legend(figure, theme.legend_lines((labels[variant] for variant in lines), wide=True))
    for variant, line in lines.items():
        style, own = theme.variant_style(variant), [row for row in rows if row.variant == variant]
        is_valid = not any(row.verdict.hides_speedup for row in own)
        figure.add_scatter(
            x=[length for length, _ in line], y=[seconds / scale.factor for _, seconds in line], mode="lines+markers",
            name=theme.escaped(own[0].label if is_valid else f"{own[0].label} ({own[0].verdict})"),
            line={"color": style.colour, "dash": style.dash, "width": 2.5},
            marker={"size": 9, "symbol": "circle" if is_valid else "circle-open"},
            hovertemplate="%{x} tokens: %{y:.3g} " + scale.unit,
        )  # fmt: skip
    lengths = sorted({length for line in lines.values() for length, _ in line})
    figure.update_yaxes(title=f"{scale.unit}, lower is better", rangemode="tozero", zeroline=False)
    return figure.update_xaxes(title="tokens, logarithmic", type="log", tickvals=lengths, zeroline=False)


def lines_of(rows: Sequence[ComparisonRow]) -> dict[str, Line]:
    """By variant: (tokens, median seconds), the shortest first."""
    lines: dict[str, Line] = {}
    for row in rows:
        if row.workload.sequence_length and row.median_s is not None:
            lines.setdefault(row.variant, []).append((row.workload.sequence_length, row.median_s))
    return {variant: sorted(line) for variant, line in lines.items()}


def alt_text(rows: Sequence[ComparisonRow]) -> str:
    """The chart in words: each variant's latency at its shortest and longest length."""
    labels = {row.variant: row.label for row in rows}
    parts = [
        f"{labels[variant]}: {formatting.seconds(line[0][1])} at {line[0][0]} tokens, "
        f"{formatting.seconds(line[-1][1])} at {line[-1][0]}"
        for variant, line in lines_of(rows).items()
    ]
    return "Median latency against length. " + "; ".join(parts) + "."
