"""The CUDA Graphs page: what graphs can bring at most, before a run and in it; what serving adds; what a CPU cannot show."""

import pandas as pd
import streamlit as st

from engine import captions, catalog, launch_bound, replay, worker
from engine.charts import launch_map
from engine.comparison import ComparisonRow
from engine.result import Run
from pages.parts import controls, driving_view, measured, notices, pictures, result

NEWEST = 20
"""Runs whose eager times fill the map; older ones of the same points would say the same."""


def show_result(run: Run, technique: catalog.Technique) -> None:
    """A finished run with its graphs."""
    result.show(run, technique, _show_story)


def show_controls(technique: catalog.Technique) -> None:
    """The usual controls under what is known before the run."""
    wanted = controls.experiment_of(technique)
    row = launch_bound.eager_row(_stored_rows(wanted.device), wanted.workloads[0])
    st.markdown(f":material/speed: {notices.plain(launch_bound.sentence(row, wanted.device))}")
    controls.shape_and_protocol()


def show_without_cuda(technique: catalog.Technique) -> None:
    """On a device without CUDA: what a run on one would measure and prove, in words and without a number."""
    if str(st.session_state["device"]).startswith("cuda"):
        return
    st.subheader("What a CUDA device would show")
    st.markdown(
        "Not available here: this device has no CUDA, so there is no graph to record and no figure to show. "
        "`reduce-overhead` still runs, as plain compiled code, and its row says that it did not use a graph. "
        "On a machine with a GPU, `python -m engine gpu-check` measures these variants and writes a CSV that opens here."
    )
    table = [(variant.label, variant.summary, _proof(variant)) for variant in technique.variants]
    st.table(
        pd.DataFrame(table, columns=["variant", "what is timed", "what proves it"]),
        border="horizontal",
        hide_index=True,
        alt="Variants of CUDA Graphs, what is timed and what proves each",
    )


def _proof(variant: catalog.Variant) -> str:
    served = "a different input gives a different answer, and an answer outlives the next call"
    bare = "a graph launch in every profiled call, next to no single kernel launches"
    return bare if "overwrites_outputs" in variant.proofs else f"{bare}; {served}"


def _show_story(run: Run, rows: list[ComparisonRow]) -> None:
    workload, device = rows[0].workload, run.experiment.device
    st.subheader("What graphs can bring, and what they did")
    st.markdown(notices.plain(launch_bound.sentence(launch_bound.eager_row(rows, workload), device)))
    for words in (
        *replay.served_sentences(rows),
        *replay.pool_sentences(rows),
        *replay.skip_sentences(run, workload),
    ):
        st.markdown(f"- {notices.plain(words)}")
    gains = launch_bound.gains([*measured.rows_of(run), *_stored_rows(device)], workload)
    if launch_bound.is_map(gains):
        with st.container(border=True, key="launch_map"):
            figure = launch_map.launch_map(gains, captions.of_run(run))
            st.plotly_chart(figure, key="chart_launch_map", config=pictures.CONFIG, alt=launch_map.alt_text(gains))
            st.caption("Where an eager call waits for the GPU in its middle, its GPU time is the profiler's.")
    driving_view.show(run, rows)


def _stored_rows(device: str) -> list[ComparisonRow]:
    """Rows of the newest runs on a CUDA device; nothing to look for on another one."""
    if not device.startswith("cuda"):
        return []
    store = worker.get().store
    own = [run for run in store.runs() if run.measurements and run.experiment.device == device]
    return [row for run in own[:NEWEST] for row in measured.rows_of(store.run(run.id))]
