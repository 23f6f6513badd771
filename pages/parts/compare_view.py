"""The views of a comparison: the paragraph, bars, distributions, heat map, curves, cost, and every row."""

import re
from collections.abc import Callable, Iterable
from typing import TypeVar

import streamlit as st

from engine import formatting
from engine.catalog import label_of
from engine.charts import compare_bars, compare_curves, compare_heatmap, compare_latencies
from engine.charts.latency_boxes import ENOUGH
from engine.device_comparison import Point, usual_baseline, variants_of
from engine.device_comparison.collection import digest_of
from engine.device_comparison.opened import Opened
from engine.device_comparison.summary import common_points
from engine.device_comparison.view import View
from engine.metrics import METRICS
from engine.terms import TERMS
from pages.parts import notices, pictures

T = TypeVar("T")
MEANING_OF = {term.word: term.meaning for term in TERMS}
PRICE = re.compile(r"\d{1,5}(\.\d{1,9})?")
AXES = {
    "device": "Over the reference",
    "own": "Over each device's own baseline",
    "latency": "Measured value",
    "floor": "Share of the floor",
}


def choose(opened: Opened) -> View:
    """What the reader wants to see; every choice is part of the link."""
    measures = opened.measures
    with st.container(horizontal=True, vertical_alignment="bottom"):
        measure = measures[0]
        if len(measures) > 1:
            measure = st.selectbox("Measure", measures, key="measure", bind="query-params", width=220)
        arms = opened.of_measure(measure)
        devices = list(dict.fromkeys(arm.device for arm in arms))
        reference = st.selectbox("Reference device", devices, key="against", bind="query-params", width=280)
        usual = usual_baseline(arms)
        variants = variants_of(arms)
        technique = st.selectbox(
            "Reference technique", variants, None, format_func=label_of, key="against_technique", bind="query-params",
            width=240, placeholder="The same as the row's",
            help="Every row is divided by the same technique on the reference device; choose one to divide all rows by that one.",
        )  # fmt: skip
        baseline = st.selectbox(
            "Baseline technique", variants, variants.index(usual) if usual else None, format_func=label_of,
            key="own_baseline", bind="query-params", width=240, placeholder="Choose one",
            help="What other techniques are divided by on their own device. Our own variants keep the baseline of their page.",
        )  # fmt: skip
    return View(
        arms=arms, reference=reference, baseline=baseline, prices=_prices(devices), reference_technique=technique
    )


def of_link(opened: Opened) -> tuple[View, Point]:
    """What the link says was chosen, for slides, which have no boxes; what it does not say, or is not here, as `choose`."""
    link = st.query_params
    measure = _named(opened.measures, link.get("measure")) or opened.measures[0]
    arms = opened.of_measure(measure)
    devices = list(dict.fromkeys(arm.device for arm in arms))
    prices = {device: link.get(_price_key(device), "") for device in devices}
    view = View(
        arms=arms,
        reference=_named(devices, link.get("against")) or devices[0],
        baseline=_named(variants_of(arms), link.get("own_baseline"), label_of) or usual_baseline(arms),
        prices={device: float(price) for device, price in prices.items() if PRICE.fullmatch(price) and float(price)},
        reference_technique=_named(variants_of(arms), link.get("against_technique"), label_of),
    )
    return view, _named(view.points, link.get("point"), str) or view.points[0]


def _named(offered: Iterable[T], name: str | None, shown: Callable[[T], str] = str) -> T | None:
    """The offered thing that a box would have written into the link as `name`."""
    return next((each for each in offered if shown(each) == name), None)


def _price_key(device: str) -> str:
    """Of the name, not the place: a price stays with its device when files join or leave, in the link too."""
    return f"price_{digest_of(device.encode())[:8]}"


def _prices(devices: list[str]) -> dict[str, float]:
    with st.expander("Price per hour", icon=":material/payments:", key="prices"):
        st.caption("In any currency. With a price, every row says what one million calls cost.")
        with st.container(horizontal=True):
            given = {
                device: st.number_input(
                    notices.plain(device), 0.0, 10_000.0, 0.0, key=_price_key(device), bind="query-params", width=200
                )
                for device in devices
            }
    return {device: price for device, price in given.items() if price}


def show(view: View) -> None:
    """The pictures, then the price, then every row."""
    point = st.selectbox("Point", view.points, format_func=str, key="point", bind="query-params")
    _show_bars(view, point)
    _show_latencies(view, point)
    _show_heatmap(view)
    _show_curves(view)
    _show_cost(view, point)
    _show_rows(view)


def show_paragraph(view: View) -> None:
    """The comparison in words, first of all."""
    with st.container(border=True, key="paragraph"):
        headline, *rest = view.sentences
        st.markdown(f"##### {notices.plain(headline)}")
        st.markdown(notices.plain(" ".join(rest)))
        with st.popover("Copy as text", icon=":material/content_copy:"):
            st.code(view.paragraph, language=None, wrap_lines=True)


def _show_bars(view: View, point: Point) -> None:
    offered = [axis for axis in AXES if axis != "device" or view.has_reference]
    offered = [axis for axis in offered if axis != "floor" or any(arm.floor_s for arm in view.arms)]
    axis = st.segmented_control(
        "Compared by", offered, default=offered[0], required=True, format_func=AXES.__getitem__, key="axis",
        bind="query-params", label_visibility="collapsed",
    )  # fmt: skip
    ratios = view.at(point, axis)
    with st.container(border=True):
        figure = compare_bars.compare_bars(ratios, axis, view.devices, str(point))
        st.plotly_chart(figure, key="chart_bars", config=pictures.CONFIG, alt=compare_bars.alt_text(ratios, axis))


def _show_latencies(view: View, point: Point) -> None:
    arms = [arm for arm in view.arms if arm.point == point and arm.value is not None and not arm.is_rate]
    if arms:
        with st.container(border=True):
            figure = compare_latencies.compare_latencies(arms, view.devices, str(point))
            st.plotly_chart(figure, key="chart_latencies", config=pictures.CONFIG, alt=compare_latencies.alt_text(arms))


def _show_heatmap(view: View) -> None:
    if len(view.means) > 1:
        with st.container(border=True):
            figure = compare_heatmap.compare_heatmap(view.means, view.devices, common_points(view.means))
            alt = compare_heatmap.alt_text(view.means)
            st.plotly_chart(figure, key="chart_heatmap", config=pictures.CONFIG, alt=alt)


def _show_curves(view: View) -> None:
    swept = compare_curves.swept(view.arms)
    if not swept:
        return
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            dimension = st.selectbox(
                "Along", list(swept), format_func=compare_curves.DIMENSIONS.__getitem__, key="along", bind="query-params",
                width=220,
            )  # fmt: skip
            variant = st.selectbox(
                "Technique", swept[dimension], format_func=label_of, key="curve", bind="query-params", width=280
            )
        arms = [arm for arm in view.arms if arm.variant == variant]
        figure = compare_curves.compare_curves(arms, dimension, view.devices)
        alt = compare_curves.alt_text(arms, dimension)
        st.plotly_chart(figure, key="chart_curves", config=pictures.CONFIG, alt=alt)


def _show_cost(view: View, point: Point) -> None:
    if not view.priced:
        return
    limit_ms = st.number_input("p95 below (ms)", 0.0, 1e6, 20.0, key="p95_below", bind="query-params", width=200)
    found = view.cheapest(point, limit_ms / 1e3)
    if not found:
        st.text(
            f"No priced row at {point} has a known 95th percentile below this; it needs {ENOUGH} calls timed one by one."
        )
    for each in found:
        arm = each.arm
        dtype = f", {arm.dtype}" if arm.dtype else ""
        st.text(
            f"Cheapest below {limit_ms:g} ms at {point}{dtype}: {arm.device} with {arm.label}, "
            f"{each.per_million_calls:,.2f} per million calls, p95 {formatting.seconds(arm.p95)}."
        )


def _show_rows(view: View) -> None:
    st.subheader("Every row")
    st.dataframe(
        view.table.dropna(axis="columns", how="all"), key="compare_rows", hide_index=True,
        column_config=column_formats(view.reference_label), alt="Every arm with its ratios, verdicts and circumstances",
    )  # fmt: skip
    if view.unmatched:
        with st.expander(
            f"Only on one side: {formatting.counted(len(view.unmatched), 'row')}, not counted", key="unmatched"
        ):
            for arm in view.unmatched:
                st.text(f"{arm.device}, {arm.label}, {arm.point}")


def column_formats(reference: str) -> dict[str, object]:
    """Headings and number formats of the table; ratios keep two decimals."""
    ratio, text = st.column_config.NumberColumn, st.column_config.TextColumn
    # A table draws its headings letter by letter: escapes for Markdown would be seen.
    return {
        "value": text(help="The figure the file reports, else the median of its samples."),
        "evidence": text(
            help="How many timed samples and processes stand behind the value, or which figure a file reports."
        ),
        "speedup": ratio("own speed-up", format="%.2fx", help=METRICS["speedup"].meaning),
        "interval": text(help=MEANING_OF["95 % interval"]),
        "verdict": text(help=MEANING_OF["Verdict"]),
        "against_device": ratio(
            f"over {reference}", format="%.2fx", help="How many times as fast as the reference at the same work."
        ),
        "against_device_interval": text("its interval", help=MEANING_OF["95 % interval"]),
        "reason": text(help="Why there is no ratio or no verdict."),
        "badges": text(help="What differs between the two sides of a ratio, or is not known of them."),
        "p95_s": ratio("p95 (s)", format="%.4g", help=METRICS["p95_s"].meaning),
        "first_call_s": ratio("first call (s)", format="%.3g", help=METRICS["first_call_s"].meaning),
        "set_up_s": ratio("set-up (s)", format="%.3g", help=METRICS["cold_start_s"].meaning),
        "memory_bytes": ratio(
            "memory", format="bytes", help="As the file reports it; of our own runs the peak while measuring."
        ),
        "floor_share": ratio("share of the floor", format="percent", help=MEANING_OF["Share of the floor"]),
        "cost_per_million_calls": ratio(
            "per million calls",
            format="%.2f",
            help="A million calls, one after another, at the device's price per hour.",
        ),
        "cache_state": text("compile cache", help="Whether compiled code was found in the cache (warm) or not (cold)."),
        "source": text(help="The file or run that the row comes from."),
    }
