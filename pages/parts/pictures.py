"""The charts of one run at one workload. Drawn once per result and kept; the browser gets quantiles, never samples."""

from collections.abc import Callable

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from engine import captions
from engine.charts import calls_curve, latency_boxes, latency_ecdf, speedup_bars, total_time
from engine.comparison import ComparisonRow
from engine.result import Run
from pages.parts import measured

KEPT = 256
CONFIG = {"displaylogo": False, "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"]}
BOXES, CALLS = "Boxes", "All calls"


def show_speedups(run: Run, rows: list[ComparisonRow], part: str = "") -> None:
    """Bars of every variant, in the journey's order; a page with several of these charts names the part."""
    kind = f"speedup {part}".strip()
    figure = drawn(run, rows, kind, lambda: speedup_bars.speedup_bars(rows, _subtitle(run, rows)))
    _show(kind.replace(" ", "_"), figure, speedup_bars.alt_text(rows))


def show_latencies(run: Run, rows: list[ComparisonRow]) -> None:
    """Latency of single calls: boxes, or the share of calls below each latency."""
    if "latency_view" not in st.session_state and "latency_view" not in st.query_params:
        st.session_state["latency_view"] = BOXES
    view = st.segmented_control(
        "Latency view",
        [BOXES, CALLS],
        required=True,
        key="latency_view",
        bind="query-params",
        label_visibility="collapsed",
    )
    samples, variants = _samples(run, rows), [row.variant for row in rows]
    chart, draw = (
        (latency_ecdf, latency_ecdf.latency_ecdf) if view == CALLS else (latency_boxes, latency_boxes.latency_boxes)
    )
    figure = drawn(run, rows, f"latency {view}", lambda: draw(samples, variants, _subtitle(run, rows)))
    _show("latency", figure, chart.alt_text(samples, variants))


def show_first_calls(run: Run, rows: list[ComparisonRow]) -> None:
    """Calls 1..n of a fresh process."""
    log = st.toggle("Logarithmic latency axis", key="log_latency", bind="query-params")
    samples, variants = _samples(run, rows), _measured_variants(rows)
    figure = drawn(
        run, rows, f"first calls {log}", lambda: calls_curve.calls_curve(samples, variants, _subtitle(run, rows), log)
    )
    _show("first_calls", figure, calls_curve.alt_text(samples, variants))


def show_total_time(run: Run, rows: list[ComparisonRow]) -> None:
    """Total time against calls, with the crossing."""
    figure = drawn(run, rows, "total time", lambda: total_time.total_time(rows, _subtitle(run, rows)))
    _show("total_time", figure, total_time.alt_text(rows))


def _show(key: str, figure: go.Figure, alt: str) -> None:
    st.plotly_chart(figure, key=f"chart_{key}", config=CONFIG, alt=alt)


def drawn(run: Run, rows: list[ComparisonRow], kind: str, draw: Callable[[], go.Figure]) -> go.Figure:
    """The chart called `kind` of these rows, drawn once and kept."""
    return _kept((run.id, run.status, run.label, len(run.outcomes), repr(rows[0].workload), len(rows), kind), draw)


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def _kept(key: tuple[str | int, ...], _draw: Callable[[], go.Figure]) -> go.Figure:
    return _draw()


def _subtitle(run: Run, rows: list[ComparisonRow]) -> str:
    return captions.of_chart(run, rows[0].workload)


def _measured_variants(rows: list[ComparisonRow]) -> list[str]:
    return [row.variant for row in rows if row.samples]


def _samples(run: Run, rows: list[ComparisonRow]) -> pd.DataFrame:
    """The samples at the rows' workload."""
    return measured.samples_at(run, rows[0].workload)
