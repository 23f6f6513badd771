"""The race of one tuned operation: how far each candidate had come when the fastest crossed the line."""

from __future__ import annotations

import plotly.graph_objects as go

from engine import formatting
from engine.candidates import Candidate, TunedOperation, standing
from engine.charts import theme

BAR_WIDTH = 0.5
MOST = 10
"""Candidates drawn; a GPU may have dozens, and the table has them all."""
LIBRARY_OPACITY = 0.45
ROOM_FOR_WORDS = 1.75


def candidate_race(operation: TunedOperation, colour: str, subtitle: str = "") -> go.Figure:
    """Bars from the fastest down; full colour is generated, pale is a library's."""
    shown = operation.candidates[:MOST]
    figure = theme.new_figure(_title(operation), theme.rows_height(len(shown)), subtitle, wide=True)
    for position, candidate in enumerate(shown):
        covered = operation.fastest.seconds / candidate.seconds
        figure.add_bar(
            x=[covered], y=[position], orientation="h", width=BAR_WIDTH,
            marker={
                "color": theme.transparent(colour, 1.0 if candidate.is_generated else LIBRARY_OPACITY),
                "line": {"color": colour, "width": 1},
            },
            hovertext=theme.escaped(f"{candidate.name}: {_spoken(operation, candidate)}"), hoverinfo="text",
        )  # fmt: skip
        theme.add_words(figure, covered, position, theme.escaped(_spoken(operation, candidate)))
    figure.add_vline(x=1.0, line={"dash": "dot", "color": theme.NEUTRAL, "width": 1.5})
    theme.label_rows(figure, [_name(candidate) for candidate in shown])
    figure.update_xaxes(
        range=[0, ROOM_FOR_WORDS], tickvals=[0, 0.25, 0.5, 0.75, 1], tickformat=".0%", zeroline=False,
        title="of the way when the fastest crossed the line, higher is better",
    )  # fmt: skip
    return figure


def alt_text(operation: TunedOperation) -> str:
    """The chart in words, candidate by candidate."""
    shown = operation.candidates[:MOST]
    return f"{_title(operation)}. " + "; ".join(f"{_name(each)}: {_spoken(operation, each)}" for each in shown) + "."


def _title(operation: TunedOperation) -> str:
    left = len(operation.candidates) - MOST
    return f"The race for {operation.label}" + (f" ({left} slower candidates not drawn)" if left > 0 else "")


def _name(candidate: Candidate) -> str:
    return f"{candidate.name} ({'generated' if candidate.is_generated else 'library'})"


def _spoken(operation: TunedOperation, candidate: Candidate) -> str:
    return f"{formatting.seconds(candidate.seconds)}, {standing(operation, candidate)}"
