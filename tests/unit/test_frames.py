"""Runs as tables: one row per sample with every key, one row per outcome."""

from dataclasses import replace

from engine.frames import SAMPLE_COLUMNS, at_workload, outcomes_frame, samples_frame
from engine.result import Failure
from engine.spec import Workload
from tests.unit.hand_made import COMPILED, EAGER, WORKLOAD, blocks, measurement, run_of, wobble


def test_a_sample_row_says_which_call_of_which_round_of_which_process_it_is() -> None:
    timed = blocks([[0.1, 0.2], [0.3, 0.4]], calls_per_sample=5)
    timed = tuple(replace(block, host_s=(0.01, 0.02), gpu_s=(0.05, None)) for block in timed)
    frame = samples_frame([run_of(measurement(COMPILED, 3, [], blocks=timed, first_calls_s=(9.0,)))])
    assert tuple(frame.columns) == SAMPLE_COLUMNS
    assert frame["phase"].tolist() == ["first_call"] + ["warmup"] * 2 + ["steady"] * 4
    steady = frame[frame["phase"] == "steady"]
    assert steady["latency_s"].tolist() == [0.1, 0.2, 0.3, 0.4]
    assert steady["round"].tolist() == [0, 0, 1, 1]
    assert steady["call"].tolist() == [0, 1, 0, 1]
    assert steady["gpu_s"].isna().tolist() == [False, True, False, True]
    assert set(steady["process"]) == {3} and set(steady["calls_per_sample"]) == {5}
    assert set(frame["technique"]) == {"torch-compile"} and frame["operator"].isna().all()
    assert frame["round"].isna().tolist() == [True] * 3 + [False] * 4


def test_the_rows_of_one_workload_can_be_picked_from_models_and_operators() -> None:
    operator = Workload(operator="addcmul", elements=1024)
    run = run_of(
        measurement(EAGER, 0, wobble(0.1, 0)), measurement(EAGER, 1, wobble(0.2, 0, rounds=3), workloads=(operator,))
    )
    samples = samples_frame([run])
    assert (samples["elements"] == 1024).fillna(False).sum() == len(at_workload(samples, operator)) == 3 + 9
    assert len(at_workload(samples, WORKLOAD)) == 3 + 24


def test_no_runs_and_no_samples_are_empty_frames_with_the_same_columns() -> None:
    for frame in (samples_frame([]), samples_frame([run_of()])):
        assert tuple(frame.columns) == SAMPLE_COLUMNS and frame.empty


def test_a_failure_is_a_row_among_the_outcomes() -> None:
    failed = Failure(variant=COMPILED, process=1, workloads=(WORKLOAD,), stage="load", kind="error", message="why")
    frame = outcomes_frame([run_of(measurement(EAGER, 0, [], memory={"peak_process_bytes": 5}), failed)])
    assert frame["variant"].tolist() == [EAGER, COMPILED]
    assert frame["message"].tolist()[1] == "why"
    assert frame["peak_process_bytes"].tolist()[0] == 5 and frame["load_s"].isna().tolist() == [False, True]
