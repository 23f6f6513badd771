"""Several runs on one screen: bars, and a table of every number. Each run keeps its own baseline."""

import streamlit as st

from engine.charts import speedup_bars
from engine.result import Run
from engine.side_by_side import MEANINGS, labelled, side_by_side
from pages.parts import measured, pictures


def show(runs: list[Run]) -> None:
    """Rows of all runs, run by run."""
    rows = [row for run in runs for row in labelled(run, measured.rows_of(run))]
    st.caption("Every speed-up is over the baseline of its own run; nothing is divided across runs.")
    with st.container(border=True):
        figure = speedup_bars.speedup_bars(rows, f"{len(runs)} runs side by side")
        st.plotly_chart(figure, key="chart_compared", config=pictures.CONFIG, alt=speedup_bars.alt_text(rows))
    st.dataframe(
        side_by_side(rows),
        key="compared",
        hide_index=True,
        height="content",
        alt="Every number of the compared runs",
        column_config={name: st.column_config.TextColumn(help=meaning) for name, meaning in MEANINGS.items()},
    )
