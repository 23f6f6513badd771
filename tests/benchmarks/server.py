"""The server: how soon it answers, how much memory it takes, how quickly pages run with two hundred stored runs."""

import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import median

import numpy as np
import psutil

from engine.catalog import TECHNIQUES
from engine.environment import environment_of
from engine.formatting import bytes_, seconds
from engine.selftest.table import Row
from engine.store import Store
from tests.benchmarks.visitor import Visitor
from tests.live_server import LiveServer, eventually
from tests.pages.made_runs import made_run

STARTS = 5
STORED_RUNS = 200
RERUNS = 20
PAGES = ("", *(technique.key for technique in TECHNIQUES), "results", "pitfalls", "glossary")
START_LIMIT_S, RERUN_LIMIT_S, CACHED_LIMIT_S = 2.5, 0.150, 0.3
MEMORY_LIMIT_BYTES = 300 * 2**20
DESCRIBE_LIMIT_S = 180.0
RESULT = "Measure again"
"""The button of a page that shows a stored result."""


def rows() -> Iterator[Row]:
    """Everything that needs a running server."""
    with tempfile.TemporaryDirectory() as folder:
        yield start_up(Path(folder))
        data = Path(folder) / "full"
        fill(Store(data))
        with LiveServer(data, logs=Path(folder)) as server:
            eventually(lambda: Store(data).machine(), DESCRIBE_LIMIT_S, "the machine is described")
            yield from page_runs(server)
            yield cached_result(server, data)
            yield from footprint(server)


def fill(store: Store) -> None:
    """Two hundred finished runs of different shapes, as measured ones are stored."""
    for number in range(STORED_RUNS):
        store.import_run(made_run(f"bench{number:03d}", speedup=1 + number / 100, label=f"benchmark {number}"))


def start_up(folder: Path) -> Row:
    """Seconds from starting the process until it answers; the first start also fills the disk cache and does not count."""
    took = []
    for number in range(STARTS + 1):
        started = time.perf_counter()
        with LiveServer(folder / f"start-{number}", logs=folder):
            took.append(time.perf_counter() - started)
    return Row(
        key="server",
        what="answers after its start",
        measured=f"{seconds(median(took[1:]))} (slowest {seconds(max(took[1:]))})",
        limit=seconds(START_LIMIT_S),
        is_kept=median(took[1:]) < START_LIMIT_S,
        samples=STARTS,
    )


def page_runs(server: LiveServer) -> Iterator[Row]:
    """Every page again and again in one session; then the page that takes longest, by name."""
    took = {}
    for page in PAGES:
        with Visitor(server.port, page) as visitor:
            visitor.load()
            took[page] = [visitor.load_s() for _ in range(RERUNS)]
    everything = [value for values in took.values() for value in values]
    slowest = max(took, key=lambda page: median(took[page]))
    p95 = float(np.quantile(everything, 0.95))
    yield Row(
        key="page",
        what=f"a page runs again, {STORED_RUNS} stored runs, p95 over {len(PAGES)} pages",
        measured=f"{seconds(p95)} (slowest page /{slowest}, median {seconds(median(took[slowest]))})",
        limit=seconds(RERUN_LIMIT_S),
        is_kept=p95 < RERUN_LIMIT_S,
        samples=len(everything),
    )


def cached_result(server: LiveServer, data: Path) -> Row:
    """Press Run for what has been measured before. The page itself says which experiment its controls mean."""
    store = Store(data)
    page = "torch-compile?protocol=quick&sequence_length=12"
    with Visitor(server.port, page) as visitor:
        visitor.press("run")
        asked = store.run(store.runs()[0].id)
        store.cancel_run(asked.id)
    eventually(lambda: store.status(asked.id) not in ("queued", "running"), 60, "the first click is cancelled")
    machine = store.machine()
    assert machine is not None
    measured = made_run("cached", protocol="quick", point=asked.experiment.workloads[0])
    environment = environment_of(machine, asked.experiment)
    store.import_run(replace(measured, experiment=asked.experiment, environment=environment))
    with Visitor(server.port, page) as visitor:
        took, shown = visitor.press("run")
    assert RESULT in shown and len(store.runs()) == STORED_RUNS + 2, "the click measured anew"
    return Row(
        key="page",
        what="a stored result is shown after the click",
        measured=seconds(took),
        limit=seconds(CACHED_LIMIT_S),
        is_kept=took < CACHED_LIMIT_S,
    )


def footprint(server: LiveServer) -> Iterator[Row]:
    """The server process after all of this."""
    process = psutil.Process(server.process.pid)
    resident = process.memory_info().rss
    yield Row(
        key="server",
        what="resident memory after all pages were visited",
        measured=bytes_(resident),
        limit=bytes_(MEMORY_LIMIT_BYTES),
        is_kept=resident < MEMORY_LIMIT_BYTES,
    )
    has_torch = any("libtorch" in mapping.path for mapping in process.memory_maps())
    yield Row(
        key="server", what="torch in the process", measured="loaded" if has_torch else "not loaded", limit="not loaded",
        is_kept=not has_torch,
    )  # fmt: skip
