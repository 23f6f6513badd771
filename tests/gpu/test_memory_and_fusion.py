"""Pre-allocation, pooling and fusion on a real device: kernels counted, allocators proven, nothing allocated in vain."""

from dataclasses import replace
from pathlib import Path

import pytest

from engine.catalog import find_variant
from engine.floors import facts_at
from engine.proof import Finding, judge_mechanism, judge_outputs
from engine.result import Measurement
from engine.spec import Workload
from tests.child.conftest import tiny_model  # noqa: F401 - a fixture
from tests.child.measured import MeasuredChild, point, set_up

ADDCMUL = Workload(operator="addcmul", elements=2**20)
STREAM = Workload(operator="request-stream", elements=64 * 768)


def measure(workload: Workload, variant: str, folder: Path) -> Measurement:
    with MeasuredChild(folder, **dict(find_variant(variant).variables)) as child:
        measured = child.measure(set_up(workload, variant=variant, device="cuda:0"))
        assert isinstance(measured, Measurement), child.log()
        return measured


def mechanism(measured: Measurement) -> Finding:
    facts = facts_at(measured, measured.workloads[0])
    return judge_mechanism(find_variant(measured.variant), [replace(measured, facts=facts)])


@pytest.mark.parametrize(
    ("variant", "kernels"), [("separate", 3), ("two-kernels", 2), ("addcmul", 1), ("addcmul-out", 1), ("compiled", 1)]
)
def test_the_profiler_counts_the_kernels_of_the_methods_table(variant: str, kernels: int, tmp_path: Path) -> None:
    measured = measure(ADDCMUL, f"kernel-fusion/{variant}", tmp_path)
    assert measured.facts["kernels_per_call"] == [kernels]
    assert mechanism(measured).passed, mechanism(measured).reason
    outputs = judge_outputs(find_variant(measured.variant), ADDCMUL, [measured])
    assert outputs.passed, outputs.reason


def test_a_pre_allocated_result_allocates_nothing(tmp_path: Path) -> None:
    relu = Workload(operator="relu", elements=2**20)
    fresh, out = (measure(relu, f"preallocation/{name}", tmp_path) for name in ("fresh", "out"))
    assert fresh.facts["allocations_per_call"] == [1.0]
    assert out.facts["allocations_per_call"] == [0.0]
    assert mechanism(out).passed, mechanism(out).reason


@pytest.mark.parametrize("name", ["caching", "disabled", "expandable"])
def test_each_allocator_is_the_one_its_row_names(name: str, tmp_path: Path) -> None:
    measured = measure(STREAM, f"preallocation/pool-{name}", tmp_path)
    finding = mechanism(measured)
    assert finding.passed, finding.reason
    assert measured.facts["largest_allocation_bytes"] > 2**30
    known = [measured.facts[f"fragmentation_{kind}"] for kind in ("cache", "split", "round", "peak")]
    assert all(value is None or 0 <= value <= 1 for value in known)


def test_inputs_from_page_locked_memory_give_the_same_answers(tiny_model: Path, tmp_path: Path) -> None:  # noqa: F811
    workload = point(tiny_model)
    for name in ("fresh-inputs", "static-inputs", "static-output", "pinned-inputs"):
        measured = measure(workload, f"preallocation/{name}", tmp_path)
        assert mechanism(measured).passed, mechanism(measured).reason
        outputs = judge_outputs(find_variant(measured.variant), workload, [measured])
        assert outputs.passed, outputs.reason
