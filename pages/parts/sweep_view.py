"""One operator in many sizes: sentences, charts against size, and the table behind them."""

import streamlit as st

from engine import captions, formatting
from engine.charts import bandwidth_sweep, size_sweep, speedup_sweep
from engine.comparison import ComparisonRow
from engine.result import Run
from engine.sweep.points import Series, cache_marks, left_out_of, points_of
from engine.sweep.table import MEANINGS, sweep_table
from engine.sweep.words import sentences
from pages.parts import notices, pictures


def show(run: Run, rows: list[ComparisonRow], series: Series) -> None:
    """Everything about one series of sizes; sizes that were left out say why."""
    points = points_of(run, rows, series)
    for sentence in sentences(run, rows, series):
        st.markdown(notices.plain(sentence))
    if len({point.array_bytes for point in points}) == 1:
        with st.container(border=True):
            pictures.show_speedups(run, [point.row for point in points], _key(series))
    elif points:
        _show_charts(run, rows, series)
        with st.expander("Every size as a table", icon=":material/table_rows:", key=f"table_{_key(series)}"):
            st.dataframe(
                sweep_table(points),
                hide_index=True,
                column_config={name: st.column_config.TextColumn(help=meaning) for name, meaning in MEANINGS.items()},
                key=f"sweep_{_key(series)}",
                alt=f"{series.card.label}: latency, speed-up, traffic and allocations at every size",
            )
    for elements, reason in left_out_of(rows, series).items():
        st.caption(f":material/do_not_disturb_on: {notices.plain(f'{elements:,} elements: {reason}')}")


def _show_charts(run: Run, rows: list[ComparisonRow], series: Series) -> None:
    points, caches = points_of(run, rows, series), cache_marks(run, series)
    subtitle = captions.SEPARATOR.join((series.card.label, series.dtype, _chain(series), captions.of_run(run)))
    bandwidth = run.limits.bandwidth_bytes_per_s if run.limits else None
    charts = [
        ("speedup", lambda: speedup_sweep.speedup_sweep(points, caches, subtitle), speedup_sweep.alt_text(points)),
        ("latency", lambda: size_sweep.size_sweep(points, caches, subtitle), size_sweep.alt_text(points)),
    ]
    if any(point.bytes_per_s for point in points):
        charts.append(
            (
                "bandwidth",
                lambda: bandwidth_sweep.bandwidth_sweep(points, caches, bandwidth, subtitle),
                bandwidth_sweep.alt_text(points, bandwidth),
            )
        )
    for kind, draw, alt in charts:
        with st.container(border=True):
            figure = pictures.drawn(run, rows, f"{kind} {_key(series)}", draw)
            st.plotly_chart(figure, key=f"chart_{kind}_{_key(series)}", config=pictures.CONFIG, alt=alt)


def _chain(series: Series) -> str:
    return formatting.counted(series.operations or 1, "operation")


def _key(series: Series) -> str:
    return f"{series.operator}_{series.dtype}_{series.operations or 1}"
