"""What a technique costs before it pays: total time, set-up included, against the number of calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from engine import formatting
from engine.charts import theme
from engine.charts.scale import time_scale
from engine.comparison import ComparisonRow
from engine.cost_table import break_even
from engine.stats import BreakEven

MOST_MARKED = 2
"""More words than these would lie on each other."""
BEYOND_BREAK_EVEN = 1.8
"""How far right of the last crossing the axis goes, as a multiple."""
SET_UPS_WITHOUT_CROSSING = 6
"""Where nothing pays back, the axis ends when this many times the longest set-up have gone by."""


@dataclass(frozen=True, slots=True)
class Line:
    """One variant's straight line; `even` is known where its row has a verdict on the saving."""

    label: str
    variant: str
    set_up_s: float
    call_s: float
    even: BreakEven | None

    def total_s(self, calls: float) -> float:
        """Seconds until this many calls are answered, counted from a process that has loaded the model."""
        return self.set_up_s + calls * self.call_s

    @property
    def crossing(self) -> float | None:
        """Calls after which the set-up is earned back."""
        return self.even.calls if self.even else None


def total_time(rows: Sequence[ComparisonRow], subtitle: str = "") -> go.Figure:
    """One line per row from its cold set-up upwards, the crossing with its baseline's line marked; rows of one workload."""
    lines = lines_of(rows)
    calls = last_call(lines)
    scale = time_scale(max((line.total_s(calls) for line in lines), default=1.0))
    figure = theme.new_figure("Total time including set-up", theme.PLOT_HEIGHT, subtitle)
    theme.add_legend(figure, theme.legend_lines(line.label for line in lines))
    for line in lines:
        style = theme.variant_style(line.variant)
        figure.add_scatter(
            x=[0, calls], y=[line.total_s(0) / scale.factor, line.total_s(calls) / scale.factor], mode="lines",
            name=theme.escaped(line.label), line={"color": style.colour, "dash": style.dash, "width": 3},
            hovertemplate="%{x:,.0f} calls: %{y:.3g} " + scale.unit,
        )  # fmt: skip
    for line in marked(lines):
        _add_crossing(figure, line, scale.factor)
    figure.update_yaxes(title=f"{scale.unit}, lower is better", rangemode="tozero", zeroline=False)
    return figure.update_xaxes(title="calls", range=[0, calls], zeroline=False, tickformat=",d")


def lines_of(rows: Sequence[ComparisonRow]) -> list[Line]:
    """A line for every row that was measured."""
    return [
        Line(row.label, row.variant, max(0.0, row.setup_cold_s), row.median_s, row.break_even_cold)
        for row in rows
        if row.median_s is not None and row.setup_cold_s is not None
    ]


def marked(lines: Sequence[Line]) -> list[Line]:
    """Lines whose crossing is named in the chart: those that pay back first; the table has all of them."""
    return sorted((line for line in lines if line.crossing), key=lambda line: line.crossing or 0.0)[:MOST_MARKED]


def last_call(lines: Sequence[Line]) -> float:
    """Where the axis ends: beyond the last crossing, or far enough to see that there is none."""
    crossings = [line.even.high or line.crossing for line in lines if line.even and line.crossing]
    if crossings:
        return max(crossings) * BEYOND_BREAK_EVEN
    longest_s = max((line.set_up_s for line in lines), default=0.0)
    return max(100.0, SET_UPS_WITHOUT_CROSSING * longest_s / min((line.call_s for line in lines), default=1.0))


def alt_text(rows: Sequence[ComparisonRow]) -> str:
    """The chart in words: each row's set-up and when it pays back."""
    parts = [
        f"{line.label}: set-up {formatting.seconds(line.set_up_s)}"
        + (f", pays back {break_even(line.even)}" if line.even else "")
        for line in lines_of(rows)
    ]
    return "Total time including set-up against calls. " + "; ".join(parts) + "."


def _add_crossing(figure: go.Figure, line: Line, factor: float) -> None:
    if line.even is None or line.crossing is None:
        return
    if line.even.low is not None and line.even.high is not None:
        band = theme.transparent(theme.variant_style(line.variant).colour, 0.15)
        figure.add_vrect(x0=line.even.low, x1=line.even.high, fillcolor=band, line_width=0, layer="below")
    figure.add_annotation(
        x=line.crossing, y=line.total_s(line.crossing) / factor, text=f"pays back<br><b>{break_even(line.even)}</b>",
        ax=-70, ay=-46, arrowcolor=theme.NEUTRAL, arrowhead=2, font={"size": theme.TEXT_SIZE},
    )  # fmt: skip
