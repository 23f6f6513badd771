"""A technique's page from top to bottom. A page file says which technique; everything else is here."""

import streamlit as st

from engine import captions, catalog, formatting, worker
from engine.estimate import estimate_seconds
from engine.result import Run
from engine.spec import Experiment
from pages.parts import controls, explanation, job, link, measured, notices, result

UNFINISHED = ("queued", "running")


def show(key: str) -> None:
    """The page of the technique called `key`."""
    technique = catalog.find_technique(key)
    store = worker.get().store
    wanted = controls.experiment_of(technique)
    run = link.shown_run(store) or measured.newest_run(store, technique, wanted)
    st.title(technique.title)
    st.caption(technique.picture)
    if run is None:
        _show_empty(technique, wanted)
    elif run.status in UNFINISHED:
        job.show(run.id)
    else:
        _show_age(run, technique, wanted)
        result.show(run, technique)
    explanation.show(technique, wanted)
    _show_controls(technique, wanted)


def _show_empty(technique: catalog.Technique, wanted: Experiment) -> None:
    """What will be here, and the one button that fills it."""
    with st.container(border=True, key="empty"):
        st.markdown("##### :material/bar_chart: Nothing measured here yet")
        st.markdown(
            f"{technique.summary} One run shows what it brings on this machine, at what price, and whether it really happened."
        )
        _run_button("Measure it now", "measure_first", wanted)


def _show_age(run: Run, technique: catalog.Technique, wanted: Experiment) -> None:
    """When the run was measured, how the settings below differ from it, and the button that measures them."""
    differences = controls.differences(run.experiment)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.badge(notices.plain(captions.measured(run)), icon=":material/schedule:", color="blue")
        if differences:
            st.badge(
                notices.plain(f"measured with {', '.join(differences)}; the settings now differ"),
                icon=":material/difference:",
                color="orange",
            )
        st.space("stretch")
        _run_button(
            "Measure again" if not differences else "Measure with these settings",
            "measure_again",
            wanted,
            again=not differences,
        )


def _show_controls(technique: catalog.Technique, wanted: Experiment) -> None:
    st.subheader("Measure on this machine", anchor="measure")
    with st.container(border=True, key="controls"):
        controls.shape_and_protocol()
        controls.label_and_note()
        with st.container(horizontal=True, vertical_alignment="center"):
            _run_button("Run", "run", wanted)
            st.caption(
                f"About {formatting.seconds(estimate_seconds(wanted))} on a 2-core machine; the page says more once it runs."
            )


def _run_button(label: str, key: str, wanted: Experiment, again: bool = False) -> None:
    """Submit what the controls say and show that run; the stored result of the same experiment unless `again`."""
    if st.button(label, key=key, type="primary", icon=":material/play_arrow:"):
        state = st.session_state
        run = worker.get().submit(wanted, state.get("run_label", ""), state.get("run_note", ""), again=again)
        st.query_params["run"] = run.id
        state["settings_of"] = run.id
        st.rerun()
