"""Allocator switches that contradict each other, and rules on allocations, kernels and allocators."""

from dataclasses import replace

import pytest

from engine.allocator_switches import SWITCHES, why_switched_otherwise
from engine.arms import plan
from engine.catalog import find_technique, find_variant
from engine.proof import judge_mechanism
from engine.proof.fusion import fewer_kernels
from engine.proof.memory import allocator_caching, allocator_disabled, allocator_expandable, result_preallocated
from engine.result import Device, Measurement
from engine.runner import record
from engine.spec import Experiment, Workload
from tests.hand_made import MACHINE, measurement

GPU = Device(key="cuda:0", name="Hand-made GPU", backend="cuda", identity="GPU-1", memory_bytes=2**35)
CUDA_MACHINE = replace(MACHINE, devices=(*MACHINE.devices, GPU))
POOL = [variant for variant in find_technique("preallocation").variants if variant.variables]
CACHING, DISABLED, EXPANDABLE = (
    find_variant(f"preallocation/pool-{name}") for name in ("caching", "disabled", "expandable")
)


def seen(point: Workload, **facts: object) -> Measurement:
    return replace(measurement(), workloads=(point,), facts=facts)


def test_without_switches_of_its_own_an_environment_contradicts_nothing() -> None:
    assert [why_switched_otherwise(variant, {"PATH": "/bin"}) for variant in POOL] == [None] * 3
    assert why_switched_otherwise(EXPANDABLE, {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"}) is None


@pytest.mark.parametrize(
    ("variant", "variables"),
    [
        (EXPANDABLE, {"PYTORCH_NO_CUDA_MEMORY_CACHING": "1"}),
        (EXPANDABLE, {"PYTORCH_CUDA_ALLOC_CONF": "backend:cudaMallocAsync"}),
        (DISABLED, {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"}),
        (CACHING, {"PYTORCH_ALLOC_CONF": "max_split_size_mb:64"}),
    ],
)
def test_of_conflicting_allocator_switches_both_are_named(variant, variables) -> None:
    (name, value), ((wanted, setting),) = next(iter(variables.items())), variant.variables
    reason = why_switched_otherwise(variant, variables) or ""
    assert f"{name}={value}" in reason
    assert f"{wanted}={setting}" in reason
    assert f"unset {name}" in reason


def test_other_variants_do_not_mind_the_environments_allocator() -> None:
    assert why_switched_otherwise(find_variant("baseline/eager"), {"PYTORCH_NO_CUDA_MEMORY_CACHING": "1"}) is None


def test_no_variant_switches_the_allocator_twice() -> None:
    for variant in POOL:
        assert len({name for name, _ in variant.variables} & set(SWITCHES)) == 1


def test_conflicting_switches_take_the_pools_out_of_a_run_and_nothing_else() -> None:
    """The pre-allocation page measures pools with everything else; the whole run was refused."""
    relu, stream = Workload(operator="relu", elements=2**20), Workload(operator="request-stream", elements=512 * 768)
    keys = ("preallocation/out", EXPANDABLE.key)
    experiment = Experiment(workloads=(relu, stream), variants=keys, device="cuda:0")
    made = plan(experiment, CUDA_MACHINE, {"PYTORCH_NO_CUDA_MEMORY_CACHING": "1"})
    measured = {arm.variant for group in made.groups for arm in group.arms}
    assert measured == {"preallocation/fresh", "preallocation/fresh@twin", "preallocation/out"}
    assert {failure.variant: failure.kind for failure in made.unavailable} == {
        CACHING.key: "unavailable",
        EXPANDABLE.key: "unavailable",
    }
    assert all("can be switched one way only" in failure.message for failure in made.unavailable)


def test_a_run_reads_its_own_environment_and_starts_no_child_for_what_contradicts_it(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("PYTORCH_NO_CUDA_MEMORY_CACHING", "1")
    point = Workload(operator="request-stream", elements=512 * 768)
    experiment = Experiment(workloads=(point,), variants=(EXPANDABLE.key,), device="cuda:0")
    run = record(experiment, CUDA_MACHINE, work_dir=tmp_path, child_command=["false"])
    assert {outcome.kind for outcome in run.outcomes} == {"unavailable"}


RELU = Workload(operator="relu", elements=2**20)


@pytest.mark.parametrize(("allocated", "passed"), [(0, True), (3000, True), (4 * 2**20, False), (None, None)])
def test_a_pre_allocated_result_is_one_that_no_call_allocates(allocated, passed) -> None:
    finding = result_preallocated(seen(RELU, allocated_bytes_per_call=allocated, page_faults_per_call=0.0))
    assert finding.passed is passed
    if allocated:
        assert "for a result of 4.00 MiB" in finding.reason


def test_random_weights_beside_the_result_are_not_the_result() -> None:
    point = Workload(operator="numpy-dot-as-written", elements=3000, dtype="float64")
    assert result_preallocated(seen(point, allocated_bytes_per_call=512 * 3 * 8)).passed is True
    assert result_preallocated(seen(point, allocated_bytes_per_call=(512 + 1000) * 3 * 8)).passed is False


STATIC = {"frames_seen": 0, "inputs_stay": True, "outputs_stay": True, "requests_pinned": True}


@pytest.mark.parametrize(
    ("name", "fact"),
    [
        ("static-inputs", "inputs_stay"),
        ("static-output", "inputs_stay"),
        ("static-output", "outputs_stay"),
        ("pinned-inputs", "inputs_stay"),
        ("pinned-inputs", "requests_pinned"),
    ],
)
def test_static_memory_is_proven_by_where_things_lay_and_not_by_the_absence_of_a_compiler(name, fact) -> None:
    variant, point = find_variant(f"preallocation/{name}"), Workload(model="m", batch_size=1, sequence_length=11)
    assert judge_mechanism(variant, [seen(point, **STATIC)]).passed is True
    assert judge_mechanism(variant, [seen(point, **{**STATIC, fact: False})]).passed is False
    assert judge_mechanism(variant, [seen(point, **{**STATIC, fact: None})]).passed is None


@pytest.mark.parametrize(
    ("facts", "passed", "words"),
    [
        ({"operators_per_call": 1.0}, True, "1 operator per call instead of 3"),
        ({"operators_per_call": 3.0}, False, "3 operators per call instead of 3"),
        ({"operators_per_call": 0.0}, True, "0 operators per call instead of 3: all in generated code"),
        ({"operators_per_call": 9.0, "kernels_per_call": 1.0}, True, "1 kernel per call instead of 3"),
        ({"operators_per_call": 0.0, "device": "cuda:0"}, None, "the profiler cannot be read here"),
        (
            {"operators_per_call": 9.0, "kernels_per_call": 4 / 3, "device": "cuda:0"},
            True,
            "1 kernel per call instead of 3",
        ),
        ({}, None, "the profiler cannot be read here"),
    ],
)
def test_fused_means_fewer_kernels_than_steps(facts, passed, words) -> None:
    """Guard: without kernels a GPU's operators are not counted instead; generated code is none."""
    finding = fewer_kernels(seen(Workload(operator="addcmul", elements=8), **facts))
    assert (finding.passed, finding.reason) == (passed, words)


def test_a_chain_has_its_steps_as_often_as_it_is_long() -> None:
    finding = fewer_kernels(seen(Workload(operator="addcmul", elements=8, operations=4), operators_per_call=4.0))
    assert (finding.passed, finding.reason) == (True, "4 operators per call instead of 12")


@pytest.mark.parametrize(
    ("rule", "allocator", "asked", "passed"),
    [
        (allocator_caching, "caching", 0.0, True),
        (allocator_caching, "caching", 2.0, False),
        (allocator_caching, "expandable segments", 0.0, False),
        (allocator_expandable, "expandable segments", 0.0, True),
        (allocator_disabled, "no caching", 32.0, True),
        (allocator_disabled, "caching", 0.0, False),
        (allocator_disabled, None, None, None),
    ],
)
def test_an_allocator_is_proven_by_what_it_holds_and_asks_the_driver_for(rule, allocator, asked, passed) -> None:
    point = Workload(operator="request-stream", elements=768)
    assert rule(seen(point, allocator=allocator, device_allocations_per_call=asked)).passed is passed
