"""The screens of a comparison of devices: bars and distributions at one point, techniques on every device, the price."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from engine import captions, formatting
from engine.device_comparison import Cost, DeviceArm, Point
from engine.device_comparison.summary import technique_sentences
from engine.device_comparison.view import View
from engine.result import Run
from engine.slides.slide import Drawing, Slide

CHEAPEST_SHOWN = 8


def comparison_slides(view: View, point: Point, runs: Sequence[Run] = ()) -> list[Slide]:
    """What the Compare page says first, then its pictures. The dates are those of `runs`: files of other tools state none."""
    here, everywhere = (_stamp(view, what, runs) for what in (str(point), _all_points(view)))
    return [
        _bars(view, point, here),
        *_latencies(view, point, here),
        *_techniques(view, everywhere),
        *_prices(view, point, here),
    ]


def _all_points(view: View) -> str:
    return str(view.points[0]) if len(view.points) == 1 else f"{len(view.points)} points"


def _stamp(view: View, what: str, runs: Sequence[Run]) -> str:
    """Work, devices, and what is known of torch and of when it was measured."""
    torches = [arm.conditions.get("torch") for arm in view.arms]
    dates = {run.id: run.finished_at or run.started_at or run.submitted_at for run in runs}
    measured = [dates.get(arm.experiment or "") for arm in view.arms]
    moments = sorted(filter(None, measured))
    ends = dict.fromkeys(map(captions.moment, (moments[0], moments[-1]))) if moments else ()
    return captions.SEPARATOR.join(
        (
            what,
            ", ".join(view.devices),
            _known("torch", " and ".join(dict.fromkeys(filter(None, torches))), None not in torches),
            _known("measured", " to ".join(ends), None not in measured),
        )
    )


def _known(what: str, said: str, is_complete: bool) -> str:
    return f"{what} {said}{'' if is_complete else ', elsewhere unknown'}" if said else f"{what}: unknown"


def _with_doubt(arm: DeviceArm) -> str:
    """What keeps an arm's value from being relied on, as the end of a sentence."""
    return f", not to be relied on ({arm.doubt.rstrip('.')})" if arm.doubt else ""


def _bars(view: View, point: Point, stamp: str) -> Slide:
    axis = "device" if view.has_reference else "own"

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
    dtype = f" ({fastest.dtype})" if fastest.dtype else ""
    said = f"Fastest here is {fastest.label} on {fastest.device}{dtype}: {formatting.seconds(fastest.value)} per call"
    yield Slide("compare_latencies", f"{said}{_with_doubt(fastest)}.", stamp, draw)


def _techniques(view: View, stamp: str) -> Iterator[Slide]:
    """Each technique over its own device's baseline."""
    if len(view.means) < 2:
        return

    def draw() -> Drawing:
        from engine.charts import compare_heatmap

        return compare_heatmap.compare_heatmap(view.means, view.devices), compare_heatmap.alt_text(view.means)

    said, *_ = technique_sentences(view.own, view.devices)
    yield Slide("compare_techniques", said, stamp, draw)


def _prices(view: View, point: Point, stamp: str) -> Iterator[Slide]:
    """What calls at this point cost, each dtype by itself; at another point a call is other work."""
    if cheapest := view.cheapest(point):
        said = "; ".join(map(_price, cheapest))
        here = [cost for cost in view.priced if cost.arm.point == point]
        yield Slide("compare_prices", f"Cheapest here: {said}.", stamp, table=_price_table(here[:CHEAPEST_SHOWN]))


def _price(cost: Cost) -> str:
    arm = cost.arm
    dtype = f" ({arm.dtype})" if arm.dtype else ""
    return f"{arm.label} on {arm.device}{dtype}, {cost.per_million_calls:,.2f} per million calls{_with_doubt(arm)}"


def _price_table(priced: list[Cost]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "Device": [cost.arm.device for cost in priced],
            "Technique": [cost.arm.label for cost in priced],
            "Data type": [cost.arm.dtype or formatting.UNKNOWN for cost in priced],
            "Per call": [formatting.seconds(cost.arm.value) for cost in priced],
            "Per hour": [f"{cost.price_per_hour:,.2f}" for cost in priced],
            "Per million calls": [f"{cost.per_million_calls:,.2f}" for cost in priced],
        }
    )
