"""A run over many lengths: who was through with the requests first, latency at every length, graphs after each."""

import pandas as pd
import streamlit as st

from engine import captions, catalog
from engine.charts import length_curves, stream_bars
from engine.comparison import ComparisonRow
from engine.dynamic_shapes.requests import describe, stream_of, warn_of_shapes
from engine.dynamic_shapes.story import caveat, problems, recorded_graphs, sentence, without_graphs
from engine.dynamic_shapes.stream import StreamRow, streams
from engine.dynamic_shapes.table import graphs_by_order, lengths_table, serves_lengths, stalls_by_order, streams_table
from engine.result import Run
from pages.parts import driving_view, measured, notices, pictures, result, verdicts


def show_result(run: Run, technique: catalog.Technique | None = None) -> None:
    """What is about all lengths together, then one of them in full."""
    rows = measured.rows_of(run)
    if serves_lengths(rows):
        measured.show_origin(run)
        _show_story(run, rows, technique)
        st.subheader("One length in detail")
        result.show_one_workload(run, driving_view.show)
    else:
        result.show(run, technique)


def _show_story(run: Run, rows: list[ComparisonRow], technique: catalog.Technique | None) -> None:
    variants, found = [row for row in rows if not row.is_twin], streams(run, rows)
    claims = verdicts.claims_of(technique)
    columns = st.columns([2, 1] if claims else [1])
    with columns[0].container(border=True, height="stretch", key="lengths_sentence"):
        st.markdown(f"#### :material/local_taxi: {notices.plain(sentence(rows, found))}")
        st.caption(notices.plain(caveat(found)) if found else notices.plain(captions.of_run(run)))
    for claim in claims:
        with columns[1].container(border=True, height="stretch", key=f"claim_{claim.key}"):
            verdicts.show_claim(claim, rows)
    lengths = [point.sequence_length or 0 for point in run.experiment.workloads]
    if warning := warn_of_shapes(lengths, run.experiment.request_lengths):
        notices.show_warning(warning)
    for problem in problems(rows):
        notices.show_warning(problem)
    if found:
        _show_stream(run, rows, found)
    _show_lengths(run, variants)


def _show_stream(run: Run, rows: list[ComparisonRow], found: list[StreamRow]) -> None:
    shown = [row for row in found if not row.is_twin]
    with st.container(border=True, key="stream"):
        subtitle = captions.of_lengths(run)
        pictures.show(
            run, rows, "stream", lambda: (stream_bars.stream_bars(shown, subtitle), stream_bars.alt_text(shown))
        )
        st.caption(describe(stream_of(run.experiment)))
        st.dataframe(streams_table(found), key="streams", hide_index=True, height="content", alt="The stream's totals")


def _show_lengths(run: Run, rows: list[ComparisonRow]) -> None:
    with st.container(border=True, key="curves"):
        subtitle = captions.of_lengths(run)
        pictures.show(
            run, rows, "lengths", lambda: (length_curves.length_curves(rows, subtitle), length_curves.alt_text(rows))
        )
    graphs = graphs_by_order(rows)
    with st.container(border=True, key="orders"):
        if graphs.empty:
            st.caption(notices.plain(without_graphs(rows)))
        else:
            _show_graphs(run, graphs, stalls_by_order(rows))
        with st.expander("Every length by the length seen first", icon=":material/table_rows:"):
            st.caption(
                "A symbolic graph is tuned for the length it saw first. If that matters here, the medians show it."
            )
            st.dataframe(
                lengths_table(rows), key="lengths_table", hide_index=True, alt="Latency by length and first length"
            )


def _show_graphs(run: Run, graphs: pd.DataFrame, stalls: pd.DataFrame) -> None:
    st.markdown("##### Graphs after each length")
    st.caption("Every process set meets the lengths in another order: as given, reversed, then random and its reverse.")
    st.dataframe(graphs, key="graphs", hide_index=True, height="content", alt="Graphs after each length")
    for told in recorded_graphs(run):
        st.caption(notices.plain(told))
    st.markdown("##### What the first call at each length took beyond a steady one")
    st.dataframe(stalls, key="stalls", hide_index=True, height="content", alt="Stalls at each length")
