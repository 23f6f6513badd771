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
    grown, joining = compare_set.collection_of(current), []
    for place, file in enumerate(files):
        if place >= MAX_FILES:
            notices.show_error(
                f"{file.name}: a comparison set holds at most {MAX_FILES} files. Put the rest into another set."
            )
        elif joined := _joined(grown, file):
            joining.append((file.file_id, *joined))
            grown = grown.with_file(*joined)
    if joining:
        compare_set.save(store, current, lambda collection: _with_files(collection, joining))
    _show_others(store, current)


def _joined(collection: Collection, file: UploadedFile) -> tuple[Imported, str] | None:
    """A file that joins now, with its digest, once per answer given; else what it still asks, or why it is refused, is shown."""
    answers: Corrections = st.session_state.setdefault("corrections", {}).get(file.file_id, Corrections())
    read_before: dict[str, tuple[Corrections, Imported | str | None]] = st.session_state.setdefault("read_uploads", {})
    joined = None
    if file.file_id not in read_before or read_before[file.file_id][0] != answers:
        data = file.getvalue()
        digest = digest_of(data)
        if refusal := _not_new(collection, file.name, digest, answers):  # asked again: the other file may be removed
            notices.show_error(refusal)
            return None
        outcome = _read(file.name, data, answers)
        if isinstance(outcome, Imported) and outcome.is_complete:
            compare_understood.remember(file.name, digest, file.file_id)
            joined, outcome = (outcome, digest), None
        read_before[file.file_id] = (answers, outcome)
    outcome = read_before[file.file_id][1]
    if isinstance(outcome, str):
        notices.show_error(outcome)
    elif outcome is not None:
        compare_understood.ask(file.file_id, outcome, answers)
    return joined


def _not_new(collection: Collection, name: str, digest: str, answers: Corrections) -> str:
    """Why a file may not join; empty where it may."""
    # Read again with other answers, a file takes its own place; one that waited may meet what joined in the meantime.
    others = collection if answers == Corrections() else collection.apart_from(name, digest)
    try:
        check_new(others, name, digest)
    except UserError as error:
        return str(error)
    return ""


def _read(name: str, data: bytes, answers: Corrections) -> Imported | str:
    try:
        with st.spinner(f"Reading {len(data) / 2**20:,.1f} MB ..."):
            return read(name, data, answers)
    except UserError as error:
        return str(error)


def _with_files(collection: Collection, joining: list[tuple[str, Imported, str]]) -> Collection:
    """The collection with these files; one that another browser's upload stands in the way of is asked about again."""
    for file_id, imported, digest in joining:
        name = imported.understanding.file
        try:
            check_new(collection.apart_from(name, digest), name, digest)
        except UserError as error:
            notices.show_error(str(error))
            st.session_state["read_uploads"].pop(file_id, None)
        else:
            collection = collection.with_file(imported, digest)
    return collection


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
    compare_set.save(store, current, lambda collection: collection.with_runs(run_ids))
    st.rerun()
