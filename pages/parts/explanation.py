"""How a technique works, and the code to copy for exactly what the controls say."""

import streamlit as st

from engine import catalog, snippets
from engine.spec import Experiment


def show(technique: catalog.Technique, experiment: Experiment) -> None:
    """The text with the article's picture of it; one tab of code per variant."""
    st.subheader("How it works")
    with st.container(border=True):
        st.markdown(f"{technique.icon} *{technique.picture}*")
        st.markdown(technique.how_it_works)
    workload = experiment.workloads[0]
    variants = [variant for variant in technique.variants if catalog.fits(variant, workload)]
    if not variants:
        return
    st.caption("The code for the settings below, complete and runnable.")
    for tab, variant in zip(st.tabs([variant.label for variant in variants], key="code"), variants, strict=True):
        with tab:
            st.caption(variant.summary)
            st.code(snippets.fill(variant, workload, experiment), language="python")
