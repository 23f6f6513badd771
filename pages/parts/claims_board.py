"""The claims board: what the article said, where, what this machine measured, and the verdict on it."""

import pandas as pd
import streamlit as st

from engine import captions, catalog
from engine.comparison import newest_verdict
from engine.result import Run
from pages.parts import measured, notices


def show(runs: list[Run]) -> None:
    """One line per claim, judged by the first of `runs` that could decide; one that nothing here can test says why."""
    st.subheader("The claims board")
    results = [(run, measured.rows_of(run)) for run in runs]
    judged = [(claim, *newest_verdict(claim, results)) for claim in catalog.CLAIMS]
    table = pd.DataFrame(
        {
            "Step": [catalog.find_technique(claim.technique).title for claim, _, _ in judged],
            "The article says": [claim.statement for claim, _, _ in judged],
            "Its figure": [claim.figure or "none" for claim, _, _ in judged],
            "Here": [verdict.word.value for _, verdict, _ in judged],
            "Because": [verdict.reason for _, verdict, _ in judged],
            "Evidence": [captions.of_evidence(run) if run else "no run here" for _, _, run in judged],
        }
    )
    st.table(
        table.map(notices.plain),
        border="horizontal",
        hide_index=True,
        alt="The article's claims and what was measured here",
    )
    st.caption(f"Claims from {catalog.CLAIMS[0].source}. How each is tested stands on its step's page.")
