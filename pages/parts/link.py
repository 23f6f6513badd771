"""Every view is a link: what stands in the query parameters, and one sentence for each that means nothing.

The widgets of `controls` keep their own parameters up to date. `run` names the run a page shows, `runs` those the Results
page compares. `present=1` asks for slides instead of the page, `slide` for one of them.
"""

from collections.abc import Iterable

import streamlit as st
from streamlit.errors import StreamlitAPIException

from engine.errors import UnknownKey
from engine.operator_experiment import PARTS
from engine.result import Machine, Run
from engine.spec import DTYPES, MAX_BATCH_SIZE, MAX_SEQUENCE_LENGTH, PROTOCOLS
from engine.store import Store
from pages.parts import notices

NUMBERS = {"batch_size": MAX_BATCH_SIZE, "sequence_length": MAX_SEQUENCE_LENGTH}
MODEL_DTYPES = tuple(dtype for dtype in DTYPES if dtype in ("float32", "bfloat16", "float16"))
CHOICES = {"dtype": MODEL_DTYPES, "protocol": tuple(PROTOCOLS)}
LONGEST_TEXTS = {"model": 200, "lengths": 400}
COUNTS = {"slide": 999, "calls_per_day": 10**12}
ROUTE_VIEWS = ("Each step alone", "What stacking adds")
REQUESTS = ("Realistic lengths", "My own list", "No requests")
LABELS = {"route_view": ROUTE_VIEWS, "requests": REQUESTS} | {
    f"parts_{key}": tuple(part.label for part in parts) for key, parts in PARTS.items()
}
"""Choices whose labels are the link's words; some take several."""
LARGEST = NUMBERS | COUNTS
SETTINGS = (*NUMBERS, *CHOICES, *LONGEST_TEXTS, "device")
SHOWN = 40


def shown_run(store: Store) -> Run | None:
    """The run this link names; None without one, and when it names a run that is not here."""
    run_id = st.query_params.get("run")
    return _find(store, run_id) if run_id else None


def compared_runs(store: Store) -> list[Run]:
    """The runs this link compares, each once, in order; those that are not here are left out, and that is said."""
    ids = list(dict.fromkeys(filter(None, st.query_params.get("runs", "").split(","))))
    found = {run_id: _find(store, run_id) for run_id in ids}
    for run_id, run in found.items():
        if run is None:
            notices.show_warning(f"The link names run {run_id[:SHOWN]!r}, which is not here; it may have been deleted.")
    return [run for run in found.values() if run is not None]


def to_run(run: Run) -> dict[str, str]:
    """Query parameters of a link to a run."""
    return {"run": run.id}


def settings() -> dict[str, str | int]:
    """What the link says about the widgets; `drop_unusable` has been called."""
    named = st.query_params.to_dict()
    return {
        name: int(text) if name in NUMBERS else _of_choice(name, text)
        for name, text in named.items()
        if name in SETTINGS
    }


def settle(name: str, value: object) -> None:
    """Give a setting that has no value this one, before its widget is made.

    None is no value either: a browser that still fetched a widget's script while the page ran again makes the widget without
    the value it was sent, and reports it empty. Widgets are therefore made without defaults, which would look like a choice.
    """
    if st.session_state.get(name) is None:
        st.session_state[name] = value


def drop_unusable(store: Store, machine: Machine | None) -> None:
    """Take out of the link what means nothing here, and say so in one sentence each.

    Before any widget is made: Streamlit drops such values silently, and fails on a number too large for it.
    """
    allowed = CHOICES | LABELS | ({"device": tuple(device.key for device in machine.devices)} if machine else {})
    problems = {
        name: problem
        for name in st.query_params
        for text in st.query_params.get_all(name)
        if (problem := _problem(store, allowed, name, text))
    }
    waiting = st.session_state.setdefault("dropped_from_link", [])
    waiting += problems.values()
    if [name for name in problems if _drop(name)]:
        st.rerun()
    for problem in st.session_state.pop("dropped_from_link"):
        notices.show_warning(problem)


def drop_unless(name: str, allowed: Iterable[str]) -> None:
    """The same for a choice that only the shown run can tell, before its widget is made."""
    text, known = st.query_params.get(name), tuple(allowed)
    if text is not None and text not in known and _drop(name):
        notices.show_warning(_refusal(name, repr(text[:SHOWN]), ", ".join(known)))


def _drop(name: str) -> bool:
    """Take a parameter out of the link; False where a widget has it by now, which then has corrected it itself."""
    try:
        del st.query_params[name]
    except StreamlitAPIException:
        return False
    return True


def _problem(store: Store, allowed: dict[str, tuple[str, ...]], name: str, text: str) -> str | None:
    """Why a value of the link cannot be used; None when it can, or is not ours to judge."""
    shown = repr(text if len(text) <= SHOWN else text[:SHOWN] + "...")
    if name in LARGEST and not _is_number(text, LARGEST[name]):
        return _refusal(name, shown, f"whole numbers from 1 to {LARGEST[name]:,}")
    if name in allowed and _of_choice(name, text) not in allowed[name]:
        return _refusal(name, shown, ", ".join(allowed[name]))
    if name in LONGEST_TEXTS and not 0 < len(text) <= LONGEST_TEXTS[name]:
        return _refusal(name, shown, f"1 to {LONGEST_TEXTS[name]} characters")
    if name == "run" and _find(store, text) is None:
        return f"The link names run {shown}, which is not here; it may have been deleted."
    return None


def _of_choice(name: str, text: str) -> str:
    """The key behind a choice: widgets put its label, which is capitalised, into the link."""
    return text.lower() if name in CHOICES else text


def _refusal(name: str, shown: str, allowed: str) -> str:
    return f"The link asks for {name}={shown}; allowed: {allowed}. What this page says is used instead."


def _is_number(text: str, largest: int) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= len(str(largest)) and 1 <= int(text) <= largest


def _find(store: Store, run_id: str) -> Run | None:
    try:
        return store.run(run_id)
    except UnknownKey:
        return None
