"""One technique per group, one bar per device: latency, speed-up, or share of the floor, at one point.

Bars that have no number keep their place and say why. Colour is by device, the same on all charts of the Compare page.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from engine import formatting
from engine.charts import theme
from engine.charts.scale import time_scale
from engine.charts.speedup_bars import WORD_COLOURS
from engine.device_comparison import Ratio
from engine.device_comparison.table import floor_share, interval_text, value_text
from engine.verdict import Verdict

BAR_WIDTH = 0.72
BAR_HEIGHT = 34
GAP = 0.6
"""Between groups, in bars."""
ROOM_FOR_WORDS = 1.6
REASON_WIDTH = 60


@dataclass(frozen=True, slots=True)
class Axis:
    """What a bar's length means. `value` is None where there is no bar; `words` stand at its end."""

    title: str
    label: str
    value: Callable[[Ratio], float | None]
    words: Callable[[Ratio], str]
    is_speedup: bool = False


def _over_device_words(one: Ratio) -> str:
    return "<b>1.00x</b>  reference" if one.is_reference and one.speedup else _speedup_words(one)


def _speedup_words(one: Ratio) -> str:
    colour = WORD_COLOURS.get(one.verdict.colour, theme.NEUTRAL)
    word = one.reason if one.verdict is Verdict.NO_VERDICT and one.reason else str(one.verdict)
    return f'<b>{formatting.speedup(one.speedup)}</b>  <span style="color:{colour}">{theme.escaped(word)}</span>'


def _value_words(one: Ratio) -> str:
    return f"<b>{theme.escaped(value_text(one.arm))}</b>  {theme.escaped(one.arm.evidence)}"


def _floor_words(one: Ratio) -> str:
    return f"<b>{formatting.fraction(floor_share(one.arm))}</b> of what this device can do at best"


_SPEEDUP = "speed-up (x), higher is better"
AXES: dict[str, Axis] = {
    "own": Axis("Speed-up over each device's own baseline", _SPEEDUP, lambda one: one.speedup, _speedup_words, True),
    "device": Axis("Speed-up over the reference", _SPEEDUP, lambda one: one.speedup, _over_device_words, True),
    "latency": Axis("Measured value", "lower is better", lambda one: one.arm.value, _value_words),
    "floor": Axis(
        "Share of the measured floor",
        "1 is all the device can do, higher is better",
        lambda one: floor_share(one.arm),
        _floor_words,
    ),
}


def compare_bars(ratios: Sequence[Ratio], axis: str, devices: Sequence[str], subtitle: str = "") -> go.Figure:
    """Grouped horizontal bars of the arms of one point; `devices` fixes the colours and the order within a group."""
    chosen = AXES[axis]
    factor, label = _scale(ratios, chosen, axis)
    placed = _placed(ratios, devices)
    height = theme.AXIS_HEIGHT + round(BAR_HEIGHT * (_bottom(placed) + 1))
    figure = theme.add_legend(theme.new_figure(chosen.title, height, subtitle, wide=True))
    start = 1.0 if chosen.is_speedup else 0.0
    for place, device in enumerate(devices):
        mine = {position: one for position, one in placed.items() if one.arm.device == device}
        _add_bars(figure, mine, chosen, factor, theme.device_colour(place))
    for position, one in placed.items():
        theme.add_words(figure, max(start, _right_end(one, chosen) / factor), position, _words(one, chosen))
    if chosen.is_speedup:
        figure.add_vline(x=1, line={"dash": "dot", "width": 1.5, "color": theme.NEUTRAL})
    _label_groups(figure, placed)
    reach = max([start, *(_right_end(one, chosen) / factor for one in ratios)]) or 1.0
    return figure.update_xaxes(range=[0, reach * ROOM_FOR_WORDS], title=label, zeroline=False)


def alt_text(ratios: Sequence[Ratio], axis: str) -> str:
    """The chart in words, bar by bar."""
    said = [f"{one.arm.label} on {one.arm.device}: {_spoken(one, axis)}" for one in ratios]
    return f"{AXES[axis].title}. {'; '.join(said)}."


def _spoken(one: Ratio, axis: str) -> str:
    if AXES[axis].value(one) is None:
        return one.reason or one.arm.evidence
    if AXES[axis].is_speedup:
        return f"{formatting.speedup(one.speedup)} {interval_text(one)}, {one.verdict}"
    return value_text(one.arm) if axis == "latency" else formatting.fraction(floor_share(one.arm))


def _words(one: Ratio, axis: Axis) -> str:
    if axis.value(one) is not None:
        return axis.words(one)
    reason = one.reason or one.arm.failure or "no floor is known for this device"
    return "".join(theme.wrapped(f"{one.verdict}: {reason}" if axis.is_speedup else reason, REASON_WIDTH, 1))


def _right_end(one: Ratio, axis: Axis) -> float:
    high = one.interval.high if axis.is_speedup and one.interval else None
    return high or axis.value(one) or 0.0


def _scale(ratios: Sequence[Ratio], chosen: Axis, axis: str) -> tuple[float, str]:
    """Factor and label of the axis: times in one fitting unit, rates in base units."""
    if axis != "latency":
        return 1.0, chosen.label
    if any(one.arm.is_rate for one in ratios):
        return 1.0, f"{ratios[0].arm.unit.replace('_', ' ')}, higher is better"
    scale = time_scale(max((one.arm.value or 0.0 for one in ratios), default=1.0))
    return scale.factor, f"{scale.unit}, {chosen.label}"


def _placed(ratios: Sequence[Ratio], devices: Sequence[str]) -> dict[float, Ratio]:
    """Every bar by its place from the top: one group per technique, in it one bar per device."""
    placed: dict[float, Ratio] = {}
    top = 0.0
    for variant in dict.fromkeys(one.arm.variant for one in ratios):
        mine = [one for one in ratios if one.arm.variant == variant]
        for one in sorted(mine, key=lambda one: list(devices).index(one.arm.device)):
            placed[top] = one
            top += 1.0
        top += GAP
    return placed


def _bottom(placed: dict[float, Ratio]) -> float:
    return max(placed, default=0.0)


def _add_bars(figure: go.Figure, mine: dict[float, Ratio], axis: Axis, factor: float, colour: str) -> None:
    """The bars of one device, which are one trace and one entry of the legend."""
    values = [axis.value(one) for one in mine.values()]
    figure.add_bar(
        x=[None if value is None else value / factor for value in values],
        y=list(mine),
        orientation="h",
        width=BAR_WIDTH,
        name=theme.escaped(next((one.arm.device for one in mine.values()), "")),
        showlegend=bool(mine),
        marker={"color": colour},
        error_x=_whiskers(list(mine.values())) if axis.is_speedup else None,
        hovertext=[theme.escaped(f"{one.arm.label} on {one.arm.device}: {one.arm.evidence}") for one in mine.values()],
        hoverinfo="text",
    )


def _whiskers(mine: Sequence[Ratio]) -> dict[str, object]:
    intervals = [one.interval for one in mine]
    above = [each.high - each.estimate if each and each.high else 0 for each in intervals]
    below = [each.estimate - each.low if each and each.low else 0 for each in intervals]
    line = {"color": theme.NEUTRAL, "thickness": 2, "width": 6}
    return {"type": "data", "symmetric": False, "array": above, "arrayminus": below, **line}


def _label_groups(figure: go.Figure, placed: dict[float, Ratio]) -> None:
    labels: dict[str, list[float]] = {}
    for position, one in placed.items():
        labels.setdefault(one.arm.label, []).append(position)
    theme.label_rows(figure, list(labels))
    middles = [sum(places) / len(places) for places in labels.values()]
    figure.update_yaxes(tickvals=middles, range=[_bottom(placed) + 0.7, -0.7])
