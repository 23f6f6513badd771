"""The words of METHOD 1.6, their icon and colour, and the order in which they are decided. Derived at display time, never stored.

Checks come first, statistics last: a number that a failed check stands in front of is never turned into "faster".
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from engine.stats import DELTA, Interval


class Verdict(StrEnum):
    """What may be said about one row; the value is the word that users read."""

    FASTER = "faster"
    SLOWER = "slower"
    NO_DIFFERENCE = "no measurable difference"
    INCONCLUSIVE = "inconclusive - needs more data"
    DID_NOT_RUN = "technique did not run"
    WRONG_RESULT = "wrong result"
    IMPOSSIBLE = "impossible, measurement rejected"
    NOT_AVAILABLE = "not available here"
    UNSTABLE = "unstable"
    # Not judgements on a technique, but what a row says in the place of one.
    FAILED = "failed"
    NOT_MEASURED = "not measured"
    NOT_COMPARABLE = "not comparable"
    NO_VERDICT = "no verdict"
    BASELINE = "baseline"

    @property
    def icon(self) -> str:
        """Material icon, as Streamlit writes it."""
        return f":material/{_LOOK[self][0]}:"

    @property
    def colour(self) -> str:
        """Streamlit's name of the colour; the word stands beside it, a colour never says it alone."""
        return _LOOK[self][1]

    @property
    def is_statistical(self) -> bool:
        """Whether the speed-up's interval decided, so that the number may be shown as a result."""
        return self in (Verdict.FASTER, Verdict.SLOWER, Verdict.NO_DIFFERENCE, Verdict.INCONCLUSIVE)

    @property
    def hides_speedup(self) -> bool:
        """Whether a ratio, even where one could be computed, must not be shown: it would not be the technique's."""
        return self in _WITHOUT_SPEEDUP


_LOOK = {
    Verdict.FASTER: ("trending_up", "green"),
    Verdict.SLOWER: ("trending_down", "red"),
    Verdict.NO_DIFFERENCE: ("drag_handle", "gray"),
    Verdict.INCONCLUSIVE: ("help", "orange"),
    Verdict.DID_NOT_RUN: ("block", "gray"),
    Verdict.WRONG_RESULT: ("error", "red"),
    Verdict.IMPOSSIBLE: ("error", "red"),
    Verdict.NOT_AVAILABLE: ("do_not_disturb_on", "gray"),
    Verdict.UNSTABLE: ("warning", "orange"),
    Verdict.FAILED: ("report", "red"),
    Verdict.NOT_MEASURED: ("hourglass_empty", "gray"),
    Verdict.NOT_COMPARABLE: ("rule", "orange"),
    Verdict.NO_VERDICT: ("scatter_plot", "gray"),
    Verdict.BASELINE: ("flag", "gray"),
}
_WITHOUT_SPEEDUP = (
    Verdict.DID_NOT_RUN,
    Verdict.IMPOSSIBLE,
    Verdict.NOT_AVAILABLE,
    Verdict.FAILED,
    Verdict.NOT_MEASURED,
    Verdict.NOT_COMPARABLE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One question of "Can I trust this?": its answer (None: cannot be known here), what was seen, and what that means.

    `otherwise` is the verdict of a row whose answer is no; without one the answer is information.
    """

    key: str
    title: str
    passed: bool | None
    detail: str
    meaning: str
    otherwise: Verdict | None = None


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict and, where a check decided, what was seen."""

    verdict: Verdict
    reason: str = ""


def decide(checks: Iterable[Check], interval: Interval | None) -> Judgement:
    """The first failed check that carries a verdict decides, else the interval does."""
    for check in checks:
        if check.passed is False and check.otherwise:
            return Judgement(check.otherwise, check.detail)
    return Judgement(word_for(interval))


def word_for(interval: Interval | None) -> Verdict:
    """The word for a speed-up's 95 % interval (METHOD 1.6, equivalence by TOST)."""
    if interval is None or interval.low is None or interval.high is None:
        return Verdict.NO_VERDICT
    upper, lower = 1 + DELTA, 1 / (1 + DELTA)
    if interval.low > upper:
        return Verdict.FASTER
    if interval.high < lower:
        return Verdict.SLOWER
    if interval.low >= lower and interval.high <= upper:
        return Verdict.NO_DIFFERENCE
    return Verdict.INCONCLUSIVE
