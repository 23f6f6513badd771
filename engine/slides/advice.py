"""What to do, on one screen: what to use, the second choices, what to leave alone here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from engine.advice import Advice, advise
from engine.comparison import ComparisonRow, short
from engine.formatting import seconds
from engine.slides.slide import Slide


def advice(rows: Sequence[ComparisonRow]) -> str:
    """What to do, in one sentence, from the rows of one workload."""
    found = advise(rows)
    if found.best is None:
        return found.without_best
    lower = (
        f"; in lower precision {found.lower_precision.label}: {short(found.lower_precision)}"
        if found.lower_precision
        else ""
    )
    return f"Use {found.best.label} here: {short(found.best)}{lower}."


def advice_slide(rows: Sequence[ComparisonRow], stamp: str) -> Iterator[Slide]:
    """Nothing where there is neither a choice nor anything to avoid."""
    table = advice_table(rows)
    if not table.empty:
        yield Slide("advice", advice(rows), stamp, table=table)


def advice_table(rows: Sequence[ComparisonRow]) -> pd.DataFrame:
    """One line per choice, then one per variant to avoid, as text."""
    found = advise(rows)
    lines = [(lead, row, short(row)) for lead, row in _choices(found) if row is not None]
    lines += [("Avoid", row, reason) for row, reason in found.avoid]
    return pd.DataFrame(
        {
            "What to do": [lead for lead, _, _ in lines],
            "Variant": [row.label for _, row, _ in lines],
            "Here": [said for _, _, said in lines],
            "Set-up, empty cache": [seconds(row.setup_cold_s) for _, row, _ in lines],
        }
    )


def _choices(found: Advice) -> tuple[tuple[str, ComparisonRow | None], ...]:
    return (
        ("Use", found.best),
        ("If lower precision is acceptable", found.lower_precision),
        ("If lengths vary", found.when_shapes_vary),
    )
