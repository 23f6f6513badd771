"""The screens of the pitfalls: all of them at once, then each that was measured."""

from __future__ import annotations

from collections.abc import Sequence

from engine import captions, pitfalls
from engine.catalog import find_technique
from engine.pitfalls import Lesson
from engine.result import Run
from engine.slides.slide import Drawing, Slide

TECHNIQUE = "pitfalls"


def pitfall_slides(run: Run) -> list[Slide]:
    """What the mistakes come to, and one mistake per screen."""
    found = pitfalls.lessons(run)
    measured = [lesson for lesson in found if lesson.right is not None and lesson.reported is not None]
    every = _slide(run, TECHNIQUE, pitfalls.headline(found), found)
    return [every, *(_slide(run, each.pitfall.key, f"{pitfalls.sentence(each)}.", [each]) for each in measured)]


def _slide(run: Run, key: str, sentence: str, lessons: Sequence[Lesson]) -> Slide:
    def draw() -> Drawing:
        from engine.charts import pitfall_errors

        colour = find_technique(TECHNIQUE).colour
        return pitfall_errors.pitfall_errors(lessons, colour), pitfall_errors.alt_text(lessons)

    return Slide(key, sentence, captions.of_chart(run, run.experiment.workloads[0]), draw)
