"""The screens of a comparison of devices: bars and distributions at one point, techniques on every device, the price."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from engine import captions, formatting
from engine.device_comparison import Cost, Point
from engine.device_comparison.summary import technique_sentences
from engine.device_comparison.view import View
from engine.slides.slide import Drawing, Slide

CHEAPEST_SHOWN = 8


def comparison_slides(view: View, point: Point) -> list[Slide]:
    """What the Compare page says first, then its pictures. The stamp names the devices: files of other tools know no more."""
    stamp = captions.SEPARATOR.join((str(point), ", ".join(view.devices)))
    return [
        _bars(view, point, stamp),
        *_latencies(view, point, stamp),
        *_techniques(view, stamp),
        *_prices(view, stamp),
    ]


def _bars(view: View, point: Point, stamp: str) -> Slide:
    axis = "device" if len(view.devices) > 1 else "own"

    def draw() -> Drawing:
        from engine.charts import compare_bars

        ratios = view.at(point, axis)
        return compare_bars.compare_bars(ratios, axis, view.devices, ""), compare_bars.alt_text(ratios, axis)

    return Slide("compare_bars", view.sentences[0], stamp, draw)


def _latencies(view: View, point: Point, stamp: str) -> Iterator[Slide]:
    arms = [arm for arm in view.arms if arm.point == point and arm.value is not None and not arm.is_rate]
    if not arms:
        return

    def draw() -> Drawing:
        from engine.charts import compare_latencies

        return compare_latencies.compare_latencies(arms, view.devices, ""), compare_latencies.alt_text(arms)

    fastest = min(arms, key=lambda arm: arm.value or 0.0)
    said = f"Fastest here is {fastest.label} on {fastest.device}: {formatting.seconds(fastest.value)} per call."
    yield Slide("compare_latencies", said, stamp, draw)


def _techniques(view: View, stamp: str) -> Iterator[Slide]:
    """Each technique over its own device's baseline."""
    if len(view.means) < 2:
        return

    def draw() -> Drawing:
        from engine.charts import compare_heatmap

        return compare_heatmap.compare_heatmap(view.means, view.devices), compare_heatmap.alt_text(view.means)

    said, *_ = technique_sentences(view.own, view.devices)
    yield Slide("compare_techniques", said, stamp, draw)


def _prices(view: View, stamp: str) -> Iterator[Slide]:
    if view.priced:
        cheapest = view.priced[0]
        said = (
            f"Cheapest: {cheapest.arm.label} on {cheapest.arm.device}, "
            f"{cheapest.per_million_calls:,.2f} per million calls."
        )
        yield Slide("compare_prices", said, stamp, table=_price_table(view.priced[:CHEAPEST_SHOWN]))


def _price_table(priced: list[Cost]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "Device": [cost.arm.device for cost in priced],
            "Technique": [cost.arm.label for cost in priced],
            "Point": [str(cost.arm.point) for cost in priced],
            "Per call": [formatting.seconds(cost.arm.value) for cost in priced],
            "Per hour": [f"{cost.price_per_hour:,.2f}" for cost in priced],
            "Per million calls": [f"{cost.per_million_calls:,.2f}" for cost in priced],
        }
    )
