"""A real server, killed, filled up, edited and doubled: no orphan process, no lost outcome, no second worker, no traceback."""

import re
import signal
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import psutil
import pytest

from engine.result import Run
from engine.runner import SCRATCH
from engine.spec import Experiment, Protocol, Workload
from engine.store import SERVER_STOPPED, Store
from tests.live_server import LiveServer, copy_code, eventually

pytestmark = pytest.mark.beside

SHORT = Protocol(name="quick", process_sets=3, rounds=2, warmup_min_s=0.1, warmup_max_s=0.5, point_budget_s=1.0)
MODEL = Workload(model="all-MiniLM-L6-v2", batch_size=1, sequence_length=11)
EAGER = Experiment(workloads=(MODEL,), variants=("baseline/eager",), protocol=SHORT)
COMPILED = Experiment(workloads=(MODEL,), variants=("torch-compile/default",), protocol=SHORT)
RUN_LIMIT_S = 240.0
ORPHAN_LIMIT_S = 5.0
WITHOUT_COMPILER = {"CXX": "/there/is/no/compiler"}
"""A server that never compiles here looks at its machine in half the time; what is tested is not the look."""
COMPILER = re.compile(r"g\+\+|cc1plus|compile_worker")

Serve = Callable[..., LiveServer]


@pytest.fixture
def serve(data_folder: Path, tmp_path: Path) -> Serve:
    """Start servers on the test's data folder; what else is measured on this machine holds another lock."""
    (tmp_path / "tmp").mkdir()
    return partial(LiveServer, data_folder, logs=tmp_path, TMPDIR=str(tmp_path / "tmp"))


def is_status(store: Store, run: Run, status: str) -> Callable[[], bool]:
    return lambda: store.status(run.id) == status


def command_of(process: psutil.Process) -> str:
    """The command line of a process that may have ended meanwhile."""
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


def measuring(server: LiveServer) -> list[psutil.Process]:
    """The measured children this server started."""
    return [each for each in psutil.Process(server.process.pid).children() if "--events-fd" in command_of(each)]


def compiling(server: LiveServer) -> bool:
    """Whether a measured child has compilers at work."""
    with suppress(psutil.NoSuchProcess):
        return any(
            COMPILER.search(command_of(each)) for child in measuring(server) for each in child.children(recursive=True)
        )
    return False


@pytest.mark.slow
def test_after_a_killed_server_nothing_is_left_running_and_nothing_measured_is_lost(serve: Serve) -> None:
    store = Store()
    first, second = store.add_run(EAGER), store.add_run(COMPILED)
    with serve(**WITHOUT_COMPILER) as server:
        eventually(lambda: store.run(first.id).outcomes, RUN_LIMIT_S, "the first process set")
        assert store.queue_position(second.id) == 1
        eventually(lambda: measuring(server), RUN_LIMIT_S, "a child of the second process set")
        measured = store.run(first.id).outcomes
        server.kill()
        eventually(lambda: not server.family(), ORPHAN_LIMIT_S, "children end when the server is killed")

    scratch = store.work_folder(first.id) / SCRATCH
    assert list(scratch.iterdir()), "a killed server takes nothing away"
    with serve() as server:
        eventually(is_status(store, first, "interrupted"), 10, "the run left behind is marked")
        eventually(lambda: not scratch.exists(), 10, "its compile caches are taken away")
        left = store.run(first.id)
        assert (left.message, left.outcomes[: len(measured)]) == (SERVER_STOPPED, measured)
        eventually(lambda: compiling(server), RUN_LIMIT_S, "the queued run compiles")
        server.kill()
        eventually(lambda: not server.family(), ORPHAN_LIMIT_S, "compilers end when the server is killed")

    again = store.add_run(first.experiment)
    with serve(**WITHOUT_COMPILER) as server:
        eventually(is_status(store, second, "interrupted"), 10, "the second run left behind is marked")
        eventually(lambda: store.run(again.id).outcomes, RUN_LIMIT_S, "run again measures")
        server.stop(signal.SIGTERM)
        assert store.status(again.id) == "interrupted"
        assert server.family() == []


def test_a_server_killed_while_it_looks_at_the_machine_leaves_nothing_running(serve: Serve) -> None:
    with serve() as server:
        eventually(lambda: len(server.family()) > 2, 20, "the machine is described, a compiler tried")
        server.kill()
        eventually(lambda: not server.family(), ORPHAN_LIMIT_S, "it ends when the server is killed")


@pytest.mark.slow
def test_of_two_servers_on_one_data_folder_one_measures_and_the_other_takes_over(serve: Serve) -> None:
    store = Store()
    with serve(**WITHOUT_COMPILER) as holder:
        run = store.add_run(EAGER)
        eventually(is_status(store, run, "running"), RUN_LIMIT_S, "the first server measures")
        with serve(**WITHOUT_COMPILER) as other:
            following = store.add_run(EAGER)
            eventually(lambda: measuring(holder), RUN_LIMIT_S, "a child is measured")
            assert measuring(other) == []
            store.cancel_run(run.id)
            eventually(is_status(store, run, "cancelled"), 15, "a cancellation from another process is heard")
            holder.kill()
            eventually(is_status(store, following, "running"), RUN_LIMIT_S, "the other server takes over")


def test_editing_a_page_or_clearing_the_cache_never_makes_a_second_worker(tmp_path: Path, serve: Serve) -> None:
    code = copy_code(tmp_path / "code")
    page, module = code / "pages" / "glossary.py", code / "engine" / "worker" / "__init__.py"
    original = page.read_text()
    page.write_text(original + PROBE.format(edit=1))
    # With the code on PYTHONPATH Streamlit would watch and reload engine/ too, were it not told otherwise.
    with serve(code=code, PYTHONPATH=str(code)) as server, server.open("glossary") as visitor:
        before = PROBED.search(visitor.load())
        assert before and before["supervisors"] == "1"
        module.write_text(module.read_text() + "\n# edited\n")
        page.write_text(original + PROBE.format(edit=2))
        visitor.clear_cache()
        eventually(lambda: "edit 2" in visitor.load(), 30, "the edited page is served")
        with server.open("glossary") as other:
            after = PROBED.search(other.load())
    assert after and after["edit"] == "2"
    assert (after["worker"], after["supervisors"]) == (before["worker"], "1")


PROBE = """
import threading
from engine import worker
names = [thread.name for thread in threading.enumerate()]
st.text(f"worker {{id(worker.get())}} supervisors {{names.count('latency-lab-supervisor')}} edit {edit}")
"""
PROBED = re.compile(r"worker (?P<worker>\d+) supervisors (?P<supervisors>\d+) edit (?P<edit>\d)")


def test_a_data_folder_that_cannot_be_made_is_one_sentence_on_the_page(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with LiveServer(tmp_path / "file" / "data", logs=tmp_path) as server, server.open("torch-compile") as visitor:
        shown = visitor.load()
        assert "set LATENCY_LAB_DATA" in shown
        assert "exception {" not in shown
        assert "Traceback" not in server.log.read_text()


@pytest.mark.slow
def test_a_full_disk_ends_the_run_with_a_sentence_and_the_server_goes_on(tmp_path: Path, serve: Serve) -> None:
    store = Store()
    run = store.add_run(EAGER)
    (tmp_path / "full").mkdir()
    # Python imports this file by itself: the server's database cannot grow beyond what it holds now.
    (tmp_path / "full" / "sitecustomize.py").write_text(FULL_DISK)
    with (
        serve(PYTHONPATH=str(tmp_path / "full"), **WITHOUT_COMPILER) as server,
        server.open("torch-compile") as visitor,
    ):
        eventually(lambda: store.status(run.id) in ("failed", "interrupted"), RUN_LIMIT_S, "the run ends")
        assert "is full, so nothing more can be saved. Free some space" in store.run(run.id).message
        eventually(lambda: len(server.family()) == 1, ORPHAN_LIMIT_S, "its children end")
        assert "exception {" not in visitor.load()


FULL_DISK = """
import functools, os, sqlite3

class FullDisk(sqlite3.Connection):
    def __init__(self, path, **options):
        super().__init__(path, **options)
        self.execute("PRAGMA max_page_count = 1")

sqlite3.connect = functools.partial(sqlite3.connect, factory=FullDisk)
"""
