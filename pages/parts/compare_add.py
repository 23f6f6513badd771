"""Adding to a comparison: uploaded files, the shipped samples, runs measured here. Refused files are one sentence each."""

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from engine import captions
from engine.device_comparison.collection import MAX_FILES, Collection, check_new, digest_of
from engine.device_comparison.opened import Opened
from engine.errors import UserError
from engine.imports import Corrections, Imported, read
from engine.store import Store, samples
from pages.parts import compare_set, compare_understood, notices


def show(store: Store, current: Opened | None) -> None:
    """The ways in. Files that leave nothing to ask join the set at once; the others say what they need first."""
    files = st.file_uploader(
        f"Result files: CSV of any tool or JSON of a benchmark tool, up to {MAX_FILES}",
        accept_multiple_files=True,
        key=compare_set.upload_key(),
        help="Our result CSV, PyTorch's benchmark runner, optimum-benchmark, pytest-benchmark, hyperfine, google-benchmark, "
        "nvbench, or any table of times. The content decides, not the name. Nothing in a file is ever run.",
    )
    collection = grown = compare_set.collection_of(current)
    for place, file in enumerate(files):
        if place >= MAX_FILES:
            notices.show_error(
                f"{file.name}: a comparison set holds at most {MAX_FILES} files. Put the rest into another set."
            )
        else:
            grown = _with_file(grown, file)
    if grown is not collection:
        compare_set.save(store, grown)
    _show_others(store, current)


def _with_file(collection: Collection, file: UploadedFile) -> Collection:
    """The collection with this file, once per answer given; else what the file still asks, or why it is refused."""
    answers: Corrections = st.session_state.setdefault("corrections", {}).get(file.file_id, Corrections())
    read_before: dict[str, tuple[Corrections, Imported | str | None]] = st.session_state.setdefault("read_uploads", {})
    if file.file_id not in read_before or read_before[file.file_id][0] != answers:
        collection, outcome = _take(collection, file, answers)
        read_before[file.file_id] = (answers, outcome)
    outcome = read_before[file.file_id][1]
    if isinstance(outcome, str):
        notices.show_error(outcome)
    elif outcome is not None:
        compare_understood.ask(file.file_id, outcome, answers)
    return collection


def _take(collection: Collection, file: UploadedFile, answers: Corrections) -> tuple[Collection, Imported | str | None]:
    """The collection afterwards, and the file's open questions, or the sentence that refuses it, or None: it has joined."""
    data = file.getvalue()
    digest = digest_of(data)
    # Read again with other answers, a file takes its own place; one that waited may meet what joined in the meantime.
    others = collection if answers == Corrections() else collection.apart_from(file.name, digest)
    try:
        check_new(others, file.name, digest)
        with st.spinner(f"Reading {len(data) / 2**20:,.1f} MB ..."):
            imported = read(file.name, data, answers)
    except UserError as error:
        return collection, str(error)
    if not imported.is_complete:
        return collection, imported
    compare_understood.remember(file.name, digest, file.file_id)
    return collection.with_file(imported, digest), None


def _show_others(store: Store, current: Opened | None) -> None:
    collection = compare_set.collection_of(current)
    shipped = [run for run in samples() if run.id not in collection.run_ids]
    own = [run for run in store.runs() if run.measurements and run.id not in collection.run_ids]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if shipped and st.button("Add the shipped samples", key="add_samples", icon=":material/inventory_2:"):
            _add_runs(store, current, [run.id for run in shipped])
        if own:
            names = {
                run.id: f"{run.label or captions.of_workload(run.experiment.workloads[0])} ({run.id})" for run in own
            }
            chosen = st.multiselect("Runs measured here", list(names), format_func=names.__getitem__, key="own_runs")
            if st.button("Add them", key="add_runs", icon=":material/add:", disabled=not chosen):
                _add_runs(store, current, chosen)


def _add_runs(store: Store, current: Opened | None, run_ids: list[str]) -> None:
    compare_set.save(store, compare_set.collection_of(current).with_runs(run_ids))
    st.rerun()
