"""What the pages draw of a run, worked out once and kept until the run changes: rows, samples, the run to show."""

from collections.abc import Sequence
from functools import partial

import pandas as pd
import streamlit as st

from engine import catalog
from engine.basis import machine_of, measures, points_of, widest
from engine.comparison import ComparisonRow, compare_run
from engine.frames import at_workload, samples_frame
from engine.journey import rungs
from engine.result import Run
from engine.spec import Experiment, Workload
from engine.store import RunSummary, Store, samples
from pages.parts import notices

ENDED_EARLY = {
    "cancelled": "This run was cancelled; what had been measured by then is shown.",
    "interrupted": "This run was interrupted; what had been measured by then is shown.",
    "failed": "This run could not go on.",
}
PITFALLS = catalog.find_technique("pitfalls")
KEPT = 64
"""Runs whose rows stay in memory; far more than people look at in one sitting."""


def rows_of(run: Run) -> list[ComparisonRow]:
    """Every row of the run, A/A twins included. Do not change the list: all sessions share it."""
    return _rows(_state_of(run), run)


def rungs_of(run: Run) -> list[ComparisonRow]:
    """What each variant adds to the one it builds on. Do not change the list: all sessions share it."""
    return _rungs(_state_of(run), run)


def samples_at(run: Run, workload: Workload) -> pd.DataFrame:
    """The samples frame of a run at one workload. Do not change it: all sessions share it."""
    return _samples((*_state_of(run), repr(workload)), run, workload)


def _state_of(run: Run) -> tuple[str, ...]:
    """What changes when anything derived from the run does."""
    return run.id, run.status, run.label, str(len(run.outcomes))


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def _rows(key: tuple[str, ...], _run: Run) -> list[ComparisonRow]:
    return compare_run(_run)


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def _rungs(key: tuple[str, ...], _run: Run) -> list[ComparisonRow]:
    return rungs(_run)


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def _samples(key: tuple[str, ...], _run: Run, _workload: Workload) -> pd.DataFrame:
    return at_workload(samples_frame([_run]), _workload)


def newest_run(store: Store, technique: catalog.Technique, wanted: Experiment) -> Run | None:
    """The newest finished run of a technique: of exactly this experiment, else on this device, else a shipped sample."""
    own = [run for run in _finished(store, wanted.device) if _measures(run, technique)]
    chosen = next((run for run in own if run.experiment == wanted), next(iter(own), None))
    return store.run(chosen.id) if chosen else widest_sample(technique)


def widest_sample(technique: catalog.Technique) -> Run | None:
    """The shipped sample that measured the technique at the most points."""
    shipped = [run for run in samples() if _measures(run, technique)]
    return max(shipped, key=partial(points_of, technique), default=None)


def of_the_model(store: Store, device: str) -> Sequence[Run | RunSummary]:
    """Finished runs on this device, the newest first; where there is none, the shipped samples. No pitfalls.

    Of the samples those of one machine only, the one that drove the whole route.
    """
    own = [run for run in _finished(store, device) if not _is_of_pitfalls(run)]
    shipped = sorted(samples(), key=lambda run: run.finished_at or "", reverse=True)
    shipped = [run for run in shipped if not _is_of_pitfalls(run)]
    most = widest(shipped)
    return own or [run for run in shipped if most and machine_of(run) == machine_of(most)]


def is_sample(run: Run) -> bool:
    """Whether this run came with the product and was measured elsewhere."""
    return any(run.id == sample.id for sample in samples())


def show_origin(run: Run) -> None:
    """Whether the run is a shipped sample, and whether it ended as planned."""
    if is_sample(run):
        st.badge("Shipped sample, measured on another machine", icon=":material/inventory_2:", color="violet")
    if run.status in ENDED_EARLY:
        notices.show_warning(" ".join(filter(None, (ENDED_EARLY[run.status], run.message))))
    if run.label or run.note:
        st.text(" · ".join(filter(None, (run.label, run.note))))


def _finished(store: Store, device: str) -> list[RunSummary]:
    """Ended runs on a device with something measured, the newest first."""
    ended = [run for run in store.runs() if run.status not in ("queued", "running")]
    return [run for run in ended if run.measurements and run.experiment.device == device]


def _is_of_pitfalls(run: Run | RunSummary) -> bool:
    """Whether a run was made for the Pitfalls page; it speaks there, and nowhere else unless a link names it."""
    return any(variant.key in run.experiment.variants for variant in PITFALLS.variants)


def _measures(run: Run | RunSummary, technique: catalog.Technique) -> bool:
    """Whether a run has something for the technique's page."""
    if _is_of_pitfalls(run) and technique != PITFALLS:
        return False
    return measures(run.experiment, technique)
