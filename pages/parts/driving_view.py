"""City driving against motorway: what one call starts one by one, before and after."""

import streamlit as st

from engine import captions
from engine.charts import driving
from engine.comparison import ComparisonRow
from engine.result import Run
from engine.stops import drives
from pages.parts import pictures


def show(run: Run, rows: list[ComparisonRow]) -> None:
    """The picture, where anything could be counted. `rows` are of one workload."""
    found = drives(run, rows)
    if not found:
        return

    def draw() -> pictures.Picture:
        return driving.driving(found, captions.of_chart(run, rows[0].workload)), driving.alt_text(found)

    with st.container(border=True, key="driving"):
        pictures.show(run, rows, "driving", draw)
        st.caption(
            "Counted by torch's profiler in a pass of its own, after timing. On a GPU a stop is a launch, of a kernel or of a "
            "whole graph; on a CPU it is a PyTorch operator, and code the compiler generated is not one. Marks are spread "
            "evenly: they are counted, not placed."
        )
