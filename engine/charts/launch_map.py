"""Batch x length: the most that CUDA graphs can bring, wall time over GPU time of eager calls."""

from __future__ import annotations

from collections.abc import Mapping

import plotly.graph_objects as go

from engine import formatting
from engine.charts import theme

SCALE = ((0.0, "#F2F4F7"), (1.0, "#9B7FE0"))
"""Pale: nothing to gain. The number in every cell says it without colour."""
TEXT = "#1B2430"
LARGEST = 4.0
"""Ratios from here on share the strongest colour."""


def launch_map(gains: Mapping[tuple[int, int], float], subtitle: str = "") -> go.Figure:
    """`gains` by (batch, length); cells nobody measured stay empty."""
    batches, lengths = _axis(gains, 0), _axis(gains, 1)
    cells = [[gains.get((batch, length)) for length in lengths] for batch in batches]
    figure = theme.new_figure(_TITLE, theme.rows_height(len(batches)), subtitle, wide=True)
    figure.add_heatmap(
        z=cells, x=list(range(len(lengths))), y=list(range(len(batches))), zmin=1.0, zmax=LARGEST, colorscale=SCALE,
        showscale=False, xgap=3, ygap=3, hoverinfo="skip",
        text=[[f"<b>{formatting.speedup(gain)}</b>" if gain else "" for gain in row] for row in cells],
        texttemplate="%{text}", textfont={"color": TEXT, "size": theme.TEXT_SIZE},
    )  # fmt: skip
    theme.label_rows(figure, [f"batch {batch}" for batch in batches])
    ticks = {"tickvals": list(range(len(lengths))), "ticktext": [f"{length} tokens" for length in lengths]}
    figure.update_xaxes(**ticks, side="top", showgrid=False, zeroline=False, fixedrange=True)
    return figure


_TITLE = "The most that CUDA graphs can bring: wall time over GPU time of eager calls"


def alt_text(gains: Mapping[tuple[int, int], float]) -> str:
    """The chart in words, cell by cell."""
    cells = (f"batch {batch}, {length} tokens: {formatting.speedup(gain)}" for (batch, length), gain in gains.items())
    return f"{_TITLE}. {'; '.join(cells)}."


def _axis(gains: Mapping[tuple[int, int], float], place: int) -> list[int]:
    return sorted({key[place] for key in gains})
