"""What can be done with runs: open, compare, name, delete."""

import streamlit as st

from engine import worker
from engine.errors import InvalidSpec
from engine.result import Run
from engine.store import RunSummary
from pages.parts import exports, measured, present

MAX_COMPARED = 8
"""More runs than this side by side are no longer readable on one screen."""


def show_actions(picked: list[RunSummary | Run]) -> None:
    """Buttons for the ticked runs."""
    ids = [run.id for run in picked]
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button("Open", key="open", icon=":material/open_in_new:", disabled=len(ids) != 1):
            _go(run=ids[0])
        if st.button(
            "Compare side by side",
            key="compare",
            icon=":material/compare_arrows:",
            disabled=not 2 <= len(ids) <= MAX_COMPARED,
        ):
            _go(runs=",".join(ids))
        if st.button("Delete", key="delete", icon=":material/delete:", disabled=not ids):
            _refuse_sample(picked)
            st.session_state["to_delete"] = ids
    if ids and st.session_state.get("to_delete") == ids:
        _confirm_deletion(ids)


def _refuse_sample(picked: list[RunSummary | Run]) -> None:
    """Raise for a ticked run that came with the product; only those are listed with all they measured."""
    sample = next((run for run in picked if isinstance(run, Run)), None)
    if sample is not None:
        raise InvalidSpec(
            f"Run {sample.id!r} is a shipped sample: it came with Latency Lab and cannot be deleted. "
            "Untick it, then delete the others."
        )


def show_heading(runs: list[Run]) -> None:
    """The way back; exports of several runs; label, note and deletion of a single one."""
    is_own = len(runs) == 1 and not measured.is_sample(runs[0])
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button("Back to all runs", key="back", icon=":material/arrow_back:", type="tertiary"):
            _go()
        if is_own and st.button("Delete", key="delete_shown", icon=":material/delete:", type="tertiary"):
            st.session_state["to_delete"] = runs[0].id
        st.space("stretch")
        present.show_way_in(runs[0] if len(runs) == 1 else None)
    if is_own and st.session_state.get("to_delete") == runs[0].id:
        _confirm_deletion([runs[0].id])
    if len(runs) > 1:
        exports.show(runs, "export_compared")
    if is_own:
        _show_label(runs[0])


def _show_label(run: Run) -> None:
    with st.expander("Label and note", icon=":material/label:", key="naming"), st.form("naming_form", border=False):
        label = st.text_input("Label", run.label, max_chars=80, key=f"label_{run.id}")
        note = st.text_area("Note", run.note, max_chars=2000, key=f"note_{run.id}", height=80)
        if st.form_submit_button("Save", icon=":material/save:", key="save_label"):
            worker.get().store.set_label(run.id, label, note)
            st.rerun()


def _confirm_deletion(ids: list[str]) -> None:
    with st.container(border=True, key="confirm_deletion"):
        what, go = ("this run", "Its") if len(ids) == 1 else (f"these {len(ids)} runs", "Their")
        st.markdown(
            f":red[:material/delete:] **Delete {what} for good?** {go} measurements and logs go too; exported files stay."
        )
        with st.container(horizontal=True):
            if st.button("Delete for good", key="delete_for_good", type="primary"):
                _delete(ids)
            if st.button("Keep", key="keep"):
                del st.session_state["to_delete"]
                st.rerun()


def _delete(ids: list[str]) -> None:
    del st.session_state["to_delete"]
    for run_id in ids:
        worker.get().store.delete_run(run_id)
    _go()


def _go(**parameters: str) -> None:
    """Show what the link says next."""
    for name in ("run", "runs"):
        if name in st.query_params and name not in parameters:
            del st.query_params[name]
    for name, value in parameters.items():
        st.query_params[name] = value
    st.rerun()
