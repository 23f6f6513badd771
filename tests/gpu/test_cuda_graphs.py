"""CUDA graphs on a real device: the positive proof, what it says when nothing was recorded, stale and overwritten tensors."""

from pathlib import Path

import pytest

from engine.catalog import find_variant
from engine.child.smoke import exists
from engine.proof import Finding, judge_mechanism, judge_outputs
from engine.proof.cudagraphs import LAUNCHES_BESIDE
from engine.result import Measurement
from engine.spec import Workload
from tests.child.conftest import tiny_model  # noqa: F401 - a fixture
from tests.child.measured import MeasuredChild, point, set_up, write_model_file

SWITCH = "torch._inductor.config.force_disable_cudagraph_TESTING_ONLY"
SILENT = """
import torch._inductor.config

torch._inductor.config.force_disable_cudagraph_TESTING_ONLY = True

def build():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.GELU()).eval(), {"input": torch.randn(2, 8, 64)}
"""


def measure(workload: Workload, variant: str, folder: Path) -> Measurement:
    with MeasuredChild(folder) as child:
        measurement = child.measure(set_up(workload, variant=variant, device="cuda:0"))
        assert isinstance(measurement, Measurement), child.log()
        return measurement


def mechanism(measurement: Measurement) -> Finding:
    return judge_mechanism(find_variant(measurement.variant), [measurement])


def test_reduce_overhead_records_graphs_and_can_prove_it(tiny_model: Path, tmp_path: Path) -> None:  # noqa: F811
    measurement = measure(point(tiny_model), "cuda-graphs/reduce-overhead", tmp_path)
    finding = mechanism(measurement)
    assert finding.passed, finding.reason
    facts = measurement.facts
    assert facts["cudagraph_nodes"] is None or facts["cudagraph_nodes"] >= 1
    assert facts["cudagraph_nodes"] == facts["cudagraph_nodes_before_timing"]
    assert measurement.memory["private_pool_bytes"] != 0


def test_a_graph_that_was_silently_not_recorded_is_not_taken_for_one(tmp_path: Path) -> None:
    """M6. Guard: `graph_replayed` asks for a positive proof; the skip counter may be 0 here (pytorch#193044)."""
    if not exists(SWITCH):
        pytest.skip(f"this torch has no {SWITCH}")
    model = write_model_file(tmp_path, SILENT)
    finding = mechanism(measure(point(model), "cuda-graphs/reduce-overhead", tmp_path))
    assert finding.passed is False
    assert "NOT used" in finding.reason


@pytest.mark.parametrize("variant", ["cuda-graphs/eager-served", "cuda-graphs/compiled-served"])
def test_a_served_graph_answers_every_request_and_keeps_every_answer(
    tiny_model: Path,  # noqa: F811
    tmp_path: Path,
    variant: str,
) -> None:
    """M10 and M11 on a real graph: other inputs than the captured ones, outputs read after the next call."""
    workload = point(tiny_model)
    measurement = measure(workload, variant, tmp_path)
    beside = measurement.facts["kernel_launches_per_call"]
    assert beside is None or beside <= LAUNCHES_BESIDE, (
        "copies in and out are more kernels than `graph_replayed` allows"
    )
    assert mechanism(measurement).passed, mechanism(measurement).reason
    finding = judge_outputs(find_variant(variant), workload, [measurement])
    assert finding.passed, finding.reason


def test_a_captured_call_serves_the_input_it_is_given_and_replay_alone_does_not(cuda: str) -> None:
    """R6: capture with ones, call with twos. R5: two answers are two tensors."""
    import torch

    from engine.child.techniques.cuda_graphs import CapturedCall

    with torch.inference_mode():
        served = CapturedCall(lambda x: x * 3)
        ones, twos = torch.ones(4, device=cuda), torch.full((4,), 2.0, device=cuda)
        first = served.serve({"x": ones})
        second = served.serve({"x": twos})
        torch.testing.assert_close(first, ones * 3)
        torch.testing.assert_close(second, twos * 3)
        replayed = CapturedCall(lambda x: x * 3)
        replayed.replay({"x": ones})
        torch.testing.assert_close(replayed.replay({"x": twos}), ones * 3)
