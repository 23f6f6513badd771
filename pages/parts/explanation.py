"""How a technique works, and the code to copy for exactly what the controls say."""

import streamlit as st

from engine import captions, catalog, snippets
from engine.spec import Experiment, Workload


def show(technique: catalog.Technique, experiment: Experiment) -> None:
    """The text with the article's picture of it; one tab of code per variant."""
    st.subheader("How it works")
    with st.container(border=True):
        st.markdown(f"{technique.icon} *{technique.picture}*")
        st.markdown(technique.how_it_works)
    workload = _chosen(experiment)
    variants = [variant for variant in technique.variants if catalog.fits(variant, workload)]
    if not variants:
        return
    st.caption("The code for the settings below, complete and runnable.")
    for tab, variant in zip(st.tabs([variant.label for variant in variants], key="code"), variants, strict=True):
        with tab:
            st.caption(variant.summary)
            st.code(snippets.fill(variant, workload, experiment), language="python")


def _chosen(experiment: Experiment) -> Workload:
    """The first workload, or the first of the operator or model the reader picks."""
    first = {workload.subject: workload for workload in reversed(experiment.workloads)}
    subjects = list(dict.fromkeys(workload.subject for workload in experiment.workloads))
    if len(subjects) == 1:
        return first[subjects[0]]
    subject = st.selectbox(
        "Code for", subjects, format_func=lambda subject: captions.name_of(first[subject]), key="code_for", width=420
    )
    return first[subject]
