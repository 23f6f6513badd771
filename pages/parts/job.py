"""The job panel: where a run stands while it waits or is measured, with Cancel and log. The one part that refreshes itself."""

import streamlit as st

from engine import formatting, worker
from engine.errors import StorageError
from engine.result import Run
from pages.parts import notices

REFRESH_S = 1.0
UNFINISHED = ("queued", "running")
PHASES = {
    "start": "Start",
    "load": "Load",
    "apply": "Apply",
    "first_call": "First calls",
    "check": "Check outputs",
    "warmup": "Warm up",
    "steady": "Measure",
    "finish": "Finish",
}


def show(run_id: str, drawn: Run | None = None, step: str | None = None) -> None:
    """Follow an unfinished run until it has ended, then draw the page again, once.

    `drawn` is what the page shows of the run so far, `step` where it shows the run to be: it is drawn again as soon as another
    variant has been measured or another step begins.
    """
    st.fragment(_panel, run_every=REFRESH_S)(run_id, drawn, step)


def step_of(run_id: str) -> str | None:
    """The technique that is being set up; None while several take turns, and when the run is not being measured."""
    try:
        progress = worker.get().progress(run_id)
    except StorageError:  # the panel says it
        return None
    return progress.variant.partition("/")[0] if progress and progress.variant else None


def _panel(run_id: str, drawn: Run | None, step: str | None) -> None:
    with notices.user_errors():
        service = worker.get()
        if service.store.status(run_id) not in UNFINISHED:
            st.rerun()
        if drawn is not None and (step_of(run_id) != step or _variants(service.store.run(run_id)) != _variants(drawn)):
            st.rerun()
        with st.container(border=True, key="job"):
            progress = service.progress(run_id)
            if progress is None:
                _show_queue(service.queue_position(run_id))
            else:
                _show_progress(progress)
            with st.container(horizontal=True, vertical_alignment="center"):
                st.button(
                    "Cancel", icon=":material/stop_circle:", key="cancel", on_click=service.cancel, args=(run_id,)
                )
                st.caption("The run goes on when this page is closed; its link shows it again in any browser.")
            if progress and progress.log:
                with st.expander("Log", icon=":material/notes:"):
                    st.code("\n".join(progress.log), language=None, height=220)


def _variants(run: Run) -> set[str]:
    return {outcome.variant for outcome in run.outcomes}


def _show_queue(position: int | None) -> None:
    st.progress(0.0, text="Waiting for its turn" if position is None else f"Number {position} in the queue")


def _show_progress(progress: worker.RunProgress) -> None:
    left = "" if progress.seconds_left is None else f" · about {formatting.seconds(round(progress.seconds_left))} left"
    st.badge(PHASES.get(progress.phase, "Running"), icon=":material/timer:", color="blue")
    st.progress(progress.fraction or 0.0, text=notices.plain(progress.message) + left)
