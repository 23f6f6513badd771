"""What the driver and torch tell about a GPU: known or None, never an invented 0 (METHOD 1.8, 1.9, 5)."""

import pytest

from engine.child.limits import measure_limits
from engine.child.memory import MemoryMeter
from engine.child.nvidia import read_conditions

MIB = 2**20


def test_clocks_temperature_and_power_are_plausible_or_unknown(cuda: str) -> None:
    import torch

    x = torch.randn(4096, 4096, device=cuda)
    for _ in range(20):
        x @ x
    conditions = read_conditions(cuda)
    torch.cuda.synchronize()
    if conditions is None:
        pytest.skip("no nvidia-ml-py, or a driver that does not answer")
    assert conditions.sm_clock_hz is None or 1e8 < conditions.sm_clock_hz < 1e10
    assert conditions.temperature_c is None or 0 < conditions.temperature_c < 150
    assert conditions.power_w is None or 1 < conditions.power_w < 3000


def test_the_steady_peak_counts_what_was_allocated_and_forgets_the_set_up(cuda: str) -> None:
    import torch

    meter = MemoryMeter(cuda)
    ballast = torch.empty(256 * MIB, dtype=torch.uint8, device=cuda)
    del ballast
    torch.cuda.empty_cache()
    meter.start_steady()
    kept = torch.empty(64 * MIB, dtype=torch.uint8, device=cuda)
    steady, life = meter.steady(), meter.whole_life()
    assert 64 * MIB <= (steady["peak_allocated_bytes"] or 0) < 200 * MIB
    assert (life["whole_life_peak_reserved_bytes"] or 0) >= 256 * MIB
    del kept


def test_limits_are_those_of_a_gpu_and_not_of_a_queue(cuda: str) -> None:
    """A forgotten synchronise would show as a bandwidth of petabytes."""
    limits = measure_limits(cuda, ("float32", "float16"))
    assert 1e10 < (limits.bandwidth_bytes_per_s or 0) < 3e13
    assert 1e11 < limits.flops_per_s["float16"] < 1e16
    assert 1e-7 < (limits.launch_s or 0) < 1e-3
    assert 1e-7 < (limits.graph_launch_s or 0) < 1e-3
