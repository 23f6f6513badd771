"""Does a result CSV still say what was measured? Hashes over header and rows, and every statistic computed again."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from engine.errors import UserError
from engine.result import Measurement, Run
from engine.results_csv.layout import HEADER_HASH, ROWS_HASH, STATISTICS, Parts, Row, Source, sha256, take_apart
from engine.results_csv.reading import runs_of
from engine.results_csv.writing import statistics

RELATIVE_TOLERANCE = 1e-9
"""Other versions of numpy may round the last bits of a sum differently; a changed number is far from that."""
SHOWN = 5
"""Differences that are named one by one; a file judged by other rules would have hundreds."""
OTHER_RULES = (
    "Both hashes agree, so nothing was changed since the file was written: another version of Latency Lab judged it by other "
    "rules, or whoever changed it made new hashes. Its samples can be used; its stated verdicts are not this version's."
)


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """What was checked and, one sentence each, what does not agree."""

    name: str
    runs: int
    samples: int
    statistics: int
    problems: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether the file is as it was written."""
        return not self.problems


def verify(source: Source, name: str | None = None) -> VerifyReport:
    """Check a result CSV; an unreadable one is a report with that problem, not an exception."""
    try:
        parts = take_apart(source, name)
        runs = runs_of(parts)
    except UserError as error:
        return VerifyReport(name or "this file", 0, 0, 0, (str(error),))
    stated = parts.values.get(STATISTICS, [])
    hashes = tuple(_changed_hashes(parts))
    changed = tuple(_changed_statistics(stated, [row for run in runs for row in statistics(run)]))
    more = (f"And {len(changed) - SHOWN} more statistics differ.",) if len(changed) > SHOWN else ()
    cause = (OTHER_RULES,) if changed and not hashes else ()
    problems = (*hashes, *changed[:SHOWN], *more, *cause)
    return VerifyReport(parts.name, len(runs), sum(map(_count_samples, runs)), len(stated), problems)


def _changed_hashes(parts: Parts) -> Iterator[str]:
    for kind, data, what in ((HEADER_HASH, parts.header, "header"), (ROWS_HASH, parts.rows, "rows")):
        stated, computed = parts.hashes.get(kind), sha256(data)
        if stated != computed:
            yield f"The {what} or their hash were changed: the file says {stated}, its {what} give {computed}."


def _changed_statistics(stated: list[Row], computed: list[Row]) -> Iterator[str]:
    if len(stated) != len(computed):
        yield f"The file states statistics of {len(stated)} rows; its samples give {len(computed)}."
    for old, new in zip(stated, computed, strict=False):
        for key in dict.fromkeys((*new, *old)):
            if not _is_same(old.get(key), new.get(key)):
                yield (
                    f"{key} of {new.get('variant')} in {new.get('experiment')}: the file states {old.get(key)}, "
                    f"its samples give {new.get(key)}."
                )


def _is_same(old: Any, new: Any) -> bool:
    if isinstance(old, float | int) and isinstance(new, float | int):
        return math.isclose(old, new, rel_tol=RELATIVE_TOLERANCE)
    return bool(old == new)


def _count_samples(run: Run) -> int:
    return sum(
        len(block.latency_s) for outcome in run.outcomes if isinstance(outcome, Measurement) for block in outcome.blocks
    )
