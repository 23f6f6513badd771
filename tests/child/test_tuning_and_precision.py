"""Tuning and precision for real on tiny models: what max-autotune tunes on a CPU, bfloat16 by its own rule, too little memory."""

from pathlib import Path
from typing import Any

import pytest

from engine.candidates import Candidate
from engine.catalog import find_variant
from engine.messages import Failed, MakeReferences, ReferencesMade
from engine.proof import judge_mechanism, judge_outputs
from engine.result import Measurement
from engine.spec import PANGRAM, Workload
from tests.child.measured import MeasuredChild, point, set_up, write_model_file

pytestmark = pytest.mark.beside

LINEAR = """
def build():
    torch.manual_seed(0)
    layers = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 64))
    return layers.eval(), {"input": torch.randn(16, 64)}
"""
DISTILBERT_LAYER = """
def build():
    torch.manual_seed(0)
    layers = torch.nn.Sequential(torch.nn.Linear(768, 3072), torch.nn.GELU(), torch.nn.Linear(3072, 768))
    return layers.eval(), {"input": torch.randn(11, 768)}
"""


def measure(workload: Workload, variant: str, folder: Path, **changes: Any) -> Measurement:
    with MeasuredChild(folder) as child:
        measurement = child.measure(set_up(workload, variant=variant, **changes))
        assert isinstance(measurement, Measurement), (measurement, child.log()[-2000:])
        return measurement


@pytest.mark.parametrize(
    ("variant", "tunes"), [("max-autotune/documented", False), ("max-autotune/freezing", True)]
)  # fmt: skip
def test_on_a_cpu_max_autotune_tunes_only_with_freezing(variant: str, tunes: bool, tmp_path: Path) -> None:
    """Guards: freezing is set before compiling; the tuner's hook is heard."""
    workload = point(write_model_file(tmp_path, LINEAR))
    measurement = measure(workload, variant, tmp_path)
    finding = judge_mechanism(find_variant(variant), [measurement])
    assert finding.passed is tunes, finding.reason
    operations = measurement.facts["autotune_operations"]
    if tunes:
        assert "freezing = True" in measurement.facts["inductor_settings"]
        assert measurement.facts["candidates_tried"] >= 2
        assert all(0 < seconds < 1 for each in operations for seconds in each["candidates"].values())
    else:
        assert "freezing = True" not in measurement.facts["inductor_settings"]
        assert operations == [] and "0 candidates tuned on this device" in finding.reason


def test_with_freezing_a_generated_kernel_wins_at_least_one_product(tmp_path: Path) -> None:
    """METHOD 2.4 at DistilBERT's sizes, where it wins by far. Guards: templates are offered, timed and told apart."""
    if "avx2" not in Path("/proc/cpuinfo").read_text():
        pytest.skip("neither AVX2 nor AVX512 here: which candidate wins without them is not known")
    workload = point(write_model_file(tmp_path, DISTILBERT_LAYER))
    facts = measure(workload, "max-autotune/freezing", tmp_path).facts
    races = [each["candidates"] for each in facts["autotune_operations"] if len(each["candidates"]) > 1]
    winners = [min(race, key=lambda name: race[name]) for race in races]
    assert any(Candidate(name, 0.0).is_generated for name in winners), races
    assert facts["generated_gemms"] >= 1


def test_the_articles_mode_for_changing_lengths_records_what_it_tuned(tiny_model: Path, tmp_path: Path) -> None:
    """On a CPU nothing, and the row says so. Guard: the log in the dynamic-shapes variants."""
    facts = measure(point(tiny_model), "dynamic-shapes/no-cudagraphs", tmp_path).facts
    assert facts["candidates_tried"] == 0 and facts["autotune_operations"] == []


def test_bfloat16_is_judged_by_its_own_rule_and_shows_its_larger_error(tiny_model: Path, tmp_path: Path) -> None:
    """Guard: bfloat16 has a rule of its own; float32 keeps the error a thousand times below this one."""
    workload = point(tiny_model)
    measurement = measure(workload, "precision/bfloat16", tmp_path)
    finding = judge_outputs(find_variant("precision/bfloat16"), workload, [measurement])
    assert finding.passed, finding.reason
    check = measurement.outputs[0]
    assert check.rmse is not None and check.reference_rms is not None
    assert 1e-4 < check.rmse / check.reference_rms < 1e-1


@pytest.mark.parametrize("has_references", [True, False], ids=["references from a file", "references made in place"])
def test_a_users_model_of_float_inputs_runs_in_bfloat16_too(has_references: bool, tmp_path: Path) -> None:
    """Guards: `prepare` in the precision variants; `_as_weights` where the child makes its own references."""
    workload, path = point(write_model_file(tmp_path, LINEAR)), tmp_path / "references.safetensors"
    if has_references:
        make = MakeReferences(
            workloads=(workload,),
            device="cpu",
            threads=1,
            matmul_precision="highest",
            text=PANGRAM,
            seed=1,
            path=str(path),
        )
        with MeasuredChild(tmp_path) as child:
            assert isinstance(child.ask(make, ReferencesMade), ReferencesMade), child.log()[-2000:]
    measurement = measure(workload, "precision/bfloat16", tmp_path, references=str(path) if has_references else None)
    finding = judge_outputs(find_variant("precision/bfloat16"), workload, [measurement])
    assert finding.passed, finding.reason
    check = measurement.outputs[0]
    assert check.rmse is not None and check.reference_rms is not None and check.rmse / check.reference_rms > 1e-4


def test_a_size_beyond_the_memory_is_named_when_it_does_not_fit(tmp_path: Path) -> None:
    body = (
        "def build(batch_size, sequence_length):\n"
        "    torch.empty(2**50)\n"
        "    return torch.nn.Linear(3, 3).eval(), (torch.randn(2, 3),)\n"
    )
    with MeasuredChild(tmp_path) as child:
        failed = child.measure(
            set_up(point(write_model_file(tmp_path, body), batch_size=4096), variant="max-autotune/freezing")
        )
    assert isinstance(failed, Failed)
    assert failed.failure_kind == "out_of_memory"
    assert failed.message.startswith("Out of memory at batch 4,096, length 8, float32")
