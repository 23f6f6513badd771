"""The article's claims on one screen: what it says, what was measured here, the verdict on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from engine import captions
from engine.catalog import Claim
from engine.comparison import ClaimWord, ComparisonRow, claim_verdict
from engine.result import Run
from engine.slides.slide import Slide


def claims_table(claims: Sequence[Claim], rows: Sequence[ComparisonRow]) -> pd.DataFrame:
    """One line per claim, as text; a claim that nothing here can test says so, and why."""
    judged = [(claim, claim_verdict(claim, rows)) for claim in claims]
    return pd.DataFrame(
        {
            "The article says": [claim.statement for claim, _ in judged],
            "Its figure": [claim.figure or "none" for claim, _ in judged],
            "Here": [verdict.word.value for _, verdict in judged],
            "Because": [verdict.reason for _, verdict in judged],
        }
    )


def claims_slide(run: Run, claims: Sequence[Claim], rows: Sequence[ComparisonRow]) -> Iterator[Slide]:
    """Nothing where the article claims nothing."""
    if claims:
        said = _one(claims[0], rows) if len(claims) == 1 else _count(claims, rows)
        yield Slide("claims", said, captions.of_run(run), table=claims_table(claims, rows))


def _one(claim: Claim, rows: Sequence[ComparisonRow]) -> str:
    judged = claim_verdict(claim, rows)
    return f"The article says {claim.figure or claim.statement}: {judged.word.value}; {judged.reason}."


def _count(claims: Sequence[Claim], rows: Sequence[ComparisonRow]) -> str:
    words = [claim_verdict(claim, rows).word for claim in claims]
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
