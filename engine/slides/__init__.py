"""What is shown in a meeting: one sentence and one picture per screen, of a run, of the route or of devices side by side."""

from __future__ import annotations

from engine.slides.advice import advice, advice_table
from engine.slides.claims import Results, claims_table
from engine.slides.of_comparison import comparison_slides
from engine.slides.of_route import route_slides, runs_behind
from engine.slides.of_run import run_slides
from engine.slides.slide import Slide
from engine.slides.together import compared_slides

__all__ = [
    "Results",
    "Slide",
    "advice",
    "advice_table",
    "claims_table",
    "compared_slides",
    "comparison_slides",
    "route_slides",
    "run_slides",
    "runs_behind",
]
