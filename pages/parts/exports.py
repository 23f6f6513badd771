"""Take a result along: result CSV, Markdown table, standalone HTML. Made only when somebody asks."""

import io

import streamlit as st

from engine import exports, results_csv
from engine.basis import model_point
from engine.comparison import ComparisonRow, compare_run
from engine.journey import Step, steps
from engine.result import Run
from engine.slides import Results
from engine.spec import Workload
from pages.parts import measured


def show(runs: list[Run], key: str) -> None:
    """One button per format, for one run or several together."""
    name = f"latency-lab-{runs[0].id}" + (f"-and-{len(runs) - 1}-more" if len(runs) > 1 else "")
    with st.container(horizontal=True):
        st.download_button(
            "Result CSV",
            lambda: _csv(runs),
            f"{name}.csv",
            "text/csv",
            key=f"{key}_csv",
            icon=":material/table:",
            on_click="ignore",
            help="Every timed call and everything needed to verify it; opens again in any Latency Lab.",
        )
        st.download_button(
            "Markdown table",
            lambda: exports.markdown_table(_rows(runs)),
            f"{name}.md",
            "text/markdown",
            key=f"{key}_markdown",
            icon=":material/markdown:",
            on_click="ignore",
        )
        if len(runs) == 1:
            st.download_button(
                "Standalone HTML",
                lambda: exports.html_report(runs[0]),
                f"{name}.html",
                "text/html",
                key=f"{key}_html",
                icon=":material/html:",
                on_click="ignore",
                help="One file with all charts; opens with no network.",
            )
            results = [(runs[0], measured.rows_of(runs[0]))]
            show_pack(steps(results, _point(runs[0])), results)


def show_pack(found: list[Step], results: Results) -> None:
    """One file for a meeting: route, claims, distributions, costs and environment; nothing where no step was measured.

    `results` are the runs that steps and claims were taken from, with their rows.
    """
    if any(step.row for step in found):
        st.download_button(
            "Meeting pack",
            lambda: exports.meeting_pack(found, results),
            "latency-lab-meeting.html",
            "text/html",
            key="export_pack",
            icon=":material/co_present:",
            on_click="ignore",
            help="Route, claims, distributions, costs and environment in one file that opens with no network and prints well.",
        )


def _point(run: Run) -> Workload:
    return model_point(run.experiment) or run.experiment.workloads[0]


def _rows(runs: list[Run]) -> list[ComparisonRow]:
    # Downloads are made outside the page's own thread, where its caches cannot be used.
    return [row for run in runs for row in compare_run(run)]


def _csv(runs: list[Run]) -> bytes:
    buffer = io.BytesIO()
    results_csv.write(runs, buffer)
    return buffer.getvalue()
