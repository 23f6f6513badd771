"""The tuner's candidates from stored facts: identical operations counted, ties, winners, and every way to have none."""

from dataclasses import replace
from typing import Any

import pytest

from engine import candidates
from engine.charts import candidate_race
from engine.result import Device, Run
from tests.hand_made import CPU, ENVIRONMENT, experiment, measurement

VARIANT = "max-autotune/freezing"
LINEAR = {
    "operation": "packed_linear",
    "inputs": [["11", "768"], ["2376737", "1"], ["768", "768"]],
    "candidates": {"_mkl_linear": 150e-6, "cpp_CppMicroGemmFP32Vec_0": 70e-6},
}
SAME_LATER = {**LINEAR, "candidates": {"_mkl_linear": 150e-6, "cpp_CppMicroGemmFP32Vec_7": 70e-6}}
CLOSE = {
    "operation": "addmm",
    "inputs": [["3072"], ["11", "768"], ["768", "3072"]],
    "candidates": {"bias_addmm": 100e-6, "triton_mm_3": 104.9e-6, "triton_mm_4": 140e-6},
}
ALONE = {"operation": "bmm", "inputs": [["12", "11", "64"]], "candidates": {"bmm": 5e-6}}
GPU = Device(key="cuda:0", name="Hand-made GPU", backend="cuda", identity="hand-made", multiprocessors=132)


def a_run(*sets: dict[str, Any], device: Device = CPU, variant: str = VARIANT) -> Run:
    """A finished run whose process sets hold these facts."""
    outcomes = [replace(measurement(variant, process), facts=facts) for process, facts in enumerate(sets)]
    return Run(
        id="r", experiment=experiment(variants=(variant,)), status="done", submitted_at="2026-11-30T09:00:00+00:00",
        environment=replace(ENVIRONMENT, device=device), outcomes=tuple(outcomes),
    )  # fmt: skip


def tuned(*operations: dict[str, Any], tried: int = 4, autotuned: int = 1) -> dict[str, Any]:
    return {
        "autotune_operations": list(operations), "candidates_tried": tried, "autotuned_operations": autotuned,
    }  # fmt: skip


def test_identical_operations_are_counted_once_with_their_number() -> None:
    """Guard: torch numbers candidates through the process, so their names differ between equal layers."""
    found = candidates.tuned_operations(a_run(tuned(LINEAR, SAME_LATER, CLOSE)), VARIANT)
    assert [(each.operation, each.count) for each in found] == [("packed_linear", 2), ("addmm", 1)]
    assert found[0].sizes == "11 x 768 and 768 x 768"
    assert found[0].fastest.name == "cpp_CppMicroGemmFP32Vec"


def test_candidates_within_five_percent_are_a_tie_and_no_others() -> None:
    (operation,) = candidates.tuned_operations(a_run(tuned(CLOSE)), VARIANT)
    assert [each.name for each in operation.candidates] == ["bias_addmm", "triton_mm 1", "triton_mm 2"]
    assert [candidates.standing(operation, each) for each in operation.candidates] == ["tie", "tie", "1.40x the time"]


def test_the_outcome_says_who_won_how_many_on_a_cpu_and_only_who_was_fastest_alone_on_a_gpu() -> None:
    found = candidates.tuned_operations(a_run(tuned(LINEAR, SAME_LATER, CLOSE, ALONE)), VARIANT)
    assert candidates.outcome(found, is_cpu=True) == (
        "3 different operations tuned, 4 in all; generated kernels won 2 of them, library calls 1; "
        "1 by less than 5 %, a tie; 1 had only one candidate."
    )
    assert "were fastest when timed alone in 2" in candidates.outcome(found, is_cpu=False)


def test_a_single_candidate_has_won_nothing() -> None:
    found = candidates.tuned_operations(a_run(tuned(ALONE)), VARIANT)
    assert candidates.standing(found[0], found[0].fastest) == "only candidate"
    assert "library calls 0" in candidates.outcome(found, is_cpu=True)


def test_the_first_process_set_that_timed_anything_speaks() -> None:
    run = a_run(tuned(tried=0), tuned(CLOSE), tuned(LINEAR))
    assert [each.operation for each in candidates.tuned_operations(run, VARIANT)] == ["addmm"]


def test_times_from_a_cache_are_named_so() -> None:
    assert candidates.is_from_cache(a_run(tuned(LINEAR, autotuned=0)), VARIANT)
    assert not candidates.is_from_cache(a_run(tuned(LINEAR, autotuned=1)), VARIANT)
    assert not candidates.is_from_cache(a_run({}), VARIANT)


@pytest.mark.parametrize(
    ("device", "words"),
    [
        (CPU, "0 candidates tuned on this device"),
        (replace(GPU, multiprocessors=40), "not enough SMs. This GPU has 40 multiprocessors"),
        (GPU, "every operation had only one candidate"),
    ],
)
def test_no_candidates_are_explained_by_device(device: Device, words: str) -> None:
    assert words in candidates.why_nothing(a_run(tuned(tried=0), device=device), VARIANT)


@pytest.mark.parametrize("facts", [{}, {"candidates_tried": None}, tuned(LINEAR, tried=2)])
def test_nothing_is_explained_where_torch_does_not_tell_or_something_was_tuned(facts: dict[str, Any]) -> None:
    assert candidates.why_nothing(a_run(facts), VARIANT) == ""


def test_what_really_ran_on_a_gpu_is_read_from_kernel_names_and_not_from_the_tuner() -> None:
    """A hand-made profile: the tuner's fastest is a library call here, and templates run all the same."""
    names = {
        "triton_tem_fused_addmm_gelu_0": 6.0,
        "ampere_sgemm_64x32_sliced1x4_tn": 2.0,
        "triton_poi_fused_add_1": 9.0,
    }
    run = a_run(tuned(CLOSE) | {"kernel_names": names}, device=GPU)
    assert candidates.kernels_that_ran(run, VARIANT) == (
        "What really ran, by the profiler: 6 matrix products per call in kernels generated from templates (most often "
        "triton_tem_fused_addmm_gelu_0), 2 in library kernels (most often ampere_sgemm_64x32_sliced1x4_tn)."
    )
    assert candidates.kernels_that_ran(a_run(tuned(CLOSE)), VARIANT) == ""


@pytest.mark.parametrize(
    ("kernel", "is_product"),
    [
        ("ampere_sgemm_64x32_sliced1x4_tn", True),
        ("void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_64x64_64x6_tn_align8>(...)", True),
        ("nvjet_tst_64x8_64x16_4x1_v_bz_splitK_TNT", True),
        ("void gemv2T_kernel_val<int, int, float, float, float, float, 128, 16, 4, 4, false>(...)", True),
        ("sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize64x64x32_stage4_splitK_cublas", True),
        ("void cublasLt::splitKreduce_kernel<32, 16, int, float, float, float, false>(...)", False),
        ("fmha_cutlassF_f32_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel<float, ...>::Params)", False),
        (
            "void pytorch_flash::flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<64, 64, 256, 4, cutlass::half_t>>",
            False,
        ),
        ("void at::native::vectorized_elementwise_kernel<4, at::native::GeluCUDAKernelImpl>(...)", False),
    ],
)
def test_attention_and_the_sum_after_a_split_product_are_no_matrix_products(kernel: str, is_product: bool) -> None:
    """Names as CUDA's libraries give them. One product split over k is two kernels and one product."""
    run = a_run(tuned(CLOSE) | {"kernel_names": {kernel: 1.0}}, device=GPU)
    assert f"{int(is_product)} in library kernels" in candidates.kernels_that_ran(run, VARIANT)


def test_the_table_holds_every_candidate_and_the_race_the_first_ten() -> None:
    many = {**CLOSE, "candidates": {f"triton_mm_{number}": 1e-5 * (number + 1) for number in range(14)}}
    (operation,) = candidates.tuned_operations(a_run(tuned(many)), VARIANT)
    assert len(candidates.candidates_table([operation])) == 14
    figure = candidate_race.candidate_race(operation, "#E07B00")
    assert [bar.x[0] for bar in figure.data][:3] == pytest.approx([1.0, 1 / 2, 1 / 3])
    assert len(figure.data) == 10
    assert "4 slower candidates not drawn" in figure.layout.title.text
    assert "triton_mm 10 (generated): 100 us, 10.00x the time" in candidate_race.alt_text(operation)
