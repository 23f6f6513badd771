"""The kernel-fusion page: the article's expression in many sizes, a transformer's chain, rounding, integers and float16."""

import streamlit as st

from engine import captions, catalog
from engine.comparison import ComparisonRow
from engine.result import Run
from engine.sweep.points import points_of, series_in
from engine.sweep.words import notes_of, overflows
from pages.parts import measured, notices, result, sweep_view, verdicts

LEADING = "kernel-fusion/addcmul"


def show(run: Run, technique: catalog.Technique) -> None:
    """A finished run; one without these operators is shown as any other."""
    rows = measured.rows_of(run)
    swept = [
        series for series in series_in(rows) if any(series.operator in each.subjects for each in technique.variants)
    ]
    if not swept:
        result.show(run, technique)
        return
    measured.show_origin(run)
    _show_headline(run, rows, technique)
    for series in swept:
        st.subheader(f"{series.card.label}, {series.dtype}")
        st.caption(series.card.summary)
        sweep_view.show(run, rows, series)
    _show_rounding(run, [row for row in rows if row.technique == technique.key])
    st.subheader("One size in detail")
    result.show_one_workload(run)


def _show_headline(run: Run, rows: list[ComparisonRow], technique: catalog.Technique) -> None:
    """addcmul, else another variant, at its largest measured size: what fusion brings where memory is the limit."""
    measured_points = [point for series in series_in(rows) for point in points_of(run, rows, series)]
    leading = [point.row for point in measured_points if point.row.variant == LEADING]
    others = [row for row in rows if row.technique == technique.key and not row.is_baseline and not row.is_twin]
    row = next(iter([*reversed(leading), *reversed(others)]), None)
    if row is not None:
        verdicts.show(run, row, rows, technique)
        st.caption(notices.plain(f"This is at {captions.of_workload(row.workload)}; all sizes follow."))


def _show_rounding(run: Run, rows: list[ComparisonRow]) -> None:
    """What fusion does to results: the last bit, integers, float16."""
    st.subheader("What it does to the result")
    st.markdown(
        "A fused kernel can round once where separate ones round at every step, so results may differ by that rounding. By how "
        "much, and whether a result is closer to float64 than the plain expression's, stands in the evidence below."
    )
    for note in notes_of(run):
        notices.show_warning(f"Integer inputs with a float value, {note}.")
    for words in overflows(rows)[:3]:
        notices.show_warning(words)
