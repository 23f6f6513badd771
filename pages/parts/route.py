"""The route: every step with its bar, measured alone against the baseline or as what it adds to the rung below."""

import streamlit as st

from engine import catalog, worker
from engine.comparison import ComparisonRow
from engine.journey import Step, rungs, steps
from engine.result import Run
from engine.spec import Workload
from pages.parts import measured, notices, pictures

ALONE, STACKED = "Each step alone", "What stacking adds"
NEWEST = 12
"""Runs looked through for each step's newest result; more than a page ever needs, few enough to stay quick."""


def current_steps(model: Workload, device: str, run: Run | None) -> list[Step]:
    """Each step's newest result at this point on this device; one run's alone when the link names it.

    A point that nothing was measured at gives way to the newest run's: pictures with their point named beat an empty page.
    """
    runs = [run] if run else measured.newest_runs(worker.get().store, device, NEWEST)
    results = [(each, measured.rows_of(each)) for each in runs]
    found = steps(results, model)
    others = (measured.model_point(each) for each in runs)
    other = next((point for point in others if point is not None), None)
    return found if other is None or any(step.row for step in found) else steps(results, other)


def show(found: list[Step]) -> None:
    """Bars in the journey's order. Steps that have no number keep their place; those never measured are named below."""
    rows = [step.row for step in found if step.row]
    lead = next((step.run for step in found if step.run), None)
    if lead is None:
        return
    with st.container(border=True):
        view = st.segmented_control(
            "View", [ALONE, STACKED], default=ALONE, required=True, key="route_view", label_visibility="collapsed"
        )
        shown = rows if view == ALONE else _stacked(lead)
        if shown:
            pictures.show_speedups(lead, shown, part=str(view))
        else:
            st.caption("No step of this run builds on another one that was measured with it.")
    missing = [step.technique.title for step in found if step.row is None]
    if missing:
        st.caption(f"Not measured here yet: {notices.plain(', '.join(missing))}.")


def _stacked(run: Run) -> list[ComparisonRow]:
    return rungs(run)


def show_steps(found: list[Step]) -> None:
    """One card per step: what it is, what came of it, and the way to its page."""
    st.subheader("The steps")
    with st.grid(3):
        for step in found:
            _show_card(step.technique, step.row)


def _show_card(technique: catalog.Technique, row: ComparisonRow | None) -> None:
    with st.container(border=True, height="stretch", key=f"step_{technique.key}"):
        st.markdown(f"##### {technique.icon} {technique.title}")
        if row is not None and not row.is_baseline:
            st.markdown(f":{row.verdict.colour}[{row.verdict.icon} {notices.plain(row.verdict.value)}]")
        st.markdown(technique.summary)
        st.caption(technique.picture)
        st.page_link(technique.page, label="Open", icon=":material/arrow_forward:")
