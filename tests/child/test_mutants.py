"""Ways to fool a benchmark that only a whole run can show, each ending in its named verdict (METHOD 6).

The others stand beside the code that catches them: M1 in test_measurement, M2-M6 in test_evidence and test_proof, M7-M12 in
test_equivalence and test_comparison, M14 in test_comparison, M16 in test_memory_and_limits, M17 in test_runner_faults.
"""

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from engine.catalog import find_variant
from engine.comparison import compare_run
from engine.proof import judge_mechanism
from engine.result import Measurement
from engine.selftest import spins
from engine.selftest.spin import Spin
from engine.verdict import Verdict
from tests.child.measured import MeasuredChild, point, set_up, write_model_file
from tests.hand_made import MACHINE

pytestmark = pytest.mark.slow

SPINNING = "while True: pass"


@pytest.fixture
def busy_neighbour() -> Iterator[None]:
    """Another process that uses a core all the time."""
    process = subprocess.Popen([sys.executable, "-c", SPINNING])
    try:
        yield
    finally:
        process.kill()
        process.wait()


@pytest.mark.usefixtures("busy_neighbour")
def test_another_process_that_loads_the_cpu_makes_the_result_unstable() -> None:
    """M15. Guard: `surroundings.is_busy`."""
    protocol = replace(spins.QUICK, process_sets=3, rounds=60)
    run = spins.measure_pair(MACHINE, protocol, Spin(call_s=2e-3), Spin(call_s=2e-3))
    (twin,) = (row for row in compare_run(run) if row.is_twin)
    quiet = next(check for check in twin.checks if check.key == "quiet")
    assert quiet.passed is False and "other processes used" in quiet.detail
    assert twin.verdict is Verdict.UNSTABLE


TUNED = "max-autotune/freezing"
TWO_LAYERS = """
def build():
    torch.manual_seed(0)
    layers = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 64))
    return layers.eval(), {"input": torch.randn(16, 64)}
"""


def test_a_warm_tuning_cache_that_claims_candidates_is_not_taken_for_tuning(tmp_path: Path) -> None:
    """M13. Guard: `candidates_tuned` asks whether an operation was tuned here; torch's hook repeats cached times."""
    model = point(write_model_file(tmp_path, TWO_LAYERS))
    measurements = []
    for process in range(2):
        with MeasuredChild(tmp_path) as child:
            measurement = child.measure(set_up(model, variant=TUNED, process=process))
            assert isinstance(measurement, Measurement), child.log()
            measurements.append(measurement)
    cold, warm = measurements
    assert cold.facts["candidates_tried"] == warm.facts["candidates_tried"] > 0  # the trap is really there
    variant = find_variant(TUNED)
    assert judge_mechanism(variant, [cold]).passed
    assert judge_mechanism(variant, [cold, warm]).passed
    alone = judge_mechanism(variant, [warm])
    assert alone.passed is False and "cached tuning" in alone.reason
