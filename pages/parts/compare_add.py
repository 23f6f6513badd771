"""Adding to a comparison: uploaded files, the shipped samples, runs measured here. Refused files are one sentence each."""

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from engine import captions
from engine.device_comparison.collection import MAX_FILES, check_new, digest_of
from engine.device_comparison.opened import Opened
from engine.errors import UserError
from engine.imports import Corrections, Imported, read
from engine.store import Store, samples
from pages.parts import compare_set, compare_understood, notices


def show(store: Store, current: Opened | None) -> None:
    """The ways in. Files that leave nothing to ask join the set at once; the others say what they need first."""
    files = st.file_uploader(
        "Result files: CSV or JSON of any tool, up to 20",
        accept_multiple_files=True,
        key=compare_set.upload_key(),
        help="Our result CSV, PyTorch's benchmark runner, optimum-benchmark, pytest-benchmark, hyperfine, google-benchmark, "
        "nvbench, or any table of times. The content decides, not the name. Nothing in a file is ever run.",
    )
    for place, file in enumerate(files):
        if place >= MAX_FILES:
            notices.show_error(f"{file.name}: at most {MAX_FILES} files at once. Upload the rest afterwards.")
        else:
            _show_file(store, file)
    _show_others(store, current)


def _show_file(store: Store, file: UploadedFile) -> None:
    """Read one file, once per answer given; what it still asks, or why it is refused."""
    answers: Corrections = st.session_state.setdefault("corrections", {}).get(file.file_id, Corrections())
    read_already = st.session_state.setdefault("read_uploads", {})
    if read_already.get(file.file_id, (None, None))[0] != answers:
        read_already[file.file_id] = (answers, _take(store, file, answers))
    outcome = read_already[file.file_id][1]
    if isinstance(outcome, str):
        notices.show_error(outcome)
    elif outcome is not None:
        compare_understood.ask(file.file_id, outcome, answers)


def _take(store: Store, file: UploadedFile, answers: Corrections) -> Imported | str | None:
    """None when the file has joined the set, its questions when it has some, the sentence that refuses it."""
    collection = compare_set.collection_of(compare_set.opened(store))
    try:
        data = file.getvalue()
        digest = digest_of(data)
        if answers == Corrections():  # a file that is read again, with other answers, takes its own place
            check_new(collection, file.name, digest)
        with st.spinner(f"Reading {len(data) / 2**20:,.1f} MB ..."):
            imported = read(file.name, data, answers)
        if imported.is_complete:
            compare_set.save(store, collection.with_file(imported, digest))
            return None
    except UserError as error:
        return str(error)
    return imported


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
