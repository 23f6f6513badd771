"""The article's claims on one screen: what it says, what was measured here, the verdict on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from engine.catalog import Claim
from engine.comparison import ClaimWord, ComparisonRow, newest_verdict
from engine.result import Run
from engine.slides.slide import Slide

Results = Sequence[tuple[Run, Sequence[ComparisonRow]]]
"""Runs with their rows, in the order in which they are asked."""


def claims_table(claims: Sequence[Claim], results: Results) -> pd.DataFrame:
    """One line per claim, as text, judged by the first of `results` that could decide; one that none can test says why."""
    judged = [(claim, newest_verdict(claim, results)[0]) for claim in claims]
    return pd.DataFrame(
        {
            "The article says": [claim.statement for claim, _ in judged],
            "Its figure": [claim.figure or "none" for claim, _ in judged],
            "Here": [verdict.word.value for _, verdict in judged],
            "Because": [verdict.reason for _, verdict in judged],
        }
    )


def claims_slide(stamp: str, claims: Sequence[Claim], results: Results) -> Iterator[Slide]:
    """Nothing where the article claims nothing."""
    if claims:
        said = _one(claims[0], results) if len(claims) == 1 else _count(claims, results)
        yield Slide("claims", said, stamp, table=claims_table(claims, results))


def _one(claim: Claim, results: Results) -> str:
    judged, _ = newest_verdict(claim, results)
    return f"The article says {claim.figure or claim.statement}: {judged.word.value}; {judged.reason}."


def _count(claims: Sequence[Claim], results: Results) -> str:
    words = [newest_verdict(claim, results)[0].word for claim in claims]
    told = ", ".join(f"{words.count(word)} {_verb(word, words.count(word))}" for word in ClaimWord if word in words)
    return f"Of {len(claims)} claims of the article {told}."


def _verb(word: ClaimWord, count: int) -> str:
    several = {
        "holds here": "hold here",
        "does not hold here": "do not hold here",
        "not testable here": "not testable here",
    }
    joined = several[word.value] if count > 1 else word.value
    return f"{'are' if count > 1 else 'is'} {joined}" if word is ClaimWord.NOT_TESTABLE else joined
