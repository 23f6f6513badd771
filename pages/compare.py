"""Compare: devices side by side, from result files of any tool, stored runs and the shipped samples."""

import streamlit as st

from engine import worker
from pages.parts import compare_add, compare_set, compare_view

store = worker.get().store
st.title("Compare devices")
st.caption("Drop in result files from any GPU and any tool. What cannot be compared fairly is not divided, and says why.")

opened = compare_set.opened(store)
compare_add.show(store, opened)
opened = compare_set.opened(store)
if opened is None or opened.collection.is_empty:
    compare_set.show_empty(store)
else:
    compare_set.show_heading(store, opened)
    compare_view.show(opened)
    compare_set.show_contents(store, opened)
compare_set.show_list(store)
