"""What was understood of a file, the questions it leaves open, and the corrections a person makes."""

from dataclasses import replace

import pandas as pd
import streamlit as st

from engine import captions
from engine.device_comparison.collection import Entry
from engine.device_comparison.opened import Opened
from engine.formatting import counted
from engine.imports import Corrections, Imported, Question, Understanding, roles
from engine.imports.delimiters import DELIMITERS
from engine.imports.understanding import ROLES, Column
from engine.store import Store
from pages.parts import compare_set, notices

ROLE_OF = {label: role for role, label in ROLES.items()}
DECIMAL_MARKS = {
    ",": "Comma is the decimal mark: 1,5 is one and a half",
    ".": "Comma groups thousands: 1,500 is one and a half thousand",
}


def show_all(store: Store, opened: Opened) -> None:
    """Every file and run of the set: how it was read; corrected while its upload is at hand, or removed."""
    st.subheader("What was understood")
    for place, (name, entry) in enumerate(opened.collection.entries.items()):
        with st.expander(notices.plain(name), key=f"understood_{place}"):
            show(entry.understanding)
            _offer_corrections(name, entry)
            if st.button("Remove from this set", key=f"remove_{place}", icon=":material/close:"):
                compare_set.save(store, opened, lambda collection, name=name: collection.without(name))
                st.rerun()
    for run in opened.runs:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.text(f"{run.label or 'Run'} {run.id}: {captions.of_run(run)}")
            if st.button("Remove", key=f"remove_run_{run.id}", icon=":material/close:"):
                compare_set.save(store, opened, lambda collection, run_id=run.id: collection.without_run(run_id))
                st.rerun()


def remember(name: str, digest: str, file_id: str) -> None:
    """Which upload a file of the set came from: two uploads may share a name, and only one of them is in the set."""
    st.session_state.setdefault("joined_uploads", {})[name, digest] = file_id


def _offer_corrections(name: str, entry: Entry) -> None:
    """What can be corrected while the upload is at hand; not while it waits for an answer, with the same boxes above."""
    file_id = st.session_state.get("joined_uploads", {}).get((name, entry.digest))
    if all(file.file_id != file_id for file in st.session_state.get(compare_set.upload_key(), ())):
        st.caption("To correct anything, remove the file and upload it again.")
    elif isinstance(st.session_state["read_uploads"][file_id][1], Imported):
        st.caption("Its latest correction waits for an answer, above.")
    else:
        correct(file_id, entry.understanding, st.session_state["corrections"].get(file_id, Corrections()))


def ask(file_id: str, file: Imported, answers: Corrections) -> None:
    """A file that waits: its questions, then everything else that can be corrected."""
    understanding = file.understanding
    with st.container(border=True, key=f"asked_{file_id}"):
        st.badge("Waits for an answer", icon=":material/help:", color="orange")
        st.text(f"{understanding.file}: it counts once this is known.")
        for place, question in enumerate(understanding.questions):
            _ask(f"{file_id}_{place}", file_id, question, answers)
        show(understanding)
        correct(file_id, understanding, answers)


def _ask(key: str, file_id: str, question: Question, answers: Corrections) -> None:
    st.text(question.text)
    if question.kind == "unit":
        unit = st.selectbox("Unit", question.options, None, key=f"unit_{key}", placeholder="Choose a unit", width=240)
        if unit:
            _answer(file_id, replace(answers, units={**answers.units, **dict.fromkeys(question.columns, unit)}))
    elif question.kind == "decimal_mark":
        mark = st.selectbox(
            "The comma", question.options, None, key=f"mark_{key}", format_func=DECIMAL_MARKS.__getitem__, width=420
        )
        if mark:
            _answer(file_id, replace(answers, decimal_mark=mark))
    else:
        st.caption("Choose in the table below, then press Apply.")


def show(understanding: Understanding) -> None:
    """How a file was read, in words and tables; its text is never formatted."""
    kept = f"{understanding.rows_kept:,} of {understanding.rows_read:,} rows kept"
    parts = [
        understanding.format,
        understanding.encoding,
        f"separated by {DELIMITERS.get(understanding.delimiter, understanding.delimiter)}"
        if understanding.delimiter
        else "",
        f"decimal mark {understanding.decimal_mark}",
        "" if understanding.has_header else "no header",
        kept if not understanding.questions else counted(understanding.rows_read, "row"),
        f"{counted(understanding.rows_failed, 'row')} failed" if understanding.rows_failed else "",
        f"{counted(understanding.cells_set_aside, 'cell')} set aside" if understanding.cells_set_aside else "",
        f"devices {understanding.device_source}: {', '.join(understanding.devices)}" if understanding.devices else "",
    ]
    st.text(" · ".join(filter(None, parts)))
    for note in understanding.notes:
        st.text(note)
    if understanding.set_aside:
        st.dataframe(
            pd.DataFrame([(one.row, one.column, one.value, one.reason) for one in understanding.set_aside],
                         columns=["row", "column", "value", "why it is set aside"]),
            hide_index=True, alt="Cells that do not count",
        )  # fmt: skip


def correct(file_id: str, understanding: Understanding, answers: Corrections) -> None:
    """Every part of what was understood, to be changed; applied when asked to, because each change reads the file again."""
    with st.form(f"correct_{file_id}", border=False):
        columns = _edited_columns(file_id, understanding.columns)
        devices = {
            name: st.text_input(f"Device {notices.plain(name)}", name, key=f"device_{file_id}_{place}", max_chars=80)
            for place, name in enumerate(understanding.devices)
        }
        choices = [None, *DELIMITERS]
        delimiter = st.selectbox(
            "Separator", choices, choices.index(answers.delimiter), key=f"delimiter_{file_id}", width=240,
            format_func=lambda mark: DELIMITERS[mark] if mark else "as understood",
        )  # fmt: skip
        marks = [None, *DECIMAL_MARKS]
        mark = st.selectbox(
            "Decimal mark", marks, marks.index(answers.decimal_mark), key=f"decimal_{file_id}", width=420,
            format_func=lambda mark: DECIMAL_MARKS[mark] if mark else "as understood",
        )  # fmt: skip
        has_header = st.checkbox("The first row is a header", understanding.has_header, key=f"header_{file_id}")
        if st.form_submit_button("Apply", key=f"apply_{file_id}", icon=":material/check:"):
            if misfits := _misfits(columns):
                notices.show_error(misfits[0])
                return
            is_changed = has_header != understanding.has_header
            known = replace(
                answers,
                delimiter=delimiter,
                decimal_mark=mark or answers.decimal_mark,
                has_header=has_header if is_changed else answers.has_header,
            )
            _answer(file_id, _with_columns(_with_devices(known, devices), understanding, columns))


def _misfits(columns: pd.DataFrame) -> list[str]:
    """What to say of units that are of another kind than their column."""
    rows = columns.to_dict("records")
    said = (roles.misfit(row["column"], ROLE_OF[row["meaning"]], row["unit"]) for row in rows)
    return [sentence for sentence in said if sentence]


def _edited_columns(file_id: str, columns: tuple[Column, ...]) -> pd.DataFrame:
    if not columns:
        return pd.DataFrame(columns=["column", "meaning", "unit"])
    table = pd.DataFrame(
        [(each.name, ROLES[each.role], each.unit, each.better, each.example) for each in columns],
        columns=["column", "meaning", "unit", "better", "example"],
    )
    return st.data_editor(
        table, key=f"columns_{file_id}", hide_index=True, disabled=["column", "better", "example"],
        alt="How each column was read",
        column_config={
            "meaning": st.column_config.SelectboxColumn("Meaning", options=list(ROLE_OF), required=True, width="large"),
            "unit": st.column_config.SelectboxColumn("Unit", options=list(roles.ALL_UNITS)),
            "better": st.column_config.TextColumn("Better"),
        },
    )  # fmt: skip


def _with_columns(answers: Corrections, understanding: Understanding, columns: pd.DataFrame) -> Corrections:
    """Only what differs from what was understood, so that the rest stays found by itself."""
    before = {each.name: each for each in understanding.columns}
    rows = columns.to_dict("records")
    meanings = {row["column"]: ROLE_OF[row["meaning"]] for row in rows}
    units = {row["column"]: row["unit"] for row in rows if isinstance(row["unit"], str)}
    return replace(
        answers,
        roles={**answers.roles, **{name: role for name, role in meanings.items() if role != before[name].role}},
        units={**answers.units, **{name: unit for name, unit in units.items() if unit != before[name].unit}},
    )


def _with_devices(answers: Corrections, devices: dict[str, str]) -> Corrections:
    """Names that were changed; an emptied one stays as it was. A name given earlier is followed to the file's own."""
    own = {given: name for name, given in answers.devices.items()}
    renamed = {own.get(old, old): new.strip() for old, new in devices.items() if new.strip() not in ("", old)}
    return replace(answers, devices={**answers.devices, **renamed})


def _answer(file_id: str, answers: Corrections) -> None:
    st.session_state["corrections"][file_id] = answers
    st.rerun()
