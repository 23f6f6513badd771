"""max-autotune and precision on a real device: candidates, the kernels that really ran, TF32, and what graphs can bring."""

from pathlib import Path

import pytest

from engine import candidates
from engine.catalog import find_variant
from engine.comparison.arms import Arm
from engine.comparison.gpu_time import gpu_time
from engine.proof import RULES, judge_outputs
from engine.proof.tuning import FEWEST_MULTIPROCESSORS
from engine.result import Measurement
from tests.child.conftest import tiny_model  # noqa: F401 - a fixture
from tests.child.measured import MeasuredChild, point, set_up, write_model_file

LAYERS = """
def build():
    torch.manual_seed(0)
    layers = torch.nn.Sequential(torch.nn.Linear(512, 2048), torch.nn.GELU(), torch.nn.Linear(2048, 512))
    return layers.eval(), {"input": torch.randn(64, 512)}
"""


def measure(variant: str, folder: Path) -> Measurement:
    folder.mkdir(exist_ok=True)
    with MeasuredChild(folder) as child:
        measurement = child.measure(set_up(point(write_model_file(folder, LAYERS)), variant=variant, device="cuda:0"))
        assert isinstance(measurement, Measurement), child.log()
        return measurement


def test_max_autotune_times_candidates_and_the_profiler_names_the_kernels_that_ran(tmp_path: Path) -> None:
    """On a GPU the tuner's fastest is not the winner: fusion decides later, and kernel names tell."""
    import torch

    facts = measure("max-autotune/no-cudagraphs", tmp_path).facts
    if torch.cuda.get_device_properties(0).multi_processor_count >= FEWEST_MULTIPROCESSORS:
        assert facts["candidates_tried"] >= 2
        assert any(name.startswith("triton_") for each in facts["autotune_operations"] for name in each["candidates"])
    names = facts["kernel_names"]
    assert sum(names.values()) == pytest.approx(facts["kernels_per_call"])
    assert any(
        name.startswith(candidates.GENERATED_MATRIX_KERNEL) or candidates.LIBRARY_MATRIX_KERNEL.match(name)
        for name in names
    )


def test_tf32_is_offered_from_ampere_on_and_passes_its_own_rule_with_a_larger_error(tmp_path: Path) -> None:
    """R23: another precision is never the same work."""
    import torch

    if torch.cuda.get_device_capability() < (8, 0):
        pytest.skip("this GPU has no TF32")
    measurement = measure("precision/tf32", tmp_path)
    finding = judge_outputs(find_variant("precision/tf32"), measurement.workloads[0], [measurement])
    assert finding.passed, finding.reason
    check = measurement.outputs[0]
    assert check.rmse is not None and check.rmse_eager is not None and check.rmse > 2 * check.rmse_eager


def test_wall_over_gpu_time_of_eager_is_at_least_one_and_bounds_what_a_bare_replay_brings(tmp_path: Path) -> None:
    """The sentence "can help at most wall/GPU" holds on this device, noise aside."""
    eager, bare = measure("baseline/eager", tmp_path / "a"), measure("cuda-graphs/eager-replay", tmp_path / "b")
    wall = min(eager.blocks[0].latency_s)
    gpu = [time for time in eager.blocks[0].gpu_s or () if time]
    assert gpu and wall / min(gpu) > 0.9
    assert wall / min(bare.blocks[0].latency_s) < 1.5 * wall / min(gpu)


def test_an_encoder_that_waits_inside_its_call_has_a_gpu_time_by_the_profiler(tiny_model: Path, tmp_path: Path) -> None:  # noqa: F811
    """transformers reads `padding_mask.all()` on the host, so no event pair can be queued; METHOD 1.1's way out."""
    with MeasuredChild(tmp_path) as child:
        eager = child.measure(set_up(point(tiny_model), device="cuda:0"))
        assert isinstance(eager, Measurement), child.log()
    busy_s = eager.facts["gpu_busy_s_per_call"]
    assert busy_s and 0 < busy_s < 1.1 * min(eager.blocks[0].latency_s)
    arm = Arm(eager.variant, eager.workloads[0], [eager], [0])
    assert gpu_time(arm).seconds


@pytest.mark.parametrize(
    "variant",
    ["max-autotune/documented", "precision/tf32-best", "precision/bfloat16-best-cuda", "precision/float16-best"],
)
def test_max_autotune_replays_graphs_and_its_outputs_are_right_although_the_next_call_overwrites_them(
    variant: str, tmp_path: Path
) -> None:
    """The mode switches CUDA graphs on. Guards: `replay_overwrites_outputs` and the graph rule in the catalog."""
    import torch

    if "tf32" in variant and torch.cuda.get_device_capability() < (8, 0):
        pytest.skip("this GPU has no TF32")
    measurement = measure(variant, tmp_path)
    card = find_variant(variant)
    finding = judge_outputs(card, measurement.workloads[0], [measurement])
    assert finding.passed, finding.reason
    assert any(check.is_overwritten for check in measurement.outputs)
    rules = [name for name in card.proofs if name.startswith("graph_replayed")]
    assert [RULES[name]([measurement]).passed for name in rules] == [True]
