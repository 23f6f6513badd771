"""The claims board: what the article said, where, what this machine measured, and the verdict on it."""

import pandas as pd
import streamlit as st

from engine import catalog
from engine.comparison import ComparisonRow, claim_verdict
from pages.parts import notices


def show(rows: list[ComparisonRow]) -> None:
    """One line per claim; a claim nothing here can test says so, and why."""
    st.subheader("The claims board")
    judged = [(claim, claim_verdict(claim, rows)) for claim in catalog.CLAIMS]
    table = pd.DataFrame(
        {
            "Step": [catalog.find_technique(claim.technique).title for claim, _ in judged],
            "The article says": [claim.statement for claim, _ in judged],
            "Its figure": [claim.figure or "none" for claim, _ in judged],
            "Here": [verdict.word.value for _, verdict in judged],
            "Because": [verdict.reason for _, verdict in judged],
        }
    )
    st.table(
        table.map(notices.plain),
        border="horizontal",
        hide_index=True,
        alt="The article's claims and what was measured here",
    )
    st.caption(f"Claims from {catalog.CLAIMS[0].source}. How each is tested stands on its step's page.")
