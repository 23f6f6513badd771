"""Ways to fool a benchmark that only a whole run can show, each ending in its named verdict (METHOD 6).

The others stand beside the code that catches them: M1 in test_measurement, M2-M6 in test_evidence and test_proof, M7-M12 in
test_equivalence and test_comparison, M14 in test_comparison, M16 in test_memory_and_limits, M17 in test_runner_faults.
"""

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace

import pytest

from engine.comparison import compare_run
from engine.selftest import spins
from engine.selftest.spin import Spin
from engine.verdict import Verdict
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
