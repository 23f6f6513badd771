"""Compare: devices side by side, from result files of any tool, stored runs and the shipped samples."""

import streamlit as st

from engine import worker
from pages.parts import compare_add, compare_exports, compare_set, compare_understood, compare_view, notices, present

store = worker.get().store
if present.is_on():
    if not (shown := compare_set.opened(store)) or not shown.arms:
        present.show([], [])
    present.show_comparison(*compare_view.of_link(shown), list(shown.runs), compare_set.state_of(store))
st.title("Compare devices")
st.caption(
    "Drop in result files from any device and any tool. What cannot be compared fairly is not divided, and says why."
)

compare_add.show(store, compare_set.opened(store))
opened = compare_set.opened(store)
if opened is None or not opened.arms:
    notices.empty(
        ":material/compare_arrows:",
        "Nothing to compare yet",
        "Upload two result files, add the shipped samples, or add runs measured here: a bar per device appears.",
    )
else:
    sentence_first = st.container()
    compare_set.show_heading(store)
    present.show_way_in()
    view = compare_view.choose(opened)
    with sentence_first:
        compare_view.show_paragraph(view)
    compare_view.show(view)
    compare_exports.show(opened, view, compare_set.name_of(store))
    compare_understood.show_all(store, opened)
compare_set.show_list(store)
