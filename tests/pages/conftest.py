"""Pages run through the router, on a worker that measures nothing: tests say when its runs go on."""

import threading
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from engine import results_csv, worker
from engine.environment import environment_of
from engine.errors import UnknownKey
from engine.result import Run
from engine.runner.events import EnvironmentKnown, OutcomeReady, Progress
from engine.store import Store
from engine.worker import Worker
from tests.hand_made import MACHINE
from tests.pages.made_runs import made_run

ROOT = Path(__file__).resolve().parents[2]
OpenPage = Callable[..., AppTest]


@pytest.fixture
def go_on() -> threading.Event:
    """Set it to let the run that is being "measured" come to its end."""
    return threading.Event()


@pytest.fixture
def service(
    go_on: threading.Event, data_folder: Path, samples_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Worker]:
    """A worker whose runs say that they warm up, wait for `go_on`, and then have made-up outcomes."""

    def run_experiment(experiment, machine, *, work_dir, emit, cancelled) -> None:
        emit(EnvironmentKnown(environment=environment_of(machine, experiment)))
        emit(
            Progress(
                phase="warmup",
                fraction=0.4,
                seconds_left=73.0,
                message="torch.compile: warm up",
                variant="torch-compile/default",
            )
        )
        while not go_on.wait(0.02):
            if cancelled.is_set():
                return
        for outcome in made_run(protocol=experiment.protocol.name, point=experiment.workloads[0]).outcomes:
            emit(OutcomeReady(outcome=outcome))

    monkeypatch.setattr("engine.worker.supervisor.POLL_S", 0.05)
    made = Worker(Store(data_folder), run_experiment=run_experiment, describe_machine=lambda: MACHINE)
    st.cache_resource.clear()
    yield worker.start(made)
    worker.stop()


def new_app() -> AppTest:
    """The app before its first run."""
    return AppTest.from_file(str(ROOT / "pages" / "router.py"), default_timeout=30)


@cache
def address_of(page: str) -> str:
    """A page can be chosen only after a first run; an app given its address then starts there, as a deep link does."""
    return new_app().run().switch_page(page)._page_hash


@pytest.fixture
def open_page(service: Worker) -> OpenPage:
    """Open a page file at a link and run it once, as the first request of a browser does."""

    def opened(page: str, **parameters: str) -> AppTest:
        app = new_app()
        if page != "journey.py":
            app._page_hash = address_of(page)
        app.query_params.update(parameters)
        return app.run()

    return opened


@pytest.fixture
def samples_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of shipped samples, empty whatever the checkout ships."""
    monkeypatch.setattr("engine.store.sample_runs.SAMPLES_FOLDER", tmp_path / "samples")
    (tmp_path / "samples").mkdir()
    return tmp_path / "samples"


@pytest.fixture
def sample(samples_folder: Path) -> Run:
    """A shipped sample."""
    run = made_run("sample")
    results_csv.write([run], samples_folder / "sample.csv")
    return run


def shown(app: AppTest) -> str:
    """All text of a page, as its source; escapes of Markdown taken away."""
    kinds = ("title", "subheader", "markdown", "caption", "text", "metric", "badge", "code")
    texts = [str(element.value) for kind in kinds for element in app.get(kind) if hasattr(element, "value")]
    return "\n".join(texts).replace("\\", "").replace("\u2060", "")


def has_run(store: Store, run_id: str) -> bool:
    """Whether the store still knows a run."""
    try:
        return bool(store.run(run_id))
    except UnknownKey:
        return False
