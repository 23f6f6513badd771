"""Every view is a link: what stands in the query parameters, and one sentence for each that means nothing.

The widgets of `controls` keep their own parameters up to date. `run` names the run a page shows, `runs` those the Results
page compares.
"""

import streamlit as st

from engine.errors import UnknownKey
from engine.result import Machine, Run
from engine.spec import DTYPES, MAX_BATCH_SIZE, MAX_SEQUENCE_LENGTH, PROTOCOLS
from engine.store import Store
from pages.parts import notices

NUMBERS = {"batch_size": MAX_BATCH_SIZE, "sequence_length": MAX_SEQUENCE_LENGTH}
MODEL_DTYPES = tuple(dtype for dtype in DTYPES if dtype in ("float32", "bfloat16", "float16"))
CHOICES = {"dtype": MODEL_DTYPES, "protocol": tuple(PROTOCOLS)}
LONGEST_MODEL = 200
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
            _warn_about_run(run_id)
    return [run for run in found.values() if run is not None]


def to_run(run: Run) -> dict[str, str]:
    """Query parameters of a link to a run."""
    return {"run": run.id}


def settings(machine: Machine | None) -> dict[str, str | int]:
    """The link's settings that can be used; for each other one a sentence is shown."""
    devices = tuple(device.key for device in machine.devices) if machine else ()
    found: dict[str, str | int] = {}
    for name, text in st.query_params.to_dict().items():
        if name in NUMBERS:
            if text.isascii() and text.isdecimal() and len(text) < 10 and 1 <= int(text) <= NUMBERS[name]:
                found[name] = int(text)
            else:
                _warn(name, text, f"whole numbers from 1 to {NUMBERS[name]:,}")
        elif allowed := devices if name == "device" else CHOICES.get(name, ()):
            if text in allowed:
                found[name] = text
            else:
                _warn(name, text, ", ".join(allowed))
        elif name == "model" and 0 < len(text) <= LONGEST_MODEL:
            found[name] = text
    return found


def warn_about_unknown_run(store: Store) -> None:
    """Say so when the link names a run that is not here."""
    run_id = st.query_params.get("run")
    if run_id and _find(store, run_id) is None:
        _warn_about_run(run_id)


def _find(store: Store, run_id: str) -> Run | None:
    try:
        return store.run(run_id)
    except UnknownKey:
        return None


def _warn_about_run(run_id: str) -> None:
    notices.show_warning(f"The link names run {_shortened(run_id)}, which is not here; it may have been deleted.")


def _warn(name: str, text: str, allowed: str) -> None:
    notices.show_warning(
        f"The link asks for {name}={_shortened(text)}; allowed: {allowed}. What the page says below is used instead."
    )


def _shortened(text: str) -> str:
    return repr(text if len(text) <= SHOWN else text[:SHOWN] + "...")
