"""One run, top to bottom: the sentence, the pictures, the price, the proof, the trust. The same on every page."""

from collections.abc import Callable

import streamlit as st

from engine import alternatives, captions, catalog
from engine.comparison import ComparisonRow
from engine.cost_table import MEANINGS, cost_table, early_percentiles
from engine.headline import leading_row
from engine.result import Run
from engine.second_look import changes, flat_latencies
from engine.spec import Workload
from pages.parts import exports, measured, notices, pictures, proofs, verdicts

Story = Callable[[Run, list[ComparisonRow]], None]
"""What one technique has to tell beyond the usual; it is given the rows of one workload."""


def show(run: Run, technique: catalog.Technique | None = None, story: Story | None = None) -> None:
    """Everything about a finished run; with a technique, its verdict leads and its claims stand beside.

    `story` comes between the price and the proof.
    """
    measured.show_origin(run)
    every_row = measured.rows_of(run)
    rows = _rows_at(_chosen_workload(run), every_row)
    row = leading_row(rows, technique.key if technique else None) or leading_row(rows)
    if row is None:
        words = "It ended before the first timed call."
        notices.empty(":material/hourglass_empty:", "Nothing was measured in this run", words)
        return
    verdicts.show(run, row, every_row, technique)
    if technique and (faster := alternatives.sentence(row, rows)):
        st.markdown(f":material/alt_route: {notices.plain(faster)}")
    _show_details(run, rows, row, story)


def show_one_workload(run: Run, story: Story | None = None) -> None:
    """One of a run's workloads in full, for pages that show all of them together first; `story` as in `show`."""
    rows = _rows_at(_chosen_workload(run), measured.rows_of(run))
    row = leading_row(rows)
    if row is not None:
        _show_details(run, rows, row, story)


def _rows_at(workload: Workload, rows: list[ComparisonRow]) -> list[ComparisonRow]:
    return [row for row in rows if row.workload == workload and not row.is_twin]


def _show_details(run: Run, rows: list[ComparisonRow], row: ComparisonRow, story: Story | None = None) -> None:
    for words in (*changes(rows), *flat_latencies(measured.rows_of(run))):
        notices.show_warning(words)
    _show_pictures(run, rows)
    _show_price(run, rows)
    if story:
        story(run, rows)
    if any(each.samples for each in rows):
        proofs.show_evidence(run, rows)
    proofs.show_failures(run, rows)
    if judged := [each for each in (row, *(other for other in rows if other is not row)) if each.checks]:
        proofs.show_trust(run, judged)
    exports.show([run], "export")


def _chosen_workload(run: Run) -> Workload:
    """The only workload, or the one the reader picks."""
    places = range(len(run.experiment.workloads))
    if len(places) == 1:
        return run.experiment.workloads[0]
    place = st.selectbox(
        "Workload",
        places,
        format_func=lambda place: captions.of_workload(run.experiment.workloads[place]),
        key="workload",
        bind="query-params",
    )
    return run.experiment.workloads[place]


def _show_pictures(run: Run, rows: list[ComparisonRow]) -> None:
    with st.container(border=True):
        pictures.show_speedups(run, rows)
    if not any(row.samples for row in rows):
        return
    left, right = st.columns(2)
    with left.container(border=True, height="stretch"):
        pictures.show_latencies(run, rows)
    with right.container(border=True, height="stretch"):
        pictures.show_first_calls(run, rows)


def _show_price(run: Run, rows: list[ComparisonRow]) -> None:
    known = [row for row in rows if row.samples]
    if not known:
        return
    st.subheader("What it costs")
    left, right = st.columns(2)
    with left.container(border=True, height="stretch"):
        pictures.show_total_time(run, known)
    with right.container(border=True, height="stretch"):
        costs = cost_table(known)
        table = costs.map(notices.plain)
        for line, label in early_percentiles(known):
            table.loc[costs["cost"] == line, label] = table[label].map(notices.greyed)
        table = table.rename(columns=notices.plain)
        table["cost"] = [notices.explained(cost, MEANINGS.get(cost)) for cost in costs["cost"]]
        st.table(
            table, border="horizontal", hide_index=True, alt="Set-up time, break-even calls, tail latency and memory"
        )
