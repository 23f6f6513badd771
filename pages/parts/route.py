"""The route: every step with its bar, measured alone against the baseline or as what it adds to the rung below."""

from collections.abc import Sequence

import streamlit as st

from engine import alternatives, captions, catalog, worker
from engine.basis import basis, model_point, widest
from engine.comparison import ClaimVerdict, ComparisonRow, newest_verdict
from engine.journey import Step, route_rows, steps
from engine.result import Run
from engine.spec import Workload
from engine.store import RunSummary
from pages.parts import link, measured, notices, pictures, verdicts

ALONE, STACKED = link.ROUTE_VIEWS


def current(model: Workload, device: str, linked: Run | None) -> tuple[list[Run], list[Step]]:
    """The runs the whole route rests on, and each step as they tell it; of a run the link names the steps alone.

    A point that nothing was measured at gives way to that of the run that measured most: pictures with their point named beat
    an empty page.
    """
    known = measured.of_the_model(worker.get().store, device)
    most = linked or widest(known)
    other = (model_point(most.experiment) if most else None) or model
    for point in (other,) if linked else (model, other):
        runs = _runs(known, point, linked)
        found = steps([(run, measured.rows_of(run)) for run in ([linked] if linked else runs)], point)
        if any(step.row for step in found):
            break
    return runs, found


def _runs(known: Sequence[Run | RunSummary], point: Workload, linked: Run | None) -> list[Run]:
    others = [run.id for run in basis(known, point, linked) if linked is None or run.id != linked.id]
    return [*([linked] if linked else []), *map(worker.get().store.run, others)]


def show_alternative(lead: ComparisonRow, run: Run) -> None:
    """What is faster than the leading row, but other work."""
    if faster := alternatives.sentence(lead, measured.rows_of(run)):
        st.markdown(f":material/alt_route: {notices.plain(faster)}")


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
        shown = route_rows(found) if view == ALONE else measured.rungs_of(lead)
        if shown:
            pictures.show_speedups(lead, shown, part=str(view))
        else:
            st.caption("No step of this run builds on another one that was measured with it.")
    missing = [step.technique.title for step in found if step.row is None]
    if missing:
        st.caption(f"Not measured here yet: {notices.plain(', '.join(missing))}.")


def show_steps(found: list[Step], runs: list[Run], under_way: str | None = None) -> None:
    """One card per step: what it is, what came of it and of the article's claim, and the way to its page.

    `under_way` is the technique that is being set up at this moment.
    """
    st.subheader("The steps")
    results = [(run, measured.rows_of(run)) for run in runs]
    with st.grid(3):
        for step in found:
            claims = [(claim, newest_verdict(claim, results)[0]) for claim in verdicts.claims_of(step.technique)]
            _show_card(step, claims, step.technique.key == under_way)


def _show_card(step: Step, claims: list[tuple[catalog.Claim, ClaimVerdict]], is_under_way: bool) -> None:
    technique = step.technique
    with st.container(border=True, height="stretch", key=f"step_{technique.key}"):
        st.markdown(f"##### {technique.icon} {technique.title}")
        if is_under_way:
            st.badge("Being set up now", icon=":material/timer:", color="blue")
        for row in route_rows([step]):
            if not row.is_baseline:
                label = "" if row.workload.model else f"{notices.plain(row.label)}: "
                st.markdown(f"{label}:{row.verdict.colour}[{row.verdict.icon} {notices.plain(row.verdict.value)}]")
        st.markdown(technique.summary)
        st.caption(technique.picture)
        if step.run:
            st.caption(f"Here: {notices.plain(captions.of_evidence(step.run))}.")
        for claim, verdict in claims:
            st.caption(
                f"The article: {notices.plain(claim.figure or claim.statement)} {verdict.word.icon} {verdict.word.value}"
            )
        st.page_link(technique.page, label="Open", icon=":material/arrow_forward:")
