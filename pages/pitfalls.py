"""Pitfalls: what the article's stopwatch would have told you, one mistake at a time."""

from dataclasses import replace

from pages.parts import pitfalls_view, technique_page

technique_page.show(
    "pitfalls",
    replace(
        technique_page.ONE_MODEL,
        experiment_of=pitfalls_view.experiment_of,
        show_result=pitfalls_view.show,
        explain=pitfalls_view.explain,
        promise="One run makes those of the ten that this device can make, and measures each of them right as well.",
    ),
)
