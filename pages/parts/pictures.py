"""The charts of one run at one workload. Drawn once per result and kept; the browser gets quantiles, never samples."""

from collections.abc import Callable
from typing import TypeVar

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from engine import captions
from engine.charts import calls_curve, latency_boxes, latency_ecdf, speedup_bars, total_time
from engine.comparison import ComparisonRow
from engine.result import Run
from pages.parts import link, measured

KEPT = 256
CONFIG = {
    "displaylogo": False,
    # Selecting means nothing here, and plotly's own way to share would upload the chart to its makers.
    "modeBarButtonsToRemove": ["sendChartToCloud", "select2d", "lasso2d", "autoScale2d"],
}
Drawn = TypeVar("Drawn")
Picture = tuple[go.Figure, str]
"""A figure and what it shows, in words."""
BOXES, CALLS = "Boxes", "All calls"


def show_speedups(run: Run, rows: list[ComparisonRow], part: str = "") -> None:
    """Bars of every variant, in the journey's order; a page with several of these charts names the part."""

    def draw() -> Picture:
        return speedup_bars.speedup_bars(rows, _subtitle(run, rows)), speedup_bars.alt_text(rows)

    kind = f"speedup {part}".strip()
    _show(kind.replace(" ", "_"), drawn(run, rows, kind, draw))


def show_latencies(run: Run, rows: list[ComparisonRow]) -> None:
    """Latency of single calls: boxes, or the share of calls below each latency."""

    def draw() -> Picture:
        samples, variants, subtitle = _samples(run, rows), [row.variant for row in rows], _subtitle(run, rows)
        if view == CALLS:
            return latency_ecdf.latency_ecdf(samples, variants, subtitle), latency_ecdf.alt_text(samples, variants)
        return latency_boxes.latency_boxes(samples, variants, subtitle), latency_boxes.alt_text(samples, variants)

    link.settle("latency_view", CALLS if st.query_params.get("latency_view") == CALLS else BOXES)
    view = st.segmented_control(
        "Latency view", [BOXES, CALLS], required=True, key="latency_view", bind="query-params", label_visibility="collapsed"
    )  # fmt: skip
    _show("latency", drawn(run, rows, f"latency {view}", draw))


def show_first_calls(run: Run, rows: list[ComparisonRow]) -> None:
    """Calls 1..n of a fresh process."""

    def draw() -> Picture:
        samples, variants = _samples(run, rows), [row.variant for row in rows if row.samples]
        figure = calls_curve.calls_curve(samples, variants, _subtitle(run, rows), log)
        return figure, calls_curve.alt_text(samples, variants)

    log = st.toggle("Logarithmic latency axis", key="log_latency", bind="query-params")
    _show("first_calls", drawn(run, rows, f"first calls {log}", draw))


def show_total_time(run: Run, rows: list[ComparisonRow]) -> None:
    """Total time against calls, with the crossing."""

    def draw() -> Picture:
        return total_time.total_time(rows, _subtitle(run, rows)), total_time.alt_text(rows)

    _show("total_time", drawn(run, rows, "total time", draw))


def show(run: Run, rows: list[ComparisonRow], key: str, draw: Callable[[], Picture], kind: str = "") -> None:
    """A chart of these rows, drawn once; `kind` names what else it depends on, where something does."""
    _show(key, drawn(run, rows, f"{key} {kind}", draw))


def _show(key: str, picture: Picture) -> None:
    figure, alt = picture
    st.plotly_chart(figure, key=f"chart_{key}", config=CONFIG, alt=alt)


def drawn(run: Run, rows: list[ComparisonRow], kind: str, draw: Callable[[], Drawn]) -> Drawn:
    """What `draw` makes of these rows, made once and kept under `kind`."""
    others = ",".join(dict.fromkeys(row.run_id for row in rows))
    return _kept(
        (run.id, run.status, run.label, len(run.outcomes), others, repr(rows[0].workload), len(rows), kind), draw
    )


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def _kept(key: tuple[str | int, ...], _draw: Callable[[], Drawn]) -> Drawn:
    return _draw()


def _subtitle(run: Run, rows: list[ComparisonRow]) -> str:
    return captions.of_rows(run, rows)


def _samples(run: Run, rows: list[ComparisonRow]) -> pd.DataFrame:
    """The samples at the rows' workload."""
    return measured.samples_at(run, rows[0].workload)
