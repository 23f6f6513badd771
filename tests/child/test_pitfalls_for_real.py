"""The mistaken loops run in real children on a tiny model: each shows its error in the direction it must."""

from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from engine.catalog import find_technique, find_variant
from engine.catalog.pitfalls import COMPILED, DOT, HALF_COMPILED, REMEMBERING
from engine.proof import judge_mechanism, judge_outputs
from engine.result import Measurement
from engine.spec import Workload
from tests.child.measured import MeasuredChild, point, set_up, write_model_file
from tests.child.test_tuning_and_precision import LINEAR


def measure(workload: Workload, variant: str, folder: Path, **changes: Any) -> Measurement:
    with MeasuredChild(folder) as child:
        measurement = child.measure(set_up(workload, variant=variant, **changes), samples=30)
        assert isinstance(measurement, Measurement), (measurement, child.log()[-2000:])
        assert child.phases()[-1] == "afterwards"
        return measurement


def right_s(measurement: Measurement) -> float:
    return median(seconds for block in measurement.blocks for seconds in block.latency_s)


def fastest_s(measurement: Measurement) -> float:
    return min(seconds for block in measurement.blocks for seconds in block.latency_s)


def test_loops_around_an_eager_model(tiny_model: Path, tmp_path: Path) -> None:
    measurement = measure(point(tiny_model), REMEMBERING, tmp_path)
    loops = measurement.facts["mistaken_loops"]
    assert list(loops) == ["wall-clock", "mean", "a-then-b", "constant-input", "gradients"]
    # The injected step alone is 0.128 s over a hundred calls, the collection alone some milliseconds of one of them.
    assert loops["wall-clock"]["reported_s"] > 0.128 / 100
    assert "time can" in loops["wall-clock"]["note"] and "perf_counter cannot" in loops["wall-clock"]["note"]
    slowest, typical = (float(part.split(" ms")[0].split()[-1]) for part in loops["mean"]["note"].split(";"))
    assert loops["mean"]["reported_s"] * 1e3 > typical
    assert slowest > 10 * typical
    # Remembered a hundred times, where rotating inputs made the same callable run the model every time.
    assert loops["constant-input"]["baseline_s"] > 3 * loops["constant-input"]["reported_s"]
    assert right_s(measurement) > 3 * loops["constant-input"]["reported_s"]
    assert loops["a-then-b"]["baseline_s"] > 0 and loops["a-then-b"]["reported_s"] > 0
    assert loops["gradients"]["reported_s"] > 0
    assert measurement.facts["grad_mode"] == "inference"
    finding = judge_outputs(find_variant(REMEMBERING), measurement.workloads[0], [measurement])
    assert finding.passed, finding.reason


def test_later_process_sets_run_only_the_loops_whose_spread_is_the_lesson(tiny_model: Path, tmp_path: Path) -> None:
    measurement = measure(point(tiny_model), REMEMBERING, tmp_path, process=3, compile_cache="warm")
    assert list(measurement.facts["mistaken_loops"]) == ["a-then-b"]


def test_weights_drawn_in_the_timer_are_timed(tmp_path: Path) -> None:
    """At ten rows, where drawing takes as long as np.dot and BLAS starts no thread that could wait for a busy core."""
    point = replace(Workload(**find_technique("pitfalls").default_workloads[0]), elements=30)  # type: ignore[arg-type]
    measurement = measure(point, DOT, tmp_path)
    assert measurement.facts["mistaken_loops"]["work-left"]["reported_s"] > 1.3 * fastest_s(measurement)


@pytest.mark.slow
def test_a_compilation_counted_inside_the_loop_inflates_every_call(tiny_model: Path, tmp_path: Path) -> None:
    """And the evidence is that of the measured callable, not of the loop that compiled anew afterwards."""
    measurement = measure(point(tiny_model), COMPILED, tmp_path)
    loops = measurement.facts["mistaken_loops"]
    assert list(loops) == ["first-call", "one-process"]
    assert loops["first-call"]["reported_s"] > 5 * right_s(measurement)
    assert loops["first-call"]["reported_s"] > 5 * loops["first-call"]["baseline_s"]
    assert loops["one-process"]["reported_s"] < loops["first-call"]["reported_s"] / 5
    assert measurement.facts["graphs"] == 1
    assert judge_mechanism(find_variant(COMPILED), [measurement]).passed


@pytest.mark.slow
def test_an_unfair_baseline_is_float32_and_its_rival_is_not(tiny_model: Path, tmp_path: Path) -> None:
    measurement = measure(point(tiny_model), HALF_COMPILED, tmp_path)
    left = measurement.facts["mistaken_loops"]["unfair-baseline"]
    assert left["baseline_s"] > 0 and left["reported_s"] > 0
    assert judge_mechanism(find_variant(HALF_COMPILED), [measurement]).passed


@pytest.mark.slow
def test_the_unfair_baseline_of_a_model_of_float_inputs_is_measured_too(tmp_path: Path) -> None:
    """Guards: `prepare` of the bfloat16 variants, `compute_in` of the loop, which goes from float32 to bfloat16."""
    measurement = measure(point(write_model_file(tmp_path, LINEAR)), HALF_COMPILED, tmp_path)
    left = measurement.facts["mistaken_loops"]["unfair-baseline"]
    assert left["baseline_s"] > 0 and left["reported_s"] > 0
