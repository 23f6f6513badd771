"""Floors on exact numbers: DistilBERT's FLOPs and bytes, and when there is no floor."""

from dataclasses import replace

import pytest

from engine.floors import Encoder, best_of, dtypes_with_a_floor, encoder_of, find_floor, floor_of, is_impossible
from engine.result import Device, Limits, Run
from engine.spec import Workload
from tests.hand_made import CPU, ENVIRONMENT, POINT, experiment, measurement

DISTILBERT = Encoder(layers=6, hidden=768, intermediate=3072)
FACTS = {"model_type": "distilbert", "num_layers": 6, "hidden_size": 768, "intermediate_size": 3072}
LIMITS = Limits(bandwidth_bytes_per_s=20e9, flops_per_s={"float32": 200e9})
MIB = 2**20
SMALL_CACHE = replace(CPU, last_level_cache_bytes=1 * MIB)
LARGE_CACHE = replace(CPU, last_level_cache_bytes=64 * MIB)


@pytest.mark.parametrize(("length", "gigaflops"), [(11, 0.94), (128, 11.2), (512, 48.3)])
def test_flops_are_those_of_the_method(length: int, gigaflops: float) -> None:
    assert DISTILBERT.flops(1, length) / 1e9 == pytest.approx(gigaflops, rel=0.005)


def test_weights_are_170_megabytes_in_float32() -> None:
    assert DISTILBERT.layer_parameters * 4 == pytest.approx(170.1e6, rel=0.001)


def test_a_short_sentence_is_bound_by_the_weights() -> None:
    floor = find_floor(POINT, "float32", FACTS, LIMITS, SMALL_CACHE)
    assert floor is not None
    assert floor.bound == "memory"
    assert floor.seconds == pytest.approx((DISTILBERT.touched_bytes(1, 11, 4) - MIB) / 20e9)


def test_a_long_batch_is_bound_by_arithmetic() -> None:
    point = replace(POINT, batch_size=8, sequence_length=128)
    floor = find_floor(point, "float32", FACTS, LIMITS, SMALL_CACHE)
    assert floor is not None
    assert floor.bound == "arithmetic"
    assert floor.seconds == pytest.approx(8 * DISTILBERT.flops(1, 128) / 200e9)


def test_below_four_caches_there_is_no_memory_floor() -> None:
    floor = find_floor(POINT, "float32", FACTS, LIMITS, LARGE_CACHE)
    assert floor is not None
    assert floor.bound == "arithmetic"
    unknown_cache = find_floor(POINT, "float32", FACTS, LIMITS, CPU)
    assert unknown_cache is not None
    assert unknown_cache.bound == "arithmetic"


def test_half_precision_halves_the_weights_and_needs_its_own_peak() -> None:
    floor = find_floor(POINT, "bfloat16", FACTS, LIMITS, SMALL_CACHE)
    assert floor is not None
    assert floor.bound == "memory"
    assert floor.seconds == pytest.approx((DISTILBERT.touched_bytes(1, 11, 2) - MIB) / 20e9)


def test_peaks_are_measured_for_everything_that_variants_and_workloads_compute_in() -> None:
    """Guard: `dtypes_with_a_floor`; a bfloat16 row of a float32 workload had no peak, so no floor of arithmetic."""
    variants = [
        "baseline/eager",
        "baseline/eager@twin",
        "precision/bfloat16",
        "precision/float16-best",
        "precision/tf32",
    ]
    assert dtypes_with_a_floor(variants, [POINT]) == ("bfloat16", "float16", "float32")
    integers = Workload(operator="addcmul", elements=8, dtype="int64")
    assert dtypes_with_a_floor(["kernel-fusion/addcmul"], [integers]) == ("int64",)
    long = replace(POINT, batch_size=8, sequence_length=128)
    peaks = replace(LIMITS, flops_per_s={"float32": 200e9, "bfloat16": 800e9})
    floor = find_floor(long, "bfloat16", FACTS, peaks, SMALL_CACHE)
    assert floor is not None and floor.seconds == pytest.approx(8 * DISTILBERT.flops(1, 128) / 800e9)


def test_launches_bound_a_short_call_and_are_not_added_to_the_rest() -> None:
    gpu = Device(key="cuda:0", name="GPU", backend="cuda", identity="x", last_level_cache_bytes=MIB)
    limits = Limits(bandwidth_bytes_per_s=4.8e12, launch_s=3e-6, graph_launch_s=5e-6)
    floor = find_floor(POINT, "float32", {**FACTS, "kernel_launches_per_call": 100.0}, limits, gpu)
    assert floor is not None
    assert (floor.bound, floor.seconds) == ("launches", pytest.approx(300e-6))
    graphed = find_floor(POINT, "float32", {**FACTS, "graph_launches_per_call": 1.0}, limits, gpu)
    assert graphed is not None
    assert graphed.bound == "memory"


@pytest.mark.parametrize(
    "facts", [{}, {**FACTS, "model_type": "albert"}, {**FACTS, "intermediate_size": None}], ids=str
)
def test_an_unknown_architecture_has_no_floor(facts: dict[str, object]) -> None:
    assert encoder_of(facts) is None
    assert find_floor(POINT, "float32", facts, LIMITS, SMALL_CACHE) is None


def test_an_operator_has_the_floor_of_its_least_traffic() -> None:
    point = Workload(operator="addcmul", elements=2**24)
    floor = find_floor(point, "float32", {"minimum_bytes": 16 * 2**24}, LIMITS, SMALL_CACHE)
    assert floor is not None
    assert floor.seconds == pytest.approx((16 * 2**24 - MIB) / 20e9)


def test_what_is_written_where_it_was_read_may_all_stand_in_the_cache() -> None:
    """64 MiB in place move 128 MiB, of memory that is only twice the cache. Guard: `footprint` in `_memory_s`."""
    point, cpu = Workload(operator="relu", elements=2**24), replace(CPU, last_level_cache_bytes=32 * MIB)
    in_place = {"minimum_bytes": 128 * MIB, "footprint_bytes": 64 * MIB}
    assert find_floor(point, "float32", in_place, LIMITS, cpu) is None
    into_buffer = {"minimum_bytes": 128 * MIB, "footprint_bytes": 128 * MIB}
    floor = find_floor(point, "float32", into_buffer, LIMITS, cpu)
    assert floor is not None and floor.seconds == pytest.approx(96 * MIB / 20e9)


def test_the_best_of_several_moments_counts() -> None:
    """Guard: `best_of`; a floor made of the moment when a neighbour was busy would call honest times impossible."""
    quiet = Limits(bandwidth_bytes_per_s=91e9, flops_per_s={"float32": 150e9, "bfloat16": 900e9})
    busy = Limits(bandwidth_bytes_per_s=55e9, bandwidth_bytes=128 * MIB, flops_per_s={"float32": 200e9})
    unknown = Limits()
    assert best_of([busy, quiet, unknown]) == Limits(
        bandwidth_bytes_per_s=91e9, bandwidth_bytes=128 * MIB, flops_per_s={"float32": 200e9, "bfloat16": 900e9}
    )
    assert best_of([unknown]) == unknown


def test_a_run_knows_the_floor_of_its_arms() -> None:
    outcome = replace(measurement(), facts=FACTS)
    run = Run(
        id="1",
        experiment=experiment(),
        status="done",
        submitted_at="2026-01-01T00:00:00Z",
        environment=replace(ENVIRONMENT, device=SMALL_CACHE),
        limits=LIMITS,
        outcomes=(outcome,),
    )
    expected = (DISTILBERT.touched_bytes(1, 11, 4) - MIB) / 20e9
    assert floor_of("baseline/eager", POINT, run) == pytest.approx(max(expected, DISTILBERT.flops(1, 11) / 200e9))
    assert floor_of("torch-compile/default", POINT, run) is None
    assert floor_of("baseline/eager", POINT, replace(run, limits=None)) is None


@pytest.mark.parametrize(("fraction", "is_rejected"), [(0.94, True), (0.95, False), (1.0, False), (1.2, False)])
def test_a_time_below_95_percent_of_the_floor_is_impossible(fraction: float, is_rejected: bool) -> None:
    """M7: a remembered answer is faster than the weights can be read. Guard: the tolerance in `is_impossible`."""
    assert is_impossible(fraction * 8e-3, 8e-3) is is_rejected
