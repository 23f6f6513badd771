"""The sentence that comes first, and the article's claim beside it."""

import streamlit as st

from engine import captions, catalog
from engine.comparison import ComparisonRow, claim_verdict, sentence
from engine.metrics import METRICS
from engine.result import Run
from pages.parts import notices


def show(
    run: Run,
    row: ComparisonRow,
    rows: list[ComparisonRow],
    technique: catalog.Technique | None,
    claims: list[catalog.Claim] | None = None,
) -> None:
    """The verdict on `row` in words, with icon and colour; beside it what the article said of the technique.

    `claims` are those to show; without them all of the technique's.
    """
    if claims is None:
        claims = claims_of(technique)
    columns = st.columns([2, 1] if claims else [1])
    with columns[0].container(border=True, height="stretch", key="verdict"):
        st.markdown(
            f"#### :{row.verdict.colour}[{row.verdict.icon}] {notices.plain(sentence(row))}",
            help=METRICS["speedup"].meaning,
        )
        if behind := captions.of_row(row):
            st.caption(notices.plain(behind), help=captions.MEANINGS_OF_ROW)
        _show_badges(row)
    for claim in claims:
        with columns[1].container(border=True, height="stretch", key=f"claim_{claim.key}"):
            show_claim(claim, rows)


def claims_of(technique: catalog.Technique | None) -> list[catalog.Claim]:
    """What the article said of a technique."""
    return [claim for claim in catalog.CLAIMS if technique and claim.technique == technique.key]


def _show_badges(row: ComparisonRow) -> None:
    if row.badges:
        with st.container(horizontal=True):
            for badge in row.badges:
                st.badge(notices.plain(badge.text), color="orange", help=notices.plain(badge.meaning))


def show_claim(claim: catalog.Claim, rows: list[ComparisonRow]) -> None:
    """One claim of the article, and what this machine says about it."""
    judged = claim_verdict(claim, rows)
    st.metric(
        "The article's claim",
        claim.figure or "no figure",
        help=f"{claim.statement} {claim.how_tested} Source: {claim.source}.",
    )
    st.markdown(f"{judged.word.icon} **{judged.word.value}**")
    st.caption(notices.plain(judged.reason))
