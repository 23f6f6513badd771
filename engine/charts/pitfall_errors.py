"""How far each mistake moves the number: from the right one (solid, with its whisker) to the reported one (hollow)."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from engine.charts import theme
from engine.pitfalls import ALONE, Lesson, error_text, reported_text, right_text, sentence

RIGHT = 1.0
IN_SIGHT = 2.5
"""A mistake that flatters more than this would squeeze all others; it ends in an arrow at the edge, its number beside it."""
ROOM_FOR_WORDS = 2.1
LINE_WIDTH, MARK_SIZE, OTHERS_SIZE = 5, 15, 6
OTHERS_BELOW = 0.3
REASON_WIDTH = 52
TITLE = "What each mistake would have told you"
AXIS = "speed reported ÷ speed measured right: left of 1.0x looks too slow, right of it too fast"


def pitfall_errors(lessons: Sequence[Lesson], colour: str, subtitle: str = "") -> go.Figure:
    """One row per lesson, in the page's order; one without numbers keeps its place and says why."""
    figure = theme.new_figure(title(lessons), theme.rows_height(len(lessons)), subtitle, wide=True)
    reach = _reach(lessons)
    for position, lesson in enumerate(lessons):
        if lesson.factor is not None:
            _add_move(figure, position, lesson, colour, reach)
        end = max(RIGHT, min(lesson.factor or RIGHT, reach))
        theme.add_words(figure, end, position, words(lesson))
    figure.add_vline(x=RIGHT, line={"dash": "dot", "width": 1.5, "color": theme.NEUTRAL})
    theme.label_rows(figure, [lesson.pitfall.title for lesson in lessons])
    ticks = [step / 2 for step in range(int(reach * 2) + 1)]
    return figure.update_xaxes(
        range=[0, reach * ROOM_FOR_WORDS], tickvals=ticks, ticktext=[f"{tick:g}x" for tick in ticks], title=AXIS, zeroline=False
    )  # fmt: skip


def title(lessons: Sequence[Lesson]) -> str:
    """What the chart shows, and over what its intervals are."""
    if any(lesson.whisker for lesson in lessons):
        return f"{TITLE}, 95 % intervals over process sets"
    return f"{TITLE}, {ALONE}: no intervals"


def words(lesson: Lesson) -> str:
    """What stands at the end of a row: the error, then both numbers in small."""
    if lesson.factor is None:
        lines = theme.wrapped(error_text(lesson), REASON_WIDTH, 2)
        return f'<span style="color:{theme.NEUTRAL}">{"<br>".join(lines)}</span>'
    numbers = theme.escaped(f"reported {reported_text(lesson)}, right {right_text(lesson)}")
    small = f'<span style="font-size:{theme.SUBTITLE_SIZE}px;color:{theme.NEUTRAL}">{numbers}</span>'
    return f"<b>{theme.escaped(error_text(lesson))}</b><br>{small}"


def alt_text(lessons: Sequence[Lesson]) -> str:
    """The chart in words, row by row."""
    return f"{title(lessons)}. " + "; ".join(map(sentence, lessons)) + "."


def _reach(lessons: Sequence[Lesson]) -> float:
    """Where the marks end: at the largest factor in sight, and a little beyond the right number in any case."""
    factors = [lesson.factor for lesson in lessons if lesson.factor is not None]
    if any(factor > IN_SIGHT for factor in factors):
        return IN_SIGHT
    return max([1.5, *factors])


def _add_move(figure: go.Figure, position: int, lesson: Lesson, colour: str, reach: float) -> None:
    """The line between the two numbers, the reported one hollow, the right one solid; other process sets' reports small."""
    end = min(lesson.factor or RIGHT, reach)
    is_beyond = lesson.factor is not None and lesson.factor > reach
    figure.add_scatter(
        x=[RIGHT, end], y=[position, position], mode="lines", hoverinfo="skip",
        line={"width": LINE_WIDTH, "color": theme.transparent(colour, 0.5)},
    )  # fmt: skip
    others = [factor for factor in lesson.factors[1:] if factor <= reach]
    figure.add_scatter(
        x=others, y=[position + OTHERS_BELOW] * len(others), mode="markers", marker={"size": OTHERS_SIZE, "color": colour},
        hovertemplate="the same loop in another process set: %{x:.3f}x<extra></extra>",
    )  # fmt: skip
    figure.add_scatter(
        x=[RIGHT], y=[position], mode="markers", error_x=_whisker(lesson),
        marker={"symbol": "diamond", "size": MARK_SIZE - 3, "color": colour},
        hovertext=theme.escaped(f"right: {right_text(lesson)}"), hoverinfo="text",
    )  # fmt: skip
    figure.add_scatter(
        x=[end], y=[position], mode="markers",
        marker={
            "symbol": "triangle-right-open" if is_beyond else "circle-open", "size": MARK_SIZE, "color": colour,
            "line": {"width": 3},
        },
        hovertext=theme.escaped(f"reported: {reported_text(lesson)}"), hoverinfo="text",
    )  # fmt: skip


def _whisker(lesson: Lesson) -> dict[str, object] | None:
    if lesson.whisker is None:
        return None
    low, high = lesson.whisker
    line = {"color": theme.NEUTRAL, "thickness": 2, "width": 7}
    return {"type": "data", "symmetric": False, "array": [high - RIGHT], "arrayminus": [RIGHT - low], **line}
