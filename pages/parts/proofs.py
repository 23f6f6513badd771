"""Did it really happen, and can I trust this? Evidence by variant, and the checks behind the verdict, each with its meaning."""

import pandas as pd
import streamlit as st

from engine.comparison import ComparisonRow
from engine.evidence_table import PROOFS, PROVEN, evidence_table, meanings
from engine.reproduce import command
from engine.result import Failure, Run
from pages.parts import link, notices

FACTS_SHOWN, FACTS_HEIGHT = 14, 620
"""More facts than these scroll in a box of so many pixels, so that what follows stays in reach."""
ANSWERS = {
    True: ":green[:material/check_circle:] yes",
    False: ":red[:material/cancel:] no",
    None: ":gray[:material/help:] unknown",
}


def show_evidence(run: Run, rows: list[ComparisonRow]) -> None:
    """The proofs and facts of every measured variant."""
    st.subheader("Did it really happen?")
    known = [row for row in rows if row.samples]
    table = evidence_table(run, known).assign(meaning=meanings(run, known))
    st.table(
        table.head(len(PROOFS)).drop(columns="meaning").rename(columns=notices.plain).map(notices.plain),
        border="horizontal",
        hide_index=True,
        alt="Proofs for each variant: " + "; ".join(f"{row.label}: {_ran(row)}" for row in known),
    )
    show_facts(table.iloc[len(PROOFS) :])


def show_facts(table: pd.DataFrame) -> None:
    """Lines of an evidence table with a column `meaning`; cells wrap, and each line's meaning is one hover away."""
    shown = table.drop(columns="meaning").rename(columns=notices.plain).map(notices.plain)
    shown["check"] = [notices.explained(*pair) for pair in zip(table["check"], table["meaning"], strict=True)]
    with st.container(height=FACTS_HEIGHT if len(table) > FACTS_SHOWN else "content", border=False):
        st.table(
            shown.rename(columns={"check": "fact"}),
            border="horizontal",
            hide_index=True,
            alt="Raw facts behind the proofs, one column for each variant",
        )


def show_failures(run: Run, rows: list[ComparisonRow]) -> None:
    """Every variant with process sets that measured nothing: how many, where the last one stopped and why, its log's end."""
    for row in rows:
        failures = [
            each
            for each in run.outcomes
            if isinstance(each, Failure)
            and each.variant == row.variant
            and each.kind not in ("unavailable", "cancelled")
        ]
        if not failures:
            continue
        last = failures[-1]
        what = f"{row.label}: {len(failures)} failed, {last.kind} at {last.stage}".replace("_", " ")
        with st.expander(notices.plain(what), icon=":material/report:", key=f"failure_{row.variant}"):
            st.text(last.message)
            st.code(last.log_tail or "No log.", language=None)


def show_trust(run: Run, rows: list[ComparisonRow]) -> None:
    """The checks behind the verdict on one of `rows`, the first unless the reader chooses, and the command to repeat it."""
    st.subheader("Can I trust this?")
    st.caption("The first check that fails decides the verdict; what could not be read here is unknown, never passed.")
    row = _chosen(rows)
    checks = [
        (
            ANSWERS[check.passed],
            f"**{notices.plain(check.title)}**",
            notices.plain(check.detail),
            notices.plain(check.meaning),
        )
        for check in row.checks
    ]
    st.table(
        pd.DataFrame(checks, columns=["", "check", "what was seen", "what it means"]),
        border="horizontal",
        hide_index=True,
        alt="Checks: " + "; ".join(f"{check.title}: {PROVEN[check.passed]}" for check in row.checks),
    )
    st.caption("The same from a terminal, with every variant that was measured beside it:")
    st.code(command(run, row), language="bash")


def _chosen(rows: list[ComparisonRow]) -> ComparisonRow:
    """The row whose checks the reader wants to see."""
    labels = [row.label for row in rows]
    if len(labels) == 1:
        return rows[0]
    link.drop_unless("trusted", labels)
    label = st.selectbox("Variant", labels, key="trusted", bind="query-params", width=420)
    return next(row for row in rows if row.label == label)


def _ran(row: ComparisonRow) -> str:
    return next((f"{check.title}, {PROVEN[check.passed]}" for check in row.checks if check.key == "ran"), "not known")
