"""Speed-up of every variant over its baseline: bars with whiskers, the raw dots under them, the physical floor.

Rows keep their order and their place: one without a number says why, to the right of the 1.0x line. A slowdown is drawn
as one. Without an interval (one process set) a bar would claim too much: the dots and their median stand alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from engine import formatting
from engine.charts import theme
from engine.comparison import ComparisonRow
from engine.stats import Interval
from engine.verdict import Verdict

BASELINE = Interval(1.0, None, None, 0)

BAR_WIDTH = 0.46
DOTS_BELOW = 0.36
"""How far under the middle of its bar a row's raw dots and its floor lie, in rows: clear of bar, whisker and words."""
FLOOR_IN_SIGHT = 1.6
"""A floor farther right than this many times the longest bar would squeeze the bars; the caption below names it instead."""
ROOM_FOR_WORDS = 1.55
REASON_WIDTH = 46
"""Characters that fit to the right of the 1.0x line even where nothing is longer than 1.0x."""
WORD_COLOURS = {"green": "#1E8E4E", "red": "#D64545", "orange": "#C07A00"}
"""Of verdict words, readable on white and on #11161D; the word itself says it too."""


def speedup_bars(rows: Sequence[ComparisonRow], subtitle: str = "") -> go.Figure:
    """Horizontal bars in the rows' order; `subtitle` says model, shape, device and date."""
    figure = theme.new_figure(title(rows), theme.rows_height(len(rows)), subtitle, wide=True)
    reach = max([1.0, *(_right_end(row) for row in rows)])
    for position, row in enumerate(rows):
        if row.is_baseline and row.median_s is not None:
            _add_bar(figure, position, row, BASELINE)
        elif row.speedup and row.speedup.low is not None:
            _add_bar(figure, position, row, row.speedup)
        _add_dots(figure, position, row)
        theme.add_words(figure, max(1.0, _right_end(row)), position, words(row))
    figure.add_vline(x=1, line={"dash": "dot", "width": 1.5, "color": theme.NEUTRAL})
    theme.label_rows(figure, [row.label for row in rows])
    axis_title = "speed-up (x), higher is better" + _add_floors(figure, rows, reach * FLOOR_IN_SIGHT)
    return figure.update_xaxes(range=[0, reach * ROOM_FOR_WORDS], title=axis_title, zeroline=False)


def title(rows: Sequence[ComparisonRow]) -> str:
    """What the bars show, in words."""
    baselines = list(dict.fromkeys(row.baseline_label for row in rows))
    over = baselines[0].lower() if len(baselines) == 1 else "each row's baseline"
    processes = max((row.speedup.processes for row in rows if row.speedup), default=0)
    how = {0: "", 1: ", one process set: dots and no interval"}.get(
        processes, f", 95 % interval over {processes} process sets"
    )
    return f"Speed-up over {over}{how}"


def words(row: ComparisonRow) -> str:
    """What stands at the end of a row: number and verdict, or why there is no number; badges under it."""
    badges = " · ".join(badge.text for badge in row.badges)
    lines = [_number_and_verdict(row)] if row.speedup or row.is_baseline else _reason_lines(row)
    small = f'<span style="font-size:{theme.SUBTITLE_SIZE}px;color:{theme.NEUTRAL}">'
    return "<br>".join([*lines, *(f"{small}{line}</span>" for line in theme.wrapped(badges, REASON_WIDTH, 1))])


def _number_and_verdict(row: ComparisonRow) -> str:
    if row.verdict is Verdict.BASELINE:
        return "<b>1.00x</b>  baseline"
    if row.speedup is None:
        return "<br>".join(_reason_lines(row))
    number = f"<b>{formatting.speedup(row.speedup.estimate)}</b>"
    if row.verdict is Verdict.WRONG_RESULT:
        number = f"<s>{number}</s>"
    word = row.reason if row.verdict is Verdict.NO_VERDICT and row.reason else row.verdict.value
    colour = WORD_COLOURS.get(row.verdict.colour, theme.NEUTRAL)
    return f'{number}  <span style="color:{colour}">{theme.escaped(word)}</span>'


def _reason_lines(row: ComparisonRow) -> list[str]:
    return theme.wrapped(": ".join(filter(None, (row.verdict.value, row.reason))), REASON_WIDTH, 2)


def alt_text(rows: Sequence[ComparisonRow]) -> str:
    """The chart in words, row by row."""
    return f"{title(rows)}. " + "; ".join(_spoken(row) for row in rows) + "."


def _spoken(row: ComparisonRow) -> str:
    if row.speedup is None:
        return f"{row.label}: " + ", ".join(filter(None, (row.verdict.value, row.reason)))
    interval = "" if row.speedup.low is None else f" {formatting.interval(row.speedup.low, row.speedup.high)}"
    return f"{row.label}: {formatting.speedup(row.speedup.estimate)}{interval}, {row.verdict.value}"


def _right_end(row: ComparisonRow) -> float:
    if row.speedup is None:
        return 1.0 if row.is_baseline else 0.0
    return max([row.speedup.estimate, row.speedup.high or 0.0, *row.process_ratios])


def _add_bar(figure: go.Figure, position: int, row: ComparisonRow, speedup: Interval) -> None:
    style = theme.variant_style(row.variant)
    is_wrong = row.verdict is Verdict.WRONG_RESULT
    figure.add_bar(
        x=[speedup.estimate], y=[position], orientation="h", width=BAR_WIDTH, error_x=_whisker(speedup),
        marker={
            "color": theme.transparent(style.colour, 0.15) if is_wrong else style.colour,
            "line": {"color": style.colour, "width": 1.5 if is_wrong else 0},
            "pattern": {"shape": style.pattern},
        },
        hovertext=theme.escaped(_spoken(row)), hoverinfo="text",
    )  # fmt: skip


def _whisker(speedup: Interval) -> dict[str, object] | None:
    if speedup.low is None or speedup.high is None:
        return None
    above, below = speedup.high - speedup.estimate, speedup.estimate - speedup.low
    line = {"color": theme.NEUTRAL, "thickness": 2, "width": 7}
    return {"type": "data", "symmetric": False, "array": [above], "arrayminus": [below], **line}


def _add_dots(figure: go.Figure, position: int, row: ComparisonRow) -> None:
    """One dot per process set: small and under the bar, or large and in its place where there is no bar."""
    if not row.process_ratios:
        return
    has_bar = row.speedup is not None and row.speedup.low is not None
    figure.add_scatter(
        x=list(row.process_ratios), y=[position + DOTS_BELOW * has_bar] * len(row.process_ratios), mode="markers",
        marker={"size": 6 if has_bar else 13, "color": theme.variant_style(row.variant).colour, "opacity": 0.8},
        hovertemplate="process set: %{x:.3f}x<extra></extra>",
    )  # fmt: skip


def _add_floors(figure: go.Figure, rows: Sequence[ComparisonRow], in_sight: float) -> str:
    """Mark where each row would end if the device did only what physics asks for; returns what the axis says about it."""
    floors = {position: row.floor_speedup for position, row in enumerate(rows) if row.floor_speedup}
    near = {position: floor for position, floor in floors.items() if floor <= in_sight}
    mark = {"symbol": "line-ns-open", "size": 10, "color": theme.NEUTRAL, "line": {"width": 2}}
    hover = "physical floor: %{x:.2f}x<extra></extra>"
    places = [position + DOTS_BELOW for position in near]
    figure.add_scatter(x=list(near.values()), y=places, mode="markers", marker=mark, hovertemplate=hover)
    if not floors:
        return ""
    if near:
        return "; upright mark: physical floor"
    return f"; physical floor at {formatting.speedup(min(floors.values()))}, right of this axis"
