"""Several runs on one screen, each with the baseline of its own run."""

from __future__ import annotations

from collections.abc import Sequence

from engine import captions
from engine.comparison import ComparisonRow
from engine.result import Run
from engine.slides.slide import Drawing, Slide


def compared_slides(runs: Sequence[Run], rows: Sequence[ComparisonRow]) -> list[Slide]:
    """`rows` are those of all runs, labelled with their run (`engine.side_by_side.labelled`)."""
    if not rows:
        return []

    def draw() -> Drawing:
        from engine.charts import speedup_bars

        return speedup_bars.speedup_bars(rows), speedup_bars.alt_text(rows)

    said = f"{len(runs)} runs side by side, each over the baseline of its own; nothing is divided across runs."
    return [Slide("compared", said, captions.of_runs(runs), draw)]
