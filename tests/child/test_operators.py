"""Operators and what is done to them, on real torch and numpy: right answers, buffers that refuse, integers, float16, faults."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from measured import MeasuredChild, point, set_up

from engine.catalog import find_technique, find_variant, fits
from engine.catalog.operators import OPERATORS
from engine.child import equivalence, turns
from engine.child.allocations import count_allocations
from engine.child.cuda_allocator import fragmentation
from engine.child.failures import describe_failure
from engine.child.operators import request_lengths
from engine.child.references import cases_of, sampled_rows
from engine.child.subject import Subject, load_subject
from engine.child.techniques import Applied, Context, apply
from engine.child.techniques.buffers import Buffers, written
from engine.errors import InvalidSpec
from engine.proof import judge_outputs
from engine.result import Measurement
from engine.spec import PANGRAM, Workload

pytestmark = pytest.mark.beside

CONTEXT = Context(seed=1, process=0)
ON_CPU = [
    (variant.key, operator)
    for technique in ("preallocation", "kernel-fusion")
    for variant in find_technique(technique).variants
    for operator in variant.subjects
    if "cuda" not in variant.requires and not variant.compiles
]
SMALL = {"numpy-dot-as-written": 30, "numpy-dot": 30, "bias-gelu-norm": 5 * 768, "request-stream": 12 * 768}


def subject_of(operator: str, elements: int | None = None, **changes: Any) -> Subject:
    dtype = {"numpy-dot-as-written": "float64", "numpy-dot": "float64"}.get(operator, "float32")
    size = elements or SMALL.get(operator, 1000)
    return load_subject(Workload(operator=operator, elements=size, **{"dtype": dtype, **changes}), "cpu", PANGRAM, 7)


def applied(variant: str, subject: Subject) -> Applied:
    """The technique, its buffers made as for a turn."""
    made = apply(variant, subject, CONTEXT)
    with torch.inference_mode():
        if made.activate is not None:
            made.activate(made.prepared(subject.inputs(0)))
    return made


def finding_of(variant: str, subject: Subject) -> Any:
    """The verdict on the outputs of a technique."""
    check = equivalence.check(
        applied(variant, subject).answer,
        cases_of(subject, None),
        stage="before",
        workload=0,
        dtype=subject.workload.dtype,
    )
    measurement = Measurement(
        variant=variant,
        process=0,
        workloads=(subject.workload,),
        load_s=0,
        apply_s=0,
        points=(),
        blocks=(),
        outputs=(check,),
    )
    return judge_outputs(find_variant(variant), subject.workload, [measurement])


@pytest.mark.parametrize(("variant", "operator"), ON_CPU)
def test_every_variant_gives_the_right_answers(variant: str, operator: str) -> None:
    finding = finding_of(variant, subject_of(operator))
    assert finding.passed, finding.reason


@pytest.mark.parametrize(
    ("variant", "operator"), [each for each in ON_CPU if each[1] in ("relu", "numpy-relu", "addcmul")]
)
def test_every_variant_gives_the_right_answers_for_a_chain(variant: str, operator: str) -> None:
    finding = finding_of(variant, subject_of(operator, operations=3))
    assert finding.passed, finding.reason


def test_the_articles_weights_are_fresh_for_every_seed_and_the_same_for_the_same_one() -> None:
    subject = subject_of("numpy-dot-as-written")
    first, second = subject.inputs(0), subject.inputs(1)
    assert np.array_equal(subject.eager(first), subject.eager(first))
    assert not np.array_equal(subject.eager(first), subject.eager({**first, "seed": second["seed"]}))


def test_integer_inputs_with_a_float_value_are_wrong_in_addcmul_and_both_results_are_told() -> None:
    """R15: 1 + 0.5 * (1 * 1) is 1.5, and addcmul gives 1."""
    subject = subject_of("addcmul", 3, dtype="int64")
    notes = {name: applied(f"kernel-fusion/{name}", subject).facts for name in ("separate", "addcmul")}
    assert notes["separate"] and notes["separate"]() == {"value_note": "1 + 0.5 * (1 * 1) gives 1.5"}
    assert notes["addcmul"] and notes["addcmul"]() == {"value_note": "1 + 0.5 * (1 * 1) gives 1"}
    finding = finding_of("kernel-fusion/addcmul", subject)
    assert finding.passed is False
    assert finding.reason.startswith("RMSE")


def test_two_kernels_refuse_integer_inputs_in_words() -> None:
    subject = subject_of("addcmul", 3, dtype="int64")
    with pytest.raises(RuntimeError, match="alpha must not be a floating point number"):
        applied("kernel-fusion/two-kernels", subject).answer(subject.inputs(0))


def test_a_float16_product_that_overflows_only_when_it_is_stored_is_flagged() -> None:
    """300 * 300 is more than float16 holds; half of it is not."""
    subject = subject_of("addcmul", 4, dtype="float16")
    pair = {"a": torch.zeros(4).half(), "b": torch.full((4,), 300.0).half(), "c": torch.full((4,), 300.0).half()}
    assert torch.isinf(subject.eager(pair)).all()
    assert torch.isfinite(applied("kernel-fusion/addcmul", subject).answer(pair)).all()
    finding = finding_of("kernel-fusion/addcmul", subject_of("addcmul", 2000, dtype="float16"))
    assert finding.passed is True
    assert "overflow in eager, finite here: " in finding.reason


def test_rounding_is_named_and_never_called_identical() -> None:
    reason = finding_of("kernel-fusion/addcmul", subject_of("addcmul")).reason
    assert "identical" not in reason
    assert "closer to reference than eager" in reason or "within rounding" in reason


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (torch.empty(3), "of shape (3,), float32 on cpu"),
        (torch.empty(1000, dtype=torch.float16), "float16 on cpu"),
        (torch.empty(1000, dtype=torch.int64), "int64 on cpu"),
        (torch.empty(1000, device="meta"), "on meta"),
    ],
    ids=["shape", "dtype", "kind of dtype", "device"],
)
@pytest.mark.parametrize("variant", ["preallocation/out", "kernel-fusion/addcmul-out"])
def test_a_wrong_pre_allocated_output_is_a_failure_and_never_resized(
    variant: str, wrong: torch.Tensor, words: str
) -> None:
    operator = find_variant(variant).subjects[0]
    subject, size = subject_of(operator), wrong.shape
    made = applied(variant, subject)
    buffers_of(made).values = [wrong]
    with torch.inference_mode(), pytest.raises(InvalidSpec) as refused:
        assert made.activate is not None
        made.activate(subject.inputs(0))  # what every turn begins with
    assert words in str(refused.value)
    assert "the result is of shape (1000,), float32 on cpu" in str(refused.value)
    assert wrong.shape == size
    failed = describe_failure(refused.value, "first_call", (subject.workload,))
    assert (failed.failure_kind, failed.stage) == ("error", "first_call")


@pytest.mark.parametrize("variant", ["preallocation/out", "kernel-fusion/addcmul-out", "kernel-fusion/separate-out"])
def test_an_output_that_torch_would_resize_ends_the_call(variant: str) -> None:
    subject = subject_of(find_variant(variant).subjects[0])
    made = applied(variant, subject)
    buffers_of(made).values = [torch.empty(3), torch.empty(3)]
    with (
        torch.inference_mode(),
        pytest.raises(InvalidSpec, match=r"it had shape \[3\], .* required output shape \[1000\]"),
    ):
        made.answer(subject.inputs(0))


def buffers_of(made: Applied) -> Buffers:
    return next(cell.cell_contents for cell in made.call.__closure__ or () if isinstance(cell.cell_contents, Buffers))


def test_a_wrong_numpy_output_is_a_failure_too() -> None:
    subject = subject_of("numpy-relu")
    made = applied("preallocation/out", subject)
    buffers = next(
        cell.cell_contents for cell in made.call.__closure__ or () if isinstance(cell.cell_contents, Buffers)
    )
    buffers.values = [np.empty(3, np.float32)]
    with pytest.raises(InvalidSpec, match=r"of shape \(3,\), float32; the result is of shape \(1000,\)"):
        made.answer(subject.inputs(0))


def test_buffers_take_the_shape_and_dtype_that_broadcasting_and_promotion_give() -> None:
    inputs = {"a": torch.ones(4, 1), "b": torch.ones(3, dtype=torch.float64), "c": torch.ones(1).half()}
    subject = replace(subject_of("addcmul"), program=lambda a, b, c: a + 0.5 * (b * c))
    made = written(subject, lambda buffers, a, b, c: torch.add(a, 0.5 * (b * c), out=buffers[0]))
    assert made.activate is not None
    made.activate(inputs)
    result = made.answer(inputs)
    assert (tuple(result.shape), result.dtype) == ((4, 3), torch.float64)


def test_a_weight_that_requires_a_gradient_can_be_written_from_under_inference_mode() -> None:
    """R16: out= refuses such a weight only where gradients are on."""
    weight, out = torch.ones(2, 2, requires_grad=True), torch.empty(2, 2)
    with torch.inference_mode():
        assert torch.matmul(weight, torch.ones(2, 2), out=out).sum() == 8


def test_a_large_result_wrong_at_its_end_is_caught_by_the_sampled_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.child.references.LARGE_CASE_BYTES", 1000)
    monkeypatch.setattr("engine.child.references.SAMPLED_ELEMENTS", 50)
    subject = subject_of("addcmul", 10_000)

    def wrong_at_the_end(inputs: dict[str, torch.Tensor]) -> torch.Tensor:
        result = subject.eager(inputs)
        result[-10:] += 1.0
        return result

    rows = sampled_rows(subject.inputs(0))
    assert (int(rows.min()), int(rows.max()), len(rows)) == (0, 9999, 150)
    check = equivalence.check(wrong_at_the_end, cases_of(subject, None), stage="before", workload=0, dtype="float32")
    assert (check.rmse or 0) > 0.1


def test_sampled_rows_of_a_matrix_are_whole_rows_and_its_vectors_stay_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.child.references.LARGE_CASE_BYTES", 1000)
    subject = subject_of("bias-gelu-norm", 300 * 768)
    check = equivalence.check(subject.eager, cases_of(subject, None), stage="before", workload=0, dtype="float32")
    assert check.note is None
    assert check.rmse == check.rmse_eager


def test_numpys_copyto_still_allocates_its_result_and_out_does_not() -> None:
    """METHOD 2.6: tracemalloc sees a full result for dot and for copyto(buf, dot), nothing for dot(out=)."""
    subject = subject_of("numpy-dot", 3000)
    allocated = {}
    for name in ("fresh", "copyto", "out"):
        made = applied(f"preallocation/{name}", subject)
        inputs = made.prepared(subject.inputs(0))
        allocated[name] = count_allocations(lambda call=made.call, inputs=inputs: call(inputs), "cpu")[
            "allocated_bytes_per_call"
        ]
    result = 3000 * 8
    assert allocated["fresh"] == pytest.approx(result, rel=0.05)
    assert allocated["copyto"] == pytest.approx(result, rel=0.05)
    assert (allocated["out"] or 0) < 0.1 * result


def test_a_fresh_large_result_faults_page_by_page_and_a_buffer_does_not() -> None:
    subject = subject_of("relu", 2**24)
    faults = {}
    for name in ("fresh", "out"):
        made = applied(f"preallocation/{name}", subject)
        inputs = made.prepared(subject.inputs(0))
        with torch.inference_mode():
            made.call(inputs)
            faults[name] = count_allocations(lambda call=made.call, inputs=inputs: call(inputs), "cpu")[
                "page_faults_per_call"
            ]
    assert (faults["fresh"] or 0) > 1000
    assert (faults["out"] or 0) < 100


def test_the_request_stream_is_seeded_and_as_long_as_it_says() -> None:
    assert request_lengths(512) == request_lengths(512)
    assert len(set(request_lengths(512))) > 20
    assert max(request_lengths(512)) <= 512
    assert len(subject_of("request-stream").eager(subject_of("request-stream").inputs(0))) == 32


def test_the_four_fragmentation_numbers_are_four_different_ones() -> None:
    statistics = {
        "allocated_bytes.all.current": 60, "reserved_bytes.all.current": 100, "inactive_split_bytes.all.current": 10,
        "requested_bytes.all.current": 54, "active_bytes.all.peak": 90, "reserved_bytes.all.peak": 120,
        "num_ooms": 0, "num_alloc_retries": 2,
    }  # fmt: skip
    found = fragmentation(statistics)
    assert {name: round(value, 3) for name, value in found.items() if isinstance(value, float)} == {
        "fragmentation_cache": 0.4,
        "fragmentation_split": 0.1,
        "fragmentation_round": 0.1,
        "fragmentation_peak": 0.25,
    }
    assert (found["out_of_memory_events"], found["allocation_retries"]) == (0, 2)
    assert set(fragmentation({}).values()) == {None}
    assert fragmentation({**statistics, "reserved_bytes.all.current": 0})["fragmentation_split"] is None


@pytest.mark.parametrize("operator", OPERATORS)
def test_every_operator_of_the_catalog_runs_on_every_dtype_it_names(operator: str) -> None:
    for dtype in OPERATORS[operator].dtypes:
        subject = subject_of(operator, dtype=dtype)
        assert all(torch.isfinite(tensor).all() for tensor in equivalence_flat(subject.eager(subject.inputs(0))))


def equivalence_flat(outputs: Any) -> list[torch.Tensor]:
    from engine.child.references import flatten

    return flatten(outputs)


def test_a_size_that_is_no_whole_number_of_rows_is_refused_in_words() -> None:
    with pytest.raises(InvalidSpec, match="choose a multiple of 768"):
        subject_of("bias-gelu-norm", 1000)


def test_a_real_child_serves_numpy_and_torch_in_several_sizes_with_facts_for_each(tmp_path: Any) -> None:
    points = (
        Workload(operator="relu", elements=1000),
        Workload(operator="numpy-relu", elements=5000),
        Workload(operator="numpy-dot", elements=300, dtype="float64"),
    )
    assert all(fits(find_variant("preallocation/out"), point) for point in points)
    with MeasuredChild(tmp_path) as child:
        measured = child.measure(set_up(*points, variant="preallocation/out"))
    assert isinstance(measured, Measurement), measured
    assert [
        len(measured.facts[key]) for key in ("page_faults_per_call", "allocated_bytes_per_call", "minimum_bytes")
    ] == [3] * 3
    assert measured.facts["minimum_bytes"] == [8000, 40_000, 8 * (100 * 512 + 512 * 3 + 300)]
    assert measured.facts["footprint_bytes"] == measured.facts["minimum_bytes"]
    assert measured.facts["operators_per_call"] == [1.0, 0.0, 0.0]
    assert all(math.isfinite(sum(block.latency_s)) for block in measured.blocks)
    assert {check.is_overwritten for check in measured.outputs} == {True}


def test_a_result_in_place_moves_its_memory_twice_and_touches_it_once(tmp_path: Any) -> None:
    """Guard: the addresses in `profiling._memory`."""
    with MeasuredChild(tmp_path) as child:
        measured = child.measure(set_up(Workload(operator="relu", elements=1000), variant="preallocation/in-place"))
    assert isinstance(measured, Measurement), measured
    assert (measured.facts["minimum_bytes"], measured.facts["footprint_bytes"]) == ([8000], [4000])


@pytest.mark.slow
def test_generated_code_for_many_sizes_stays_compiled_beyond_torchs_own_limit(tmp_path: Any) -> None:
    """METHOD 0.9: with torch's limit of 8 the ninth size would silently run eagerly."""
    points = tuple(Workload(operator="addcmul", elements=100 * size) for size in range(1, 11))
    with MeasuredChild(tmp_path) as child:
        measured = child.measure(set_up(*points, variant="kernel-fusion/compiled"))
    assert isinstance(measured, Measurement), measured
    assert measured.facts["graphs"] == 10
    assert measured.facts["recompile_limit_hit"] is False
    assert measured.facts["recompiles_while_timing"] == 0
    assert measured.facts["operators_per_call"] == [0.0] * 10


def test_inputs_made_anew_are_the_same_kind_of_tensor_at_every_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Guard: inference mode in `Turns`; compiled code would be compiled again for the other kind."""
    monkeypatch.setattr(turns, "KEPT_BYTES", 0)
    monkeypatch.setattr(turns, "ONE_TURN_BYTES", 0)
    taking = turns.Turns([subject_of("addcmul")], [Applied(call=len)])
    kinds = set()
    for within in (torch.inference_mode(), torch.inference_mode(False)):
        with within, taking.of(0) as (_, feed):
            kinds.add(next(feed)["a"].is_inference())
    assert kinds == {True}


@pytest.mark.parametrize("name", ["fresh-inputs", "static-inputs", "static-output"])
def test_a_model_served_through_static_tensors_gives_the_right_answers(name: str, tiny_model: Any) -> None:
    """Guard: every request is copied in; a static output says that the next call overwrites it."""
    subject = load_subject(point(tiny_model), "cpu", PANGRAM, 7)
    finding = finding_of(f"preallocation/{name}", subject)
    assert finding.passed, finding.reason
    assert ("overwritten by the next call" in finding.reason) == (name == "static-output")
