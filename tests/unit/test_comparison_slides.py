"""What the slides of a comparison say: doubt, dtype and point are named, and the stamp holds what is known of torch and date."""

from __future__ import annotations

from engine.device_comparison import summarise
from engine.device_comparison.view import View
from engine.imports import latency_lab
from engine.slides import Slide, comparison_slides
from tests.pages.made_runs import made_run
from tests.unit.test_device_comparison import reading, view


def slides_of(shown: View) -> dict[str, Slide]:
    return {slide.key: slide for slide in comparison_slides(shown, shown.points[0])}


def doubtful() -> dict[str, Slide]:
    """The fastest row of the chosen point is unstable and of another dtype; the cheapest row is at another point."""
    return slides_of(
        view(
            reading("A", "eager", 1.0, dtype="float32", batch_size=1, torch="2.13"),
            reading("A", "eager", 0.5, dtype="float16", batch_size=1, status="unstable", reason="it drifts"),
            reading("B", "eager", 0.1, batch_size=8),
            A=3.6,
            B=3.6,
        )
    )


def test_the_fastest_row_names_its_dtype_and_its_doubt() -> None:
    said = doubtful()["compare_latencies"].sentence
    assert said == "Fastest here is eager on A (float16): 500 ms per call, not to be relied on (it drifts)."


def test_the_cheapest_row_of_each_dtype_is_one_of_the_point_shown() -> None:
    """Batch 8 on B costs least, and is other work."""
    slide = doubtful()["compare_prices"]
    assert slide.sentence == (
        "Cheapest here: eager on A (float16), 500.00 per million calls, not to be relied on (it drifts); "
        "eager on A (float32), 1,000.00 per million calls."
    )
    assert slide.table["Data type"].tolist() == ["float16", "float32"]
    assert slide.stamp.startswith("batch 1 · ")


def test_the_stamp_says_what_is_known_of_torch_and_what_is_not() -> None:
    stamp = doubtful()["compare_bars"].stamp
    assert stamp == "batch 1 · A, B · torch 2.13, elsewhere unknown · measured: unknown"


def test_the_stamp_of_runs_has_their_torch_and_their_dates() -> None:
    run = made_run()
    arms = summarise(latency_lab.frame_of([run], "here"))
    shown = View(arms=arms, reference=arms[0].device, baseline=None, prices={})
    for slide in comparison_slides(shown, shown.points[0], [run]):
        assert slide.stamp.endswith("torch 2.13.0 · measured 30 Nov 2026, 09:03 UTC")
