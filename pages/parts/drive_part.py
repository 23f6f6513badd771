"""The buttons that start the drive: a stored result of these settings is shown again, or measured again."""

import streamlit as st

from engine import captions, worker
from engine.result import Run
from engine.spec import Experiment
from pages.parts import measured, notices


def submit_if_asked(wanted: Experiment) -> None:
    """Before anything is drawn, so that a stored result appears in the same pass: name the run in the link."""
    state = st.session_state
    again = state.pop("asked_for_drive", None)
    if again is not None:
        run = worker.get().submit(wanted, again=again)
        st.query_params["run"] = run.id
        state["settings_of"] = run.id


def show_buttons(wanted: Experiment, runs: list[Run]) -> None:
    """Drive, and where these settings have been measured here, when that was and the way to measure them anew."""
    _button("Drive the whole route", "drive_route", again=False)
    done = (run for run in runs if run.status == "done" and run.experiment == wanted)
    stored = next((run for run in done if not measured.is_sample(run)), None)
    if stored is not None:
        _button("Measure again", "drive_again", again=True)
        st.badge(notices.plain(captions.measured(stored)), icon=":material/schedule:", color="blue")


def _button(label: str, key: str, again: bool) -> None:
    icon = ":material/replay:" if again else ":material/play_arrow:"
    kind = "secondary" if again else "primary"
    st.button(label, key=key, type=kind, icon=icon, on_click=_ask, args=(again,))


def _ask(again: bool) -> None:
    st.session_state["asked_for_drive"] = again
