"""Take a comparison along: one merged CSV that opens again anywhere, one HTML file that opens with no network."""

import streamlit as st

from engine.device_comparison.opened import Opened
from engine.device_comparison.report import html_report
from engine.device_comparison.view import View
from engine.imports import merged


def show(opened: Opened, view: View, name: str) -> None:
    """One button per format; made only when somebody asks."""
    with st.container(horizontal=True):
        st.download_button(
            "Merged result CSV", lambda: merged.to_bytes(opened.readings()), "latency-lab-comparison.csv", "text/csv",
            key="export_merged", icon=":material/table:", on_click="ignore",
            help="Every reading of every file; upload it here or elsewhere and the same numbers come back. It is another format "
            "than the result CSV of a run, without its evidence: `python -m engine verify` refuses it.",
        )  # fmt: skip
        st.download_button(
            "Standalone HTML", lambda: html_report(view, name), "latency-lab-comparison.html", "text/html",
            key="export_html", icon=":material/html:", on_click="ignore",
        )  # fmt: skip
