"""The landing page: what the steps of the article bring, and the way to each of them."""

import streamlit as st

from engine import catalog, worker
from engine.headline import leading_row
from pages.parts import link, measured, pictures, verdicts

st.title("From city street to motorway")
st.caption(
    "Every step of an article on fast inference, measured: what it really brings, at what price, and whether it happened at all."
)

store = worker.get().store
run = link.shown_run(store) or measured.newest_of_all(store, st.session_state.device)
if run is None:
    st.info(
        "Here the steps will stand side by side. Open the first one below and press Measure.",
        icon=":material/bar_chart:",
    )
else:
    rows = [row for row in measured.rows_of(run) if row.workload == run.experiment.workloads[0] and not row.is_twin]
    row = leading_row(rows)
    measured.show_origin(run)
    if row is not None:
        verdicts.show(run, row, rows, None)
        with st.container(border=True):
            pictures.show_speedups(run, rows)
        st.page_link(
            "results.py",
            label="Everything about this run",
            icon=":material/open_in_new:",
            query_params=link.to_run(run),
        )

st.subheader("The steps")
with st.grid(3):
    for technique in catalog.TECHNIQUES:
        with st.container(border=True, height="stretch", key=f"step_{technique.key}"):
            st.markdown(f"##### {technique.icon} {technique.title}")
            st.markdown(technique.summary)
            st.caption(technique.picture)
            st.page_link(technique.page, label="Open", icon=":material/arrow_forward:")
