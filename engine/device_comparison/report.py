"""A comparison taken along: one HTML file with its charts and its table that opens with no network."""

from __future__ import annotations

import html
from collections.abc import Iterator

from engine.device_comparison.summary import common_points
from engine.device_comparison.view import View
from engine.exports import figure_markup, standalone


def html_report(view: View, name: str) -> str:
    """The whole comparison as a standalone HTML page; every text of a file is escaped."""
    title = f"Latency Lab: {name or 'comparison'}"
    return standalone(title, _body(view, title))


def _body(view: View, title: str) -> Iterator[str]:
    from engine.charts import compare_bars, compare_heatmap, compare_latencies

    yield f"<h1>{html.escape(title)}</h1><p>{html.escape(view.paragraph)}</p>"
    for point in view.points:
        yield f"<h2>{html.escape(str(point))}</h2>"
        for axis in ("device", "own", "latency"):
            ratios = view.at(point, axis)
            if ratios:
                bars = compare_bars.compare_bars(ratios, axis, view.devices, str(point))
                yield figure_markup(bars, compare_bars.alt_text(ratios, axis))
        arms = [arm for arm in view.arms if arm.point == point and not arm.is_rate and arm.value is not None]
        if arms:
            boxes = compare_latencies.compare_latencies(arms, view.devices, str(point))
            yield figure_markup(boxes, compare_latencies.alt_text(arms))
    if view.means:
        heat = compare_heatmap.compare_heatmap(view.means, view.devices, common_points(view.means))
        yield figure_markup(heat, compare_heatmap.alt_text(view.means))
    rows = view.table.dropna(axis="columns", how="all")
    yield f"<h2>Every row</h2>{rows.to_html(index=False, border=0, escape=True, na_rep='-')}"
    if view.unmatched:
        listed = "".join(f"<li>{html.escape(f'{arm.device}, {arm.label}, {arm.point}')}</li>" for arm in view.unmatched)
        yield f"<h2>Only on one side, not counted</h2><ul>{listed}</ul>"
