"""The worker with a fake runner: the queue, the cache, cancelling, faults, and that there is one measuring worker per folder."""

import errno
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from engine import worker
from engine.errors import InvalidSpec, StorageError, UserError
from engine.result import Environment, Machine, Run
from engine.runner.events import EnvironmentKnown, LimitsMeasured, OutcomeReady, Progress, RunEvent, WaitingForMachine
from engine.spec import Experiment
from engine.store import SERVER_STOPPED, Store
from engine.worker import Worker, supervisor
from tests.hand_made import LIMITS, MACHINE, experiment, failure, measurement

LIMIT_S = 5.0


def eventually(condition: Callable[[], object]) -> None:
    """Wait until `condition` holds, at most five seconds."""
    deadline = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < deadline, "it did not happen within the time limit"
        time.sleep(0.005)


class FakeRunner:
    """Stands in for `engine.runner.run_experiment`: emits what it is told, then waits at a gate if there is one."""

    def __init__(self, *events: RunEvent, error: Exception | None = None, has_gate: bool = False) -> None:
        self.events = events or (OutcomeReady(outcome=measurement()),)
        self.error = error
        self.gate = threading.Event() if has_gate else None
        self.started: list[int | None] = []
        self.at_once = self.most_at_once = 0
        self.work_dirs: list[Path] = []

    def __call__(
        self,
        experiment: Experiment,
        machine: Machine,
        *,
        work_dir: Path,
        emit: Callable[[RunEvent], None],
        cancelled: threading.Event,
    ) -> None:
        self.started.append(experiment.workloads[0].batch_size)
        self.work_dirs.append(work_dir)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            emit(EnvironmentKnown(environment=worker.environment_of(machine, experiment)))
            for event in self.events:
                emit(event)
            deadline = time.monotonic() + LIMIT_S
            while self.gate and not self.gate.is_set() and not cancelled.wait(0.005):
                assert time.monotonic() < deadline
            if self.error:
                raise self.error
        finally:
            self.at_once -= 1


@pytest.fixture(autouse=True)
def quick_polls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "POLL_S", 0.02)


@pytest.fixture
def begin() -> Iterator[Callable[..., Worker]]:
    """Start workers on the test's data folder; they are stopped at its end."""
    started: list[Worker] = []

    def begin(runner: FakeRunner, describe: Callable[[], Machine] = lambda: MACHINE) -> Worker:
        made = Worker(Store(), run_experiment=runner, describe_machine=describe)
        made.start()
        started.append(made)
        return made

    yield begin
    for made in started:
        made.stop()


def status(made: Worker, run: Run) -> str | None:
    return made.store.status(run.id)


def test_a_submitted_run_is_measured_and_everything_it_reports_is_stored(begin: Callable[..., Worker]) -> None:
    runner = FakeRunner(
        LimitsMeasured(limits=LIMITS), OutcomeReady(outcome=measurement()), OutcomeReady(outcome=failure())
    )
    made = begin(runner)
    run = made.submit(experiment(), label="A100", note="quiet")
    eventually(lambda: status(made, run) == "done")
    stored = made.store.run(run.id)
    assert (stored.label, stored.note, stored.limits) == ("A100", "quiet", LIMITS)
    assert stored.outcomes == (measurement(), failure())
    assert isinstance(stored.environment, Environment)
    assert runner.work_dirs == [made.store.work_folder(run.id)]


def test_an_outcome_is_stored_while_the_run_goes_on(begin: Callable[..., Worker]) -> None:
    made = begin(FakeRunner(has_gate=True))
    run = made.submit(experiment())
    eventually(lambda: made.store.run(run.id).outcomes)
    assert status(made, run) == "running"


def test_two_sessions_press_run_and_are_measured_one_after_the_other(begin: Callable[..., Worker]) -> None:
    runner = FakeRunner(has_gate=True)
    made = begin(runner)
    first = made.submit(experiment(1))
    eventually(lambda: status(made, first) == "running")
    with ThreadPoolExecutor(2) as sessions:
        second, third = sessions.map(lambda size: made.submit(experiment(size)), (2, 3))
    assert made.queue_position(first.id) is None
    assert {made.queue_position(second.id), made.queue_position(third.id)} == {1, 2}
    assert runner.gate
    runner.gate.set()
    eventually(lambda: {status(made, run) for run in (first, second, third)} == {"done"})
    assert runner.most_at_once == 1
    assert sorted(runner.started) == [1, 2, 3]


def test_a_queued_run_can_be_cancelled_and_is_never_started(begin: Callable[..., Worker]) -> None:
    runner = FakeRunner(has_gate=True)
    made = begin(runner)
    first, second = made.submit(experiment(1)), made.submit(experiment(2))
    eventually(lambda: status(made, first) == "running")
    made.cancel(second.id)
    assert status(made, second) == "cancelled"
    assert runner.gate
    runner.gate.set()
    eventually(lambda: status(made, first) == "done")
    assert runner.started == [1]


def test_a_cancelled_running_run_keeps_what_it_measured(begin: Callable[..., Worker]) -> None:
    made = begin(FakeRunner(has_gate=True))
    run = made.submit(experiment())
    eventually(lambda: made.store.run(run.id).outcomes)
    made.cancel(run.id)
    eventually(lambda: status(made, run) == "cancelled")
    assert made.store.run(run.id).outcomes == (measurement(),)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "The disk that holds "),
        (UserError("Batch 9 is too much. Choose 8."), "Batch 9 is too much. Choose 8."),
        (
            ZeroDivisionError("division by zero"),
            "A bug in Latency Lab ended this run (ZeroDivisionError: division by zero)",
        ),
    ],
)
def test_a_run_that_cannot_go_on_is_failed_with_its_message_and_the_next_one_runs(
    begin: Callable[..., Worker], error: Exception, message: str
) -> None:
    runner = FakeRunner(error=error)
    made = begin(runner)
    broken = made.submit(experiment(1))
    eventually(lambda: status(made, broken) == "failed")
    assert made.store.run(broken.id).message.startswith(message)
    assert made.store.run(broken.id).outcomes == (measurement(),)
    runner.error = None
    healthy = made.submit(experiment(2))
    eventually(lambda: status(made, healthy) == "done")


def test_the_same_experiment_in_the_same_environment_is_answered_from_the_store(begin: Callable[..., Worker]) -> None:
    runner = FakeRunner()
    made = begin(runner)
    run = made.submit(experiment())
    eventually(lambda: status(made, run) == "done")
    assert made.submit(experiment()) == made.store.run(run.id)
    assert made.submit(experiment(2)).id != run.id
    assert made.submit(experiment(), again=True).id != run.id


@pytest.mark.parametrize("again", [False, True])
def test_a_double_click_and_a_second_browser_follow_the_run_that_waits_or_is_measured(
    begin: Callable[..., Worker], again: bool
) -> None:
    runner = FakeRunner(has_gate=True)
    made = begin(runner)
    other = made.submit(experiment(1))
    eventually(lambda: status(made, other) == "running")
    with ThreadPoolExecutor(4) as clicks:
        waiting = {run.id for run in clicks.map(lambda _: made.submit(experiment(2), again=again), range(8))}
    assert len(waiting) == 1
    made.cancel(other.id)
    (followed,) = waiting
    eventually(lambda: made.store.status(followed) == "running")
    assert made.submit(experiment(2), again=again).id == followed
    assert len(made.store.runs()) == 2


def test_whoever_asks_while_a_run_is_being_cancelled_gets_a_new_one() -> None:
    store = Store()
    cancelled = store.add_run(experiment())
    store.start_run(cancelled.id)
    store.cancel_run(cancelled.id)
    assert store.follow_or_add_run(experiment()).id != cancelled.id
    waiting = store.follow_or_add_run(experiment())
    store.cancel_run(waiting.id)
    assert store.follow_or_add_run(experiment()).id not in (cancelled.id, waiting.id)


def test_a_library_update_makes_a_stored_result_no_answer(begin: Callable[..., Worker]) -> None:
    made = begin(FakeRunner())
    run = made.submit(experiment())
    eventually(lambda: status(made, run) == "done")
    made.stop()
    updated = begin(FakeRunner(), lambda: replace(MACHINE, versions={"torch": "2.14.0", "python": "3.11"}))
    eventually(lambda: updated.machine() != MACHINE)
    assert updated.submit(experiment()).id != run.id


@pytest.mark.parametrize(("name", "ending"), [("model/weights.safetensors", ""), ("model.py", ":build")])
def test_a_local_model_that_was_edited_makes_a_stored_result_no_answer(
    begin: Callable[..., Worker], tmp_path: Path, name: str, ending: str
) -> None:
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_text("as it was")
    os.utime(file, (0, 0))
    model = f"{file}{ending}" if ending else str(file.parent)
    wanted = replace(experiment(), workloads=(replace(experiment().workloads[0], model=model),))
    made = begin(FakeRunner())
    run = made.submit(wanted)
    eventually(lambda: status(made, run) == "done")
    assert made.submit(wanted).id == run.id
    later = time.time() + 2
    os.utime(file, (later, later))
    assert made.submit(wanted).id != run.id


def test_an_environment_variable_that_matters_makes_a_stored_result_no_answer(
    begin: Callable[..., Worker], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = begin(FakeRunner())
    run = made.submit(experiment())
    eventually(lambda: status(made, run) == "done")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert made.submit(experiment()).id != run.id


def test_a_device_this_machine_lacks_is_refused_before_it_is_queued(begin: Callable[..., Worker]) -> None:
    made = begin(FakeRunner())
    eventually(made.machine)
    with pytest.raises(InvalidSpec, match="cuda:0"):
        made.submit(replace(experiment(), device="cuda:0"))
    assert made.store.runs() == []


def test_runs_wait_until_the_machine_is_described(begin: Callable[..., Worker]) -> None:
    is_described = threading.Event()

    def describe() -> Machine:
        is_described.wait(LIMIT_S)
        return MACHINE

    made = begin(FakeRunner(), describe)
    run = made.submit(experiment())
    assert made.machine() is None
    assert (status(made, run), made.queue_position(run.id)) == ("queued", 1)
    is_described.set()
    eventually(lambda: status(made, run) == "done")
    assert made.machine() == MACHINE
    eventually(lambda: made.store.machine() == MACHINE)


def test_the_machine_as_it_was_at_the_last_start_is_shown_until_it_is_described_anew(
    begin: Callable[..., Worker],
) -> None:
    Store().set_machine(MACHINE)
    is_described = threading.Event()
    renamed = replace(MACHINE, hostname="renamed")
    made = begin(FakeRunner(), lambda: renamed if is_described.wait(LIMIT_S) else MACHINE)
    assert made.machine() == MACHINE
    is_described.set()
    eventually(lambda: made.machine() == renamed)


def test_a_machine_that_cannot_be_remembered_is_known_all_the_same(
    begin: Callable[..., Worker], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Store, "set_machine", _refusing(Store.set_machine, threading.Event()))
    made = begin(FakeRunner())
    eventually(lambda: made.machine() == MACHINE)


def test_a_machine_that_could_not_be_described_is_looked_at_again_after_a_while(
    begin: Callable[..., Worker], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guard: `_describe_again`; without it one bad moment at the start costs every run until the server is restarted."""
    attempts: list[int] = []

    def describe() -> Machine:
        attempts.append(1)
        if len(attempts) == 1:
            raise UserError("The child was killed.")
        return MACHINE

    made = begin(FakeRunner(), describe)
    eventually(made._machine.done)
    with pytest.raises(UserError, match="killed"):
        made.machine()
    assert len(attempts) == 1
    monkeypatch.setattr(worker, "DESCRIBE_AGAIN_S", 0.0)
    with pytest.raises(UserError, match="killed"):
        made.machine()
    eventually(lambda: made.machine() == MACHINE)
    assert len(attempts) == 2


def test_a_machine_that_cannot_be_described_is_said_by_pages_and_runs(begin: Callable[..., Worker]) -> None:
    def describe() -> Machine:
        raise UserError("torch is not installed. Run pip install -r requirements.txt.")

    made = begin(FakeRunner(), describe)
    run = made.store.add_run(experiment())
    eventually(lambda: status(made, run) == "failed")
    assert made.store.run(run.id).message.startswith("torch is not installed")
    with pytest.raises(UserError, match="torch is not installed"):
        made.machine()


def test_progress_is_there_while_a_run_is_measured_and_not_after(begin: Callable[..., Worker]) -> None:
    runner = FakeRunner(
        WaitingForMachine(holder="a run on cpu (process 7)"),
        Progress(phase="load", fraction=0.1, seconds_left=90.0, message="Loading"),
        OutcomeReady(outcome=failure()),
        Progress(phase="steady", fraction=0.5, seconds_left=60.0, message="Round 3 of 20", variant="runtimes/openvino"),
        has_gate=True,
    )
    made = begin(runner)
    run = made.submit(experiment())
    eventually(lambda: (now := made.progress(run.id)) and now.phase == "steady")
    now = made.progress(run.id)
    assert now and now.seconds_left
    assert (now.fraction, now.message, now.variant) == (0.5, "Round 3 of 20", "runtimes/openvino")
    assert 50.0 < now.seconds_left <= 60.0
    assert [line.split(" s  ")[1] for line in now.log] == [
        "Waiting for a run on cpu (process 7)",
        "Loading",
        "torch-compile/default failed: The process died.",
        "Round 3 of 20",
    ]
    made.cancel(run.id)
    eventually(lambda: made.progress(run.id) is None)


def test_after_a_restart_the_running_run_is_interrupted_and_the_queue_goes_on(begin: Callable[..., Worker]) -> None:
    store = Store()
    left_behind, queued = store.add_run(experiment(1)), store.add_run(experiment(2))
    store.start_run(left_behind.id)
    store.add_outcome(left_behind.id, measurement())
    made = begin(FakeRunner())
    eventually(lambda: status(made, queued) == "done")
    run = made.store.run(left_behind.id)
    assert (run.status, run.message, run.outcomes) == ("interrupted", SERVER_STOPPED, (measurement(),))
    again = made.submit(run.experiment)
    assert again.id != run.id
    eventually(lambda: status(made, again) == "done")


def test_stopping_ends_the_running_run_as_interrupted_and_leaves_the_queue(begin: Callable[..., Worker]) -> None:
    made = begin(FakeRunner(has_gate=True))
    first, second = made.submit(experiment(1)), made.submit(experiment(2))
    eventually(lambda: status(made, first) == "running")
    made.stop()
    assert (status(made, first), status(made, second)) == ("interrupted", "queued")


def test_of_two_servers_on_one_folder_one_measures_and_both_submit_follow_and_cancel(
    begin: Callable[..., Worker],
) -> None:
    holder, other = FakeRunner(has_gate=True), FakeRunner()
    here = begin(holder)
    first = here.submit(experiment(1))
    eventually(lambda: status(here, first) == "running")
    there = begin(other)
    second = there.submit(experiment(2))
    following = there.progress(first.id)
    assert following and following.message == "Another Latency Lab server is measuring this run."
    assert there.queue_position(second.id) == 1
    there.cancel(first.id)
    eventually(lambda: status(here, first) == "cancelled")
    eventually(lambda: holder.started == [1, 2])
    assert other.started == []


def test_when_the_measuring_server_ends_another_one_takes_over(begin: Callable[..., Worker]) -> None:
    here = begin(FakeRunner())
    first = here.submit(experiment(1))
    eventually(lambda: status(here, first) == "done")
    there = begin(FakeRunner())
    here.stop()
    second = there.submit(experiment(2))
    eventually(lambda: status(there, second) == "done")


def test_a_full_disk_ends_the_run_with_a_sentence_and_the_next_one_runs_when_there_is_room(
    begin: Callable[..., Worker], monkeypatch: pytest.MonkeyPatch
) -> None:
    has_room = threading.Event()
    for name in ("add_outcome", "end_run"):
        monkeypatch.setattr(Store, name, _refusing(getattr(Store, name), has_room))
    made = begin(FakeRunner())
    run = made.submit(experiment())
    eventually(lambda: status(made, run) == "interrupted")
    assert made.store.run(run.id).message == "The disk is full. Free some space."
    has_room.set()
    following = made.submit(experiment(2))
    eventually(lambda: status(made, following) == "done")


def test_a_queue_that_the_disk_stops_says_so_until_there_is_room(
    begin: Callable[..., Worker], monkeypatch: pytest.MonkeyPatch
) -> None:
    has_room = threading.Event()
    monkeypatch.setattr(Store, "start_run", _refusing(Store.start_run, has_room))
    made = begin(FakeRunner())
    run = made.submit(experiment())
    eventually(lambda: made._supervisor.problem)
    with pytest.raises(StorageError, match="The disk is full"):
        made.progress(run.id)
    has_room.set()
    eventually(lambda: status(made, run) == "done")
    eventually(lambda: not made._supervisor.problem)
    assert made.progress(run.id) is None


def _refusing(method: Callable[..., object], has_room: threading.Event) -> Callable[..., object]:
    def refuse(*arguments: object) -> object:
        if not has_room.is_set():
            raise StorageError("The disk is full. Free some space.")
        return method(*arguments)

    return refuse


def test_every_thread_gets_the_same_worker_until_it_is_stopped() -> None:
    mine = Worker(Store(), run_experiment=FakeRunner(), describe_machine=lambda: MACHINE)
    assert worker.start(mine) is mine
    try:
        with ThreadPoolExecutor(8) as sessions:
            assert set(sessions.map(lambda _: worker.get(), range(32))) == {mine}
    finally:
        worker.stop()
    worker.stop()


def test_an_impossible_data_folder_is_tried_again_at_the_next_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    obstacle = tmp_path / "file"
    obstacle.write_text("in the way")
    monkeypatch.setenv("LATENCY_LAB_DATA", str(obstacle / "data"))
    for _ in range(2):
        with pytest.raises(StorageError, match="Not a directory"):
            worker.get()
    obstacle.unlink()
    monkeypatch.setattr(
        worker, "Worker", lambda store: Worker(store, run_experiment=FakeRunner(), describe_machine=lambda: MACHINE)
    )
    assert worker.get().store.runs() == []
    worker.stop()


def test_the_server_side_never_imports_torch() -> None:
    code = "import engine.worker, engine.store, engine.charts, sys; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[2])
