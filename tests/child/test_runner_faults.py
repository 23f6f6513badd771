"""The runner with real processes that misbehave (fakes without torch): one arm fails, readably, and the others stand."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

import psutil
import pytest

from engine.catalog import VARIANTS, Variant
from engine.errors import InvalidSpec, UserError
from engine.result import Failure, Measurement
from engine.runner import describe_machine, run_experiment
from engine.runner.events import EnvironmentKnown, LimitsMeasured, OutcomeReady, Progress, TimeSpent, WaitingForMachine
from engine.spec import Experiment, Protocol, Workload
from tests.child.fake_child import machine

ROOT = Path(__file__).resolve().parents[2]
FAKE = Path(__file__).with_name("fake_child.py")
POINT = Workload(model="fake", batch_size=1, sequence_length=11)
PROTOCOL = Protocol(
    name="quick", process_sets=1, rounds=3, block_s=0.005, rest_s=0.001, set_up_limit_s=20.0, block_limit_s=20.0
)
EAGER, TWIN, COMPILED = "baseline/eager", "baseline/eager@twin", "torch-compile/default"


def fake_command(modes):
    return (sys.executable, str(FAKE), json.dumps(modes))


@dataclass
class FakeRun:
    """An experiment on fake children: start it, then look at its events."""

    folder: Path
    modes: dict[str, str] = field(default_factory=dict)
    protocol: Protocol = PROTOCOL
    variants: tuple[str, ...] = (COMPILED,)
    has_compiler: bool = True
    experiment: Experiment | None = None

    def __post_init__(self):
        self.events = []
        self.cancelled = threading.Event()
        self.on_event = lambda event: None

    def emit(self, event):
        self.events.append(event)
        self.on_event(event)

    def measure(self):
        run_experiment(
            self.experiment or Experiment(workloads=(POINT,), variants=self.variants, protocol=self.protocol),
            machine(self.has_compiler),
            work_dir=self.folder / "work",
            emit=self.emit,
            cancelled=self.cancelled,
            child_command=fake_command(self.modes),
            lock_path=self.folder / "machine.lock",
        )
        return self

    def of(self, kind):
        return [event for event in self.events if isinstance(event, kind)]

    def outcomes(self, variant=None):
        found = [event.outcome for event in self.of(OutcomeReady)]
        return [outcome for outcome in found if variant in (None, outcome.variant)]

    def outcome(self, variant):
        (found,) = self.outcomes(variant)
        return found


@pytest.fixture
def fake_run(tmp_path):
    """Runs with `modes`; whatever happens, no child of this test process is left."""
    yield lambda modes=None, **settings: FakeRun(tmp_path, modes or {}, **settings)
    assert psutil.Process().children(recursive=True) == []


def assert_others_measured(run, failed=COMPILED):
    for variant in {EAGER, TWIN, COMPILED} - {failed}:
        measurement = run.outcome(variant)
        assert isinstance(measurement, Measurement)
        assert [block.round for block in measurement.blocks] == [0, 1, 2]


def test_the_limits_are_the_best_of_what_was_seen_with_the_references_and_at_the_end_of_each_set(fake_run):
    """Guard: `RunContext.keep_limits`; on a shared machine one moment is no limit."""
    run = fake_run(protocol=replace(PROTOCOL, process_sets=3)).measure()
    assert [event.limits.bandwidth_bytes_per_s for event in run.of(LimitsMeasured)] == [1e9, 1e9, 2e9, 2e9]


def test_the_limits_are_measured_for_every_precision_of_the_run(fake_run, monkeypatch):
    """Guard: `limit_dtypes`, with the references and at the end of each set; the workload itself is in float32."""
    half = Variant(key="half/eager", label="half", summary="", code="", precision="bfloat16")
    monkeypatch.setitem(VARIANTS, half.key, half)
    run = fake_run(variants=(half.key,)).measure()
    assert [sorted(event.limits.flops_per_s) for event in run.of(LimitsMeasured)] == [["bfloat16", "float32"]] * 2


def test_a_run_that_goes_well_tells_everything_in_order(fake_run):
    run = fake_run().measure()
    assert isinstance(run.events[0], EnvironmentKnown)
    assert run.of(LimitsMeasured)[0].limits.bandwidth_bytes == 1
    assert {outcome.variant for outcome in run.outcomes()} == {EAGER, TWIN, COMPILED}
    assert_others_measured(run, failed=None)
    fractions = [event.fraction for event in run.of(Progress)]
    assert fractions == sorted(fractions)
    told = {event.phase: event.variant for event in run.of(Progress)}
    assert told["load"] in (EAGER, TWIN, COMPILED) and told["steady"] is None
    assert isinstance(run.events[-1], TimeSpent)


def test_a_measurement_carries_the_conditions_of_every_round_and_a_log_path_without_folders(fake_run):
    measurement = fake_run().measure().outcome(EAGER)
    # At the start of each of three rounds, and at the end: what disturbs the last round is seen there alone.
    assert len(measurement.rounds) == 4
    assert all(conditions.load_average is not None for conditions in measurement.rounds)
    assert measurement.log_path == "logs/baseline.eager-0-0.log"


def test_the_phases_add_up_to_the_wall_time(fake_run):
    began = time.monotonic()
    run = fake_run().measure()
    wall_s = time.monotonic() - began
    spent = run.of(TimeSpent)[0].seconds
    assert sum(spent.values()) == pytest.approx(wall_s, abs=0.05)
    assert spent["rest"] >= 3 * 3 * PROTOCOL.rest_s
    assert spent["timed_calls"] == pytest.approx(3 * 3 * 5 * 0.001)


def test_the_first_process_set_finds_its_cache_cold_and_the_second_the_same_folder_warm(fake_run):
    run = fake_run(protocol=replace(PROTOCOL, process_sets=2)).measure()
    states = [(outcome.process, outcome.compile_cache) for outcome in run.outcomes(COMPILED)]
    assert states == [(0, "cold"), (1, "warm")]
    logs = [(run.folder / "work" / outcome.log_path).read_text() for outcome in run.outcomes(COMPILED)]
    assert logs[0].splitlines()[0] == logs[1].splitlines()[0]
    other = (run.folder / "work" / run.outcomes(EAGER)[0].log_path).read_text()
    assert other.splitlines()[0] != logs[0].splitlines()[0]
    assert not (run.folder / "work" / "scratch").exists()


def test_the_second_process_set_sets_its_arms_up_the_other_way_round(fake_run):
    """The child that is set up first may be at a disadvantage all its life (METHOD 1.4); it must not be the same arm always."""
    messages = [event.message for event in fake_run(protocol=replace(PROTOCOL, process_sets=2)).measure().of(Progress)]
    starts = [message for message in messages if message.endswith("starting")]
    first, second = ([start for start in starts if f"set {number} of" in start] for number in (1, 2))
    arms = [[start.partition(": ")[2] for start in part] for part in (first, second)]
    assert len(arms[0]) == 3 and arms[1] == arms[0][::-1]


def test_every_arm_is_warmed_up_as_long_as_the_slowest_to_settle(fake_run):
    run = fake_run({COMPILED: "settles late"}).measure()
    assert "warm-up calls: 15" in (run.folder / "work" / run.outcome(EAGER).log_path).read_text()
    assert "warm-up calls" not in (run.folder / "work" / run.outcome(COMPILED).log_path).read_text()


def test_rounds_end_for_all_arms_alike_when_one_has_used_up_its_budget(fake_run):
    run = fake_run({COMPILED: "expensive"}, protocol=replace(PROTOCOL, point_budget_s=6.0)).measure()
    assert {len(outcome.blocks) for outcome in run.outcomes()} == {2}


def test_an_exception_in_one_technique_of_five_leaves_four_results(fake_run, monkeypatch):
    names = tuple(f"technique-{number}/default" for number in range(5))
    for name in names:
        monkeypatch.setitem(VARIANTS, name, Variant(key=name, label=name, summary="", code=""))
    run = fake_run({names[2]: "raise"}, variants=names).measure()
    failure = run.outcome(names[2])
    assert (failure.kind, failure.stage) == ("error", "first_call")
    assert failure.message == "AssertionError: stride mismatch"
    assert "stride mismatch" in failure.log_tail
    assert all(isinstance(run.outcome(name), Measurement) for name in names if name != names[2])


@pytest.mark.parametrize(
    ("mode", "kind", "words"),
    [
        ("segfault", "crashed", "segmentation fault"),
        ("killed", "crashed", "killed from outside (SIGKILL)"),
        ("killed in round 1", "crashed", "killed from outside (SIGKILL)"),
        ("bad_alloc", "out_of_memory", "ran out of memory"),
        ("exit", "crashed", "exit code 3"),
        ("garbage", "error", "wrote something else than an event"),
        ("wrong answer", "error", "answered out of turn"),
    ],
)
def test_a_child_that_dies_or_talks_nonsense_is_a_failure_with_a_reason_and_the_others_stand(
    fake_run, mode, kind, words
):
    run = fake_run({COMPILED: mode}).measure()
    failure = run.outcome(COMPILED)
    assert isinstance(failure, Failure)
    assert failure.kind == kind
    assert words in failure.message
    assert "Traceback" not in failure.message
    assert_others_measured(run)


def test_a_child_that_ran_out_of_memory_without_a_word_is_told_with_its_size(fake_run):
    message = fake_run({COMPILED: "bad_alloc"}).measure().outcome(COMPILED).message
    assert message.endswith("It was measuring fake · batch 1 · 11 tokens · float32.")


def test_a_failure_brings_the_end_of_the_log(fake_run):
    failure = fake_run({COMPILED: "exit"}).measure().outcome(COMPILED)
    assert failure.log_tail.endswith("no such symbol: frobnicate")


@pytest.mark.parametrize(("mode", "stage"), [("hang", "load"), ("hang in round 1", "steady"), ("stubborn", "load")])
def test_a_child_that_hangs_is_ended_after_its_time_limit(fake_run, mode, stage):
    limits = replace(PROTOCOL, set_up_limit_s=1.5, block_limit_s=1.0)
    began = time.monotonic()
    run = fake_run({COMPILED: mode}, protocol=limits).measure()
    failure = run.outcome(COMPILED)
    assert (failure.kind, failure.stage) == ("timeout", stage)
    assert "time limit" in failure.message
    assert time.monotonic() - began < 15
    assert_others_measured(run)


def test_noise_on_stdout_and_stderr_stays_in_the_log(fake_run):
    run = fake_run({COMPILED: "noise"}).measure()
    assert_others_measured(run, failed=None)
    assert (run.folder / "work" / run.outcome(COMPILED).log_path).stat().st_size > 1e6


def test_the_others_are_measured_when_the_baseline_fails(fake_run):
    run = fake_run({EAGER: "segfault"}).measure()
    assert run.outcome(EAGER).kind == "crashed"
    assert_others_measured(run, failed=EAGER)


def test_the_run_goes_on_without_references_when_their_child_dies(fake_run):
    run = fake_run({"references": "segfault"}).measure()
    assert_others_measured(run, failed=None)
    assert any("No reference outputs" in event.message for event in run.of(Progress))


def test_a_variant_without_a_compiler_is_unavailable_and_no_child_is_started_for_it(fake_run):
    run = fake_run(has_compiler=False).measure()
    failure = run.outcome(COMPILED)
    assert failure.kind == "unavailable"
    assert "the fake has none" in failure.message
    assert_others_measured(run)
    assert not list((run.folder / "work" / "logs").glob("torch-compile*"))


def test_cancelling_ends_the_children_keeps_what_is_finished_and_names_the_rest(fake_run):
    run = fake_run(protocol=replace(PROTOCOL, process_sets=2))
    run.on_event = lambda event: run.cancelled.set() if len(run.outcomes()) == 2 else None
    run.measure()
    kinds = [outcome.kind if isinstance(outcome, Failure) else "measured" for outcome in run.outcomes()]
    assert kinds == ["measured", "measured", "cancelled"]
    assert run.outcomes()[2].variant == COMPILED


def test_cancelling_a_child_that_hangs_takes_less_than_five_seconds(fake_run):
    run = fake_run({EAGER: "stubborn"})
    run.on_event = lambda event: (
        threading.Timer(0.5, run.cancelled.set).start() if isinstance(event, LimitsMeasured) else None
    )
    began = time.monotonic()
    run.measure()
    assert time.monotonic() - began < 5 + 2  # the references and the start of the child come first
    assert {outcome.kind for outcome in run.outcomes()} == {"cancelled"}


def test_the_second_of_two_runs_says_what_it_waits_for_and_then_measures(fake_run):
    first, second = fake_run(), fake_run()
    started = threading.Event()
    first.on_event = lambda event: started.set() if isinstance(event, EnvironmentKnown) else None
    thread = threading.Thread(target=first.measure)
    thread.start()
    started.wait(10)
    second.folder = first.folder
    second.measure()
    thread.join()
    (waiting,) = second.of(WaitingForMachine)
    assert "torch.compile on cpu, quick protocol" in waiting.holder
    assert str(os.getpid()) in waiting.holder
    assert first.of(WaitingForMachine) == []
    assert_others_measured(second, failed=None)


def test_a_waiting_run_can_be_cancelled(fake_run):
    first, second = fake_run(), fake_run()
    second.on_event = lambda event: second.cancelled.set()
    first.on_event = lambda event: second.measure() if isinstance(event, EnvironmentKnown) else None
    first.measure()
    assert second.outcomes() == []
    assert_others_measured(first, failed=None)


def test_the_lock_of_a_killed_run_is_free_and_its_children_are_gone_within_five_seconds(tmp_path, fake_run):
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(tmp_path), json.dumps(fake_command({COMPILED: "hang"}))], cwd=ROOT
    )
    children = wait_for_children(parent.pid, count=3)
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    _, alive = psutil.wait_procs(children, timeout=5)
    assert alive == []
    run = fake_run().measure()
    assert run.of(WaitingForMachine) == []


PARENT = """
import json, sys, threading
from pathlib import Path
from tests.child.fake_child import machine
from tests.child.test_runner_faults import COMPILED, POINT, PROTOCOL
from engine.runner import run_experiment
from engine.spec import Experiment

folder, command = Path(sys.argv[1]), json.loads(sys.argv[2])
run_experiment(
    Experiment(workloads=(POINT,), variants=(COMPILED,), protocol=PROTOCOL), machine(),
    work_dir=folder / "killed", emit=lambda event: None, cancelled=threading.Event(), child_command=command,
    lock_path=folder / "machine.lock",
)
"""


def wait_for_children(pid, count):
    deadline = time.monotonic() + 15
    while time.monotonic() < deadline:
        children = psutil.Process(pid).children(recursive=True)
        if len(children) >= count:
            return children
        time.sleep(0.1)
    raise AssertionError(f"{count} children were expected")


def test_a_device_this_machine_lacks_cannot_start_a_run(tmp_path):
    with pytest.raises(InvalidSpec, match="Device 'cuda:0' is not on this machine; it has cpu"):
        run_experiment(
            Experiment(workloads=(POINT,), variants=(COMPILED,), device="cuda:0"),
            machine(),
            work_dir=tmp_path,
            emit=lambda event: None,
            cancelled=threading.Event(),
        )


def test_the_machine_is_described_by_a_child_even_when_libraries_greet():
    assert describe_machine(fake_command({})) == machine()


def test_a_machine_that_cannot_be_described_is_an_error_that_says_what_to_do():
    with pytest.raises(UserError, match=r"python -m engine\.child --describe"):
        describe_machine(fake_command({"describe": "undescribable"}))


REQUESTS = Experiment(
    workloads=(POINT, replace(POINT, sequence_length=24)),
    variants=("dynamic-shapes/default",),
    protocol=replace(PROTOCOL, process_sets=2),
    request_lengths=(5, 9, 5),
)


def answered(tmp_path, modes):
    run = FakeRun(tmp_path, modes, experiment=REQUESTS).measure()
    return {(outcome.variant, outcome.process): outcome for outcome in run.outcomes()}


def test_the_first_process_set_of_every_arm_answers_the_requests(tmp_path):
    found = answered(tmp_path, {})
    assert {key: len(outcome.request_s) for key, outcome in found.items()} == {
        (variant, process): 3 * (process == 0)
        for variant in ("dynamic-shapes/eager", "dynamic-shapes/eager@twin", "dynamic-shapes/default")
        for process in (0, 1)
    }
    assert found["dynamic-shapes/default", 0].facts["requests_that_compiled"] == [1]


def test_a_child_that_dies_of_a_request_costs_the_stream_alone(tmp_path):
    found = answered(tmp_path, {"dynamic-shapes/default": "killed by a request"})
    measured = found["dynamic-shapes/default", 0]
    assert isinstance(measured, Measurement)
    assert measured.blocks and measured.request_s == ()
    assert "killed" in measured.facts["requests_failed"]
    assert len(found["dynamic-shapes/eager", 0].request_s) == 3


def test_the_second_process_set_meets_the_lengths_the_other_way_round(tmp_path):
    found = answered(tmp_path, {})
    orders = [
        [point.sequence_length for point in found["dynamic-shapes/default", process].workloads] for process in (0, 1)
    ]
    assert orders == [[11, 24], [24, 11]]
