"""The comparison set a link names: open, change, name, delete; the list of all sets."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import streamlit as st

from engine import captions
from engine.device_comparison.collection import Collection, of_set
from engine.device_comparison.opened import Opened
from engine.errors import UnknownKey
from engine.result import Run
from engine.store import Store, samples
from pages.parts import notices

KEPT = 3
"""Opened sets that stay in memory; a million readings take about 160 MB."""


def opened(store: Store) -> Opened | None:
    """The set that the link names; None without one, and, with a sentence, when it is not here."""
    set_id = st.query_params.get("set")
    if not set_id:
        return None
    try:
        return _kept(set_id, _version(store, set_id), store, None)
    except UnknownKey as error:
        notices.show_warning(str(error))
        return None


def state_of(store: Store) -> str:
    """What changes when the opened set or its contents do."""
    set_id = st.query_params["set"]
    return set_id + _version(store, set_id)


def _version(store: Store, set_id: str) -> str:
    return store.set_summary(set_id).version


@st.cache_resource(max_entries=KEPT, show_spinner="Comparing ...")
def _kept(set_id: str, version: str, _store: Store, _collection: Collection | None) -> Opened:
    """The set worked out; from `_collection` where it was just saved, which spares reading it back."""
    collection = _collection or of_set(_store.get_set(set_id))
    return Opened.of(collection, [run for run_id in collection.run_ids if (run := _find_run(_store, run_id))])


def _find_run(store: Store, run_id: str) -> Run | None:
    """A stored run or a shipped sample; None for one that was deleted."""
    try:
        return store.run(run_id)
    except UnknownKey:
        return next((run for run in samples() if run.id == run_id), None)


def save(store: Store, current: Opened | None, change: Callable[[Collection], Collection]) -> None:
    """Change the set the link names, or make a new one that the link names from now on.

    Where another browser has changed the set meanwhile, what it holds by then is changed: nobody's files are lost.
    """
    set_id, collection = st.query_params.get("set", ""), change(collection_of(current))
    try:
        while current and not (version := store.change_set(set_id, collection.version, **_contents(collection))):
            collection = change(of_set(store.get_set(set_id)))
    except UnknownKey:  # deleted meanwhile
        current = None
    if current is None:
        st.query_params["set"] = set_id = store.add_set("", **_contents(collection))
        version = _version(store, set_id)
    _kept(set_id, version, store, replace(collection, version=version))


def _contents(collection: Collection) -> dict[str, Any]:
    return {"run_ids": collection.run_ids, "frames": collection.frames(), "details": collection.details()}


def collection_of(current: Opened | None) -> Collection:
    """What the opened set holds; nothing when none is open."""
    return current.collection if current else Collection()


def upload_key() -> str:
    """Key of the upload box; another one after a change of set, so that it starts empty."""
    return f"uploads_{st.session_state.setdefault('upload_round', 0)}"


def name_of(store: Store) -> str:
    """The name of the set that the link names."""
    return store.set_summary(st.query_params["set"]).name


def show_heading(store: Store) -> None:
    """The set's name, and what can be done with it."""
    set_id, name = st.query_params["set"], name_of(store)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        key = f"name_{set_id}"
        st.session_state[key] = name  # what is stored, also where another browser renamed it since
        st.text_input(
            "Name of this set", max_chars=80, key=key, width=320, placeholder="Unnamed", on_change=_rename,
            args=(store, set_id, key),
        )  # fmt: skip
        if st.button("Start another set", key="new_set", icon=":material/add:"):
            go(None)
        with st.popover("Delete this set", icon=":material/delete:", key="deletion"):
            st.text("Its link stops working for everybody. Files and runs stay where they came from.")
            if st.button("Delete for good", key="delete_set", type="primary"):
                store.delete_set(set_id)
                go(None)
        st.caption("The address of this page shows the same to anybody on this server.")


def _rename(store: Store, set_id: str, key: str) -> None:
    """Only when somebody typed: a browser that still holds an old name must not write it back."""
    with suppress(UnknownKey):  # deleted meanwhile; the page says so
        store.rename_set(set_id, st.session_state[key])


def show_list(store: Store) -> None:
    """All sets, to open one."""
    sets = store.list_sets()
    if not sets:
        return
    with st.expander(f"All sets ({len(sets)})", icon=":material/folder_open:", key="all_sets"):
        for each in sets:
            with st.container(horizontal=True, vertical_alignment="center"):
                if st.button("Open", key=f"open_{each.id}"):
                    go(each.id)
                what = ", ".join((*each.frame_names, *(f"run {run_id}" for run_id in each.run_ids)))
                st.text(f"{each.name or 'Unnamed'}, {captions.moment(each.created_at)}: {what[:200]}")


def go(set_id: str | None) -> None:
    """Show this set, or none; uploads of the one before do not follow."""
    st.session_state["upload_round"] = st.session_state.get("upload_round", 0) + 1
    if set_id:
        st.query_params["set"] = set_id
    else:
        st.query_params.pop("set", None)
    st.rerun()
