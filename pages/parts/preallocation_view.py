"""The four parts of the pre-allocation page: the article's example, sizes, the model, pooling and fragmentation."""

from dataclasses import replace

import streamlit as st

from engine import captions, catalog
from engine.charts import speedup_bars
from engine.comparison import ComparisonRow
from engine.evidence_table import evidence_table, meanings
from engine.result import Run
from engine.sweep.points import points_of, series_in
from engine.sweep.table import example_table
from engine.sweep.words import AS_WRITTEN, WEIGHTS_OUTSIDE, article_example, where_curves_part
from pages.parts import measured, notices, pictures, proofs, result, sweep_view, verdicts

WHERE = {AS_WRITTEN: "as written", WEIGHTS_OUTSIDE: "weights drawn beforehand"}
STREAM = "request-stream"
COPYTO, OUT = "preallocation/copyto", "preallocation/out"
NO_POOL = (
    ":material/do_not_disturb_on: Not available here: fragmentation is CUDA's allocator's, and this device has none. "
    "On a CPU, allocations and page faults per call stand in the tables above, peak memory in the detail below."
)
NOT_CHOSEN = ":material/hourglass_empty: Not measured in this run: choose the part about pooling below."
MEMORY_CLAIMS = ("fragmentation-21.3", "memory-20-70")


def show(run: Run, technique: catalog.Technique) -> None:
    """A finished run; one that holds none of these parts is shown as any other."""
    every_row = measured.rows_of(run)
    rows = [row for row in every_row if row.technique == technique.key]  # of a whole route, other pages show the rest
    if not rows:
        result.show(run, technique)
        return
    measured.show_origin(run)
    _show_headline(run, rows, technique)
    _show_example(run, [row for row in rows if row.workload.operator in WHERE and not row.is_twin])
    _show_sizes(run, rows)
    _show_model(run, [row for row in rows if row.workload.model and not row.is_twin])
    _show_pooling(run, [row for row in rows if row.workload.operator == STREAM and not row.is_twin], every_row)
    st.subheader("One workload in detail")
    result.show_one_workload(run)


def _show_headline(run: Run, rows: list[ComparisonRow], technique: catalog.Technique) -> None:
    """The article's claim on its own example, or whatever was measured first."""
    own = [row for row in rows if row.technique == technique.key and not row.is_twin and not row.is_baseline]
    copied = [row for row in own if row.variant == COPYTO and row.workload.operator == AS_WRITTEN]
    row = next(iter([*copied, *own]), None)
    if row is not None:
        claims = [
            claim for claim in catalog.CLAIMS if claim.technique == technique.key and claim.key not in MEMORY_CLAIMS
        ]
        verdicts.show(run, row, rows, technique, claims)
        st.caption(notices.plain(f"This is about {captions.of_workload(row.workload)}; other sizes and cases follow."))
    for series in series_in(rows):
        sentence = where_curves_part(points_of(run, rows, series), OUT)
        if series.operator not in (*WHERE, STREAM) and sentence:
            st.markdown(f"**{notices.plain(series.card.label)}**: {notices.plain(sentence)}")


def _show_example(run: Run, rows: list[ComparisonRow]) -> None:
    if not rows:
        return
    st.subheader("The article's example")
    sentence = article_example(rows)
    if sentence:
        st.markdown(notices.plain(sentence))
    labelled = [replace(row, label=f"{row.label}, {WHERE[row.workload.operator or '']}") for row in rows]
    with st.container(border=True):
        subtitle = captions.of_run(run)
        pictures.show(
            run,
            labelled,
            "example",
            lambda: (speedup_bars.speedup_bars(labelled, subtitle), speedup_bars.alt_text(labelled)),
        )
    for operator, where in WHERE.items():
        points = [
            point for series in series_in(rows) if series.operator == operator for point in points_of(run, rows, series)
        ]
        if points:
            st.caption(f"What each call does, {where}:")
            st.table(
                example_table(points),
                border="horizontal",
                hide_index=True,
                alt=f"Time and memory of each variant, {where}",
            )


def _show_sizes(run: Run, rows: list[ComparisonRow]) -> None:
    swept = [series for series in series_in(rows) if series.operator not in (*WHERE, STREAM)]
    for series in swept:
        st.subheader(f"Sizes: {series.card.label}, {series.dtype}")
        sweep_view.show(run, rows, series)


def _show_model(run: Run, rows: list[ComparisonRow]) -> None:
    st.subheader("The model")
    if not rows:
        st.caption("Not measured in this run: choose The model below to measure its inputs and outputs as well.")
        return
    st.markdown(
        "Inputs of a language model are a few kilobytes of token ids: making them anew costs microseconds, a call milliseconds."
    )
    with st.container(border=True):
        pictures.show_speedups(run, rows, "model")


def _show_pooling(run: Run, rows: list[ComparisonRow], every_row: list[ComparisonRow]) -> None:
    st.subheader("Pooling and fragmentation")
    if rows:
        with st.container(border=True):
            pictures.show_speedups(run, rows, "pooling")
    known = [row for row in rows if row.samples]
    if known:
        _show_evidence(run, known)
    else:
        st.caption(NO_POOL if run.experiment.device == "cpu" else NOT_CHOSEN)
    claims = [claim for claim in catalog.CLAIMS if claim.key in MEMORY_CLAIMS]
    for column, claim in zip(st.columns(len(claims)), claims, strict=True):
        with column.container(border=True, height="stretch"):
            verdicts.show_claim(claim, every_row)


def _show_evidence(run: Run, rows: list[ComparisonRow]) -> None:
    proofs.show_facts(evidence_table(run, rows).assign(meaning=meanings(run, rows)))
