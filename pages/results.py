"""Results: every run; open one, compare several, export, rename, delete."""

import streamlit as st

from engine import worker
from engine.side_by_side import run_list
from engine.store import samples
from pages.parts import job, lengths_story, link, manage, notices, present, side_by_side

store = worker.get().store
shown = link.shown_run(store)
compared = link.compared_runs(store)
if present.is_on():
    present.show_together(compared) if compared and shown is None else present.show_run(shown)

st.title("Results")
if shown is not None:
    manage.show_heading([shown])
    if shown.status in ("queued", "running"):
        job.show(shown.id)
    else:
        lengths_story.show_result(shown)
elif compared:
    manage.show_heading(compared)
    side_by_side.show(compared)

st.subheader("All runs")
runs = [*store.runs(), *samples()]
if not runs:
    words = "Every run will be listed here. Open a technique and press Run."
    with notices.empty(":material/database:", "Nothing measured here yet", words):
        st.page_link("torch_compile.py", label="Measure torch.compile", icon=":material/arrow_forward:")
    st.stop()
st.caption("Tick one run to open it, several to compare them.")
table = st.dataframe(
    run_list(runs),
    key="runs",
    hide_index=True,
    on_select="rerun",
    selection_mode="multi-row",
    alt="All runs, the newest first",
)
manage.show_actions([runs[place] for place in table.selection.rows])
