"""A row in one plain sentence: what stands at the top of a page, in a chat, beside a bar. Plain text, nothing to render."""

from __future__ import annotations

from engine.comparison.row import ComparisonRow
from engine.formatting import interval, seconds, speedup
from engine.verdict import Verdict

_SENTENCES = {
    Verdict.BASELINE: "{label} takes {median} per call here; everything else is divided by it",
    Verdict.FASTER: "{label} is {number} faster than {over} here",
    Verdict.SLOWER: "{label} is slower than {over} here, {number} of its speed",
    Verdict.NO_DIFFERENCE: "No measurable difference between {label} and {over} here, {number}",
    Verdict.INCONCLUSIVE: "{label} is inconclusive here, {number} of {over}'s speed",
    Verdict.NO_VERDICT: "{label} came to {number} of {over}'s speed",
    Verdict.DID_NOT_RUN: "{label} did not run",
    Verdict.WRONG_RESULT: "{label} gives a wrong result here, so its speed does not count",
    Verdict.UNSTABLE: "{label} came to {number} of {over}'s speed, but the measurement is unstable",
}


def sentence(row: ComparisonRow) -> str:
    """Verdict with number and interval; someone who reads only this leaves with the right conclusion."""
    text = _SENTENCES.get(row.verdict, "{label}: {verdict}").format(
        label=row.label,
        over=row.baseline_label,
        number=number(row),
        median=seconds(row.median_s),
        verdict=row.verdict,
    )
    joint = "; " if row.speedup else ": "
    return f"{text}{joint}{row.reason}." if row.reason else f"{text}."


def number(row: ComparisonRow) -> str:
    """The speed-up as "2.20x [2.11, 2.29]", without the interval where there is none; "-" without a speed-up."""
    if row.speedup is None or row.speedup.low is None:
        return speedup(row.speedup.estimate if row.speedup else None)
    return f"{speedup(row.speedup.estimate)} {interval(row.speedup.low, row.speedup.high)}"


def short(row: ComparisonRow) -> str:
    """Number and word, as in "0.71x (slower)", for lists and slides."""
    return row.verdict.value if row.speedup is None else f"{speedup(row.speedup.estimate)} ({row.verdict})"
