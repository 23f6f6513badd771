"""Block sizes, estimates, progress, conditions and how a child's end is explained: pure parts of a run."""

import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from engine.arms import plan
from engine.environment import default_threads, environment_of, variables_that_matter
from engine.estimate import Step, estimate_seconds, expected_s, steps_of
from engine.runner.child_end import LOG_TAIL_LINES, explain_end, read_tail
from engine.runner.clock import RunClock
from engine.runner.conditions import ConditionsMeter
from engine.runner.context import child_variables
from engine.runner.rounds import block_size
from engine.spec import PROTOCOLS, Experiment, Workload
from tests.child.fake_child import machine

POINT = Workload(model="m", batch_size=1, sequence_length=11)
EXPERIMENT = Experiment(workloads=(POINT,), variants=("torch-compile/default",))
STANDARD = PROTOCOLS["standard"]


@pytest.mark.parametrize(
    ("call_s", "samples", "calls"),
    [
        (0.030, 3, 1),  # slower than a block: the fewest calls
        (0.004, 5, 1),
        (0.0001, 50, 1),  # 200 would fit: the most calls
        (50e-6, 50, 1),
        (49e-6, 50, 2),  # below 50 us a sample is several calls
        (3e-6, 50, 17),
    ],
)
def test_a_block_has_as_many_samples_as_fit_and_none_shorter_than_50_us(call_s, samples, calls):
    assert block_size(call_s, STANDARD, "hot") == (samples, calls)


@pytest.mark.parametrize(
    ("call_s", "samples", "calls"), [(3e-6, 20, 84), (200e-6, 20, 2), (2e-3, 10, 1), (0.030, 3, 1)]
)
def test_an_operators_samples_are_longer_and_fewer(call_s, samples, calls):
    assert block_size(call_s, STANDARD, "hot", is_operator=True) == (samples, calls)


def test_a_call_faster_than_the_clock_can_tell_still_gives_a_finite_block():
    samples, calls = block_size(0.0, STANDARD, "hot")
    assert samples == 50
    assert 50_000 <= calls <= 50_001


def test_with_a_cold_cache_every_call_is_a_sample_of_its_own():
    """And few of them: emptying the cache takes longer than the call."""
    assert block_size(1e-6, STANDARD, "cold") == (3, 1)


def test_the_article_experiment_at_standard_is_estimated_within_its_four_minutes():
    assert 90 < estimate_seconds(EXPERIMENT) < 240
    assert estimate_seconds(EXPERIMENT.with_protocol(PROTOCOLS["quick"])) < estimate_seconds(EXPERIMENT) / 3


def test_longer_inputs_and_more_process_sets_take_longer():
    heavy = replace(EXPERIMENT, workloads=(Workload(model="m", batch_size=32, sequence_length=512),))
    assert estimate_seconds(heavy) > 2 * estimate_seconds(EXPERIMENT)


class FakeTime:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    """A clock over three set-ups expected to take what the estimate says, with the events it tells."""
    fake = FakeTime()
    steps = steps_of(plan(EXPERIMENT).groups, EXPERIMENT.with_protocol(PROTOCOLS["quick"]))
    events = []
    made = RunClock(steps, STANDARD, events.append, fake)
    return made, fake, steps, events


def test_the_fraction_grows_from_zero_to_one_and_never_falls(clock):
    run_clock, fake, steps, events = clock
    run_clock.tell("start", "")
    for step in steps:
        run_clock.begin(step)
        run_clock.tell("x", "")
        fake.now += 2 * expected_s(step, STANDARD)
        run_clock.tell("x", "")
    fractions = [event.fraction for event in events]
    assert fractions[0] == 0.0
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    assert events[-1].seconds_left == 0.0


def test_what_a_step_took_is_what_the_next_equal_one_is_expected_to_take():
    fake, events = FakeTime(), []
    step = Step(kind="references", workloads=(POINT,))
    run_clock = RunClock([step, step], STANDARD, events.append, fake)
    run_clock.begin(step)
    fake.now += 40
    run_clock.begin(step)
    run_clock.tell("x", "")
    assert events[-1].seconds_left == pytest.approx(40)
    assert events[-1].fraction == pytest.approx(0.5)


def test_within_rounds_the_pace_so_far_says_what_is_left(clock):
    run_clock, fake, steps, events = clock
    (rounds,) = [step for step in steps if step.kind == "rounds"]
    run_clock.skip(*(step for step in steps if step.kind != "rounds"))
    run_clock.begin(rounds)
    fake.now += 30
    run_clock.tell("steady", "", share=0.25)
    assert events[-1].seconds_left == pytest.approx(90)


def test_listeners_hear_of_rounds_a_few_times_a_second_at_most(clock):
    run_clock, fake, _, events = clock
    for _ in range(100):
        run_clock.tell("steady", "", is_urgent=False)
        fake.now += 0.01
    assert len(events) == 4


def test_every_moment_belongs_to_one_phase(clock):
    run_clock, fake, _, _ = clock
    fake.now += 1
    run_clock.enter("block")
    fake.now += 10
    run_clock.move("block", "timed_calls", 7)
    run_clock.enter("runner")
    fake.now += 2
    assert run_clock.spent().seconds == {"runner": 3, "block": 3, "timed_calls": 7}


def test_a_moment_too_short_for_the_processors_ticks_tells_nothing():
    """Guard: `SHORTEST_S`. A tick of 10 ms in 100 us would be a hundred busy cores."""
    meter = ConditionsMeter([])
    readings = [meter.read() for _ in range(20)]
    assert {(each.other_cpu_cores, each.steal_fraction) for each in readings} == {(None, None)}


def test_other_processes_work_is_seen_and_the_measured_childs_is_not():
    spin = [sys.executable, "-c", "while True: pass"]
    with subprocess.Popen(spin) as child:
        try:
            ours, others = ConditionsMeter([child.pid]), ConditionsMeter([])
            time.sleep(1.0)
            seen, unexplained = others.read().other_cpu_cores, ours.read().other_cpu_cores
        finally:
            child.kill()
    assert seen > 0.3
    assert seen - unexplained > 0.3


@pytest.mark.parametrize(
    ("exit_code", "log", "kills", "kind", "words"),
    [
        (-signal.SIGSEGV, "", 0, "crashed", "segmentation fault"),
        (-signal.SIGABRT, "", 0, "crashed", "aborted"),
        (-signal.SIGABRT, "what():  std::bad_alloc", 0, "out_of_memory", "ran out of memory"),
        (-signal.SIGKILL, "", 1, "out_of_memory", "The system ran out of memory and killed"),
        (-signal.SIGKILL, "", 0, "crashed", "killed from outside (SIGKILL). Run"),
        (-signal.SIGKILL, "", None, "crashed", "or by the system because memory ran out"),
        (-40, "", 0, "crashed", "signal 40"),
        (3, "", 0, "crashed", "exit code 3"),
        (0, "", 0, "crashed", "without an error"),
    ],
)
def test_every_end_of_a_child_has_a_kind_and_a_readable_sentence(exit_code, log, kills, kind, words):
    found, message = explain_end(exit_code, log, kills)
    assert found == kind
    assert words in message


def test_the_tail_of_a_log_is_short_however_long_the_log(tmp_path):
    log = tmp_path / "log"
    log.write_text("".join(f"line {number}\n" for number in range(100_000)))
    tail = read_tail(log).splitlines()
    assert len(tail) == LOG_TAIL_LINES
    assert tail[-1] == "line 99999"


def test_only_variables_that_change_what_torch_does_are_kept_and_no_places():
    variables = {
        "TORCH_LOGS": "+inductor",
        "OMP_NUM_THREADS": "2",
        "TORCH_HOME": "/x",
        "CXX": "clang++",
        "COMPOSE": "1",
    }
    assert variables_that_matter(variables) == {"CXX": "clang++", "OMP_NUM_THREADS": "2", "TORCH_LOGS": "+inductor"}


def test_threads_are_the_physical_cores_a_container_may_use():
    assert default_threads(machine()) == 2
    assert default_threads(replace(machine(), cpu_quota_cores=0.5)) == 1
    assert default_threads(replace(machine(), physical_cores=8)) == 2
    assert environment_of(machine(), replace(EXPERIMENT, threads=1)).threads == 1


def test_a_child_has_caches_of_its_own_and_no_memory_of_earlier_processes(tmp_path):
    variables = child_variables(
        {"TORCH_COMPILE_JOB_ID": "x", "TORCHINDUCTOR_CACHE_DIR": "/shared", "HOME": "/h"}, tmp_path
    )
    assert "TORCH_COMPILE_JOB_ID" not in variables
    assert variables["TORCHINDUCTOR_CACHE_DIR"] == str(tmp_path / "inductor")
    assert variables["HOME"] == "/h"
