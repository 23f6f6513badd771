"""The route: every step with its bar, measured alone against the baseline or as what it adds to the rung below."""

import streamlit as st

from engine import catalog, worker
from engine.comparison import ClaimVerdict, ComparisonRow, newest_verdict
from engine.journey import Step, route_rows, rungs, steps
from engine.result import Run
from engine.spec import Workload
from pages.parts import link, measured, notices, pictures, verdicts

ALONE, STACKED = link.ROUTE_VIEWS
NEWEST = 12
"""Runs looked through for each step's newest result; more than a page ever needs, few enough to stay quick."""


def current_runs(device: str, run: Run | None) -> list[Run]:
    """The runs a page about the whole route rests on: the one its link names first, then the newest on this device."""
    newest = measured.newest_runs(worker.get().store, device, NEWEST)
    return [run, *(each for each in newest if each.id != run.id)] if run else newest


def current_steps(model: Workload, device: str, run: Run | None) -> list[Step]:
    """Each step's newest result at this point on this device; one run's alone when the link names it.

    A point that nothing was measured at gives way to the newest run's: pictures with their point named beat an empty page.
    """
    runs = [run] if run else current_runs(device, None)
    results = [(each, measured.rows_of(each)) for each in runs]
    found = steps(results, model)
    others = (measured.model_point(each) for each in runs)
    other = next((point for point in others if point is not None), None)
    return found if other is None or any(step.row for step in found) else steps(results, other)


def show(found: list[Step]) -> None:
    """Bars in the journey's order. Steps that have no number keep their place; those never measured are named below."""
    lead = next((step.run for step in found if step.run), None)
    if lead is None:
        return
    with st.container(border=True):
        view = st.segmented_control(
            "View", link.ROUTE_VIEWS, default=ALONE, required=True, key="route_view", bind="query-params",
            label_visibility="collapsed",
        )  # fmt: skip
        shown = route_rows(found) if view == ALONE else _stacked(lead)
        if shown:
            pictures.show_speedups(lead, shown, part=str(view))
        else:
            st.caption("No step of this run builds on another one that was measured with it.")
    missing = [step.technique.title for step in found if step.row is None]
    if missing:
        st.caption(f"Not measured here yet: {notices.plain(', '.join(missing))}.")


def _stacked(run: Run) -> list[ComparisonRow]:
    return rungs(run)


def show_steps(found: list[Step], runs: list[Run]) -> None:
    """One card per step: what it is, what came of it and of the article's claim, and the way to its page."""
    st.subheader("The steps")
    results = [(run, measured.rows_of(run)) for run in runs]
    with st.grid(3):
        for step in found:
            _show_card(
                step, [(claim, newest_verdict(claim, results)[0]) for claim in verdicts.claims_of(step.technique)]
            )


def _show_card(step: Step, claims: list[tuple[catalog.Claim, ClaimVerdict]]) -> None:
    technique = step.technique
    with st.container(border=True, height="stretch", key=f"step_{technique.key}"):
        st.markdown(f"##### {technique.icon} {technique.title}")
        for row in route_rows([step]):
            if not row.is_baseline:
                label = "" if row.workload.model else f"{notices.plain(row.label)}: "
                st.markdown(f"{label}:{row.verdict.colour}[{row.verdict.icon} {notices.plain(row.verdict.value)}]")
        st.markdown(technique.summary)
        st.caption(technique.picture)
        for claim, verdict in claims:
            st.caption(
                f"The article: {notices.plain(claim.figure or claim.statement)} {verdict.word.icon} {verdict.word.value}"
            )
        st.page_link(technique.page, label="Open", icon=":material/arrow_forward:")
