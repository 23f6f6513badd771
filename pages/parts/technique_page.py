"""A technique's page from top to bottom. A page file says which technique; everything else is here."""

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from engine import captions, catalog, formatting, worker
from engine.estimate import estimate_seconds
from engine.result import Run
from engine.spec import Experiment
from pages.parts import controls, explanation, job, link, measured, notices, present, result


@dataclass(frozen=True)
class Own:
    """What differs between techniques: the experiment that the controls describe, the controls, how settings and a run differ
    (in words), how a finished run is shown, why the controls describe nothing that can be measured (None: they do), and how
    the technique is explained. `promise` says on an empty page what one run will show."""

    experiment_of: Callable[[catalog.Technique], Experiment]
    show_controls: Callable[[catalog.Technique], None]
    differences: Callable[[Experiment], list[str]]
    show_result: Callable[[Run, catalog.Technique], None]
    problem: Callable[[], str | None] = lambda: None
    explain: Callable[[catalog.Technique, Experiment], None] = explanation.show
    promise: str = "One run shows what it brings on this machine, at what price, and whether it really happened."


ONE_MODEL = Own(
    controls.experiment_of, lambda technique: controls.shape_and_protocol(), controls.differences, result.show
)
"""A model at one shape, as most techniques are measured."""


def show(key: str, own: Own = ONE_MODEL) -> None:
    """The page of the technique called `key`, with what it has of its own."""
    technique = catalog.find_technique(key)
    store = worker.get().store
    wanted = own.experiment_of(technique)
    _submit_if_asked(wanted, own)
    run = link.shown_run(store) or measured.newest_run(store, technique, wanted)
    if present.is_on():
        present.show_run(run, technique)
    st.title(technique.title)
    st.caption(technique.picture)
    if run is None:
        _show_empty(technique, wanted, own)
    elif run.status in job.UNFINISHED:
        # Whoever pressed Run is at the controls: progress and controls stay together.
        job.show(run.id)
        _show_controls(technique, wanted, own)
        own.explain(technique, wanted)
        return
    else:
        _show_age(run, own)
        own.show_result(run, technique)
    own.explain(technique, wanted)
    _show_controls(technique, wanted, own)


def _show_empty(technique: catalog.Technique, wanted: Experiment, own: Own) -> None:
    """What will be here, and the one button that fills it."""
    words = f"{technique.summary} {own.promise}"
    with (
        notices.empty(":material/bar_chart:", "Nothing measured here yet", words),
        st.container(horizontal=True, vertical_alignment="center"),
    ):
        _run_button("Measure it now", "measure_first", own)
        _show_estimate(wanted)


def _show_age(run: Run, own: Own) -> None:
    """When the run was measured, how the settings below differ from it, and the button that measures them."""
    differences = own.differences(run.experiment)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.badge(notices.plain(captions.measured(run)), icon=":material/schedule:", color="blue")
        if differences:
            st.badge(
                notices.plain(f"measured with {', '.join(differences)}; the settings now differ"),
                icon=":material/difference:",
                color="orange",
            )
        st.space("stretch")
        present.show_way_in(run)
        _run_button(
            "Measure again" if not differences else "Measure with these settings",
            "measure_again",
            own,
            again=not differences,
        )


def _show_controls(technique: catalog.Technique, wanted: Experiment, own: Own) -> None:
    st.subheader("Measure on this machine", anchor="measure")
    with st.container(border=True, key="controls"):
        own.show_controls(technique)
        controls.label_and_note()
        with st.container(horizontal=True, vertical_alignment="center"):
            _run_button("Run", "run", own)
            _show_estimate(wanted)


def _show_estimate(wanted: Experiment) -> None:
    estimate = formatting.seconds(estimate_seconds(wanted, worker.get().machine()))
    st.caption(f"About {estimate} on a 2-core machine; the page says more once it runs.")


def _run_button(label: str, key: str, own: Own, again: bool = False) -> None:
    """Asks for a run of what the controls will say when the press arrives."""
    is_unusable = own.problem() is not None
    icon = ":material/play_arrow:"
    st.button(label, key=key, type="primary", icon=icon, disabled=is_unusable, on_click=_ask, args=(again,))


def _ask(again: bool) -> None:
    st.session_state["asked_for_run"] = again


def _submit_if_asked(wanted: Experiment, own: Own) -> None:
    """Before anything is drawn, so that a stored result appears in the same pass: name the run in the link."""
    state = st.session_state
    again = state.pop("asked_for_run", None)
    if again is not None and own.problem() is None:
        run = worker.get().submit(wanted, state.get("run_label", ""), state.get("run_note", ""), again=again)
        st.query_params["run"] = run.id
        state["settings_of"] = run.id
