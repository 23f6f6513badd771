"""Rules of evidence on hand-made measurements: every way not to run, every way to be wrong, each with its sentence."""

from dataclasses import replace
from typing import Any

import pytest

from engine.catalog.types import Variant
from engine.proof import RULES, explain_skip, judge_mechanism, judge_outputs
from engine.result import Measurement, OutputCheck
from engine.tolerances import allowed_rmse
from tests.hand_made import POINT, measurement

COMPILED = {
    "device": "cpu",
    "frames_compiled": 4,
    "frames_seen": 4,
    "graphs": 1,
    "graph_breaks": 0,
    "graph_break_reasons": [],
    "recompiles_while_timing": 0,
    "graphs_recorded_while_timing": 0,
    "recompile_reasons": [],
    "recompile_limit_hit": False,
}
GOOD = OutputCheck(
    stage="before",
    workload=0,
    inputs=10,
    rmse=3e-7,
    rmse_eager=3e-7,
    max_abs_error=2e-6,
    max_abs_error_eager=2e-6,
    reference_rms=0.5,
    cosine=1.0,
    argmax_agreement=1.0,
    non_finite=0,
    non_finite_eager=0,
    is_stale=False,
    is_overwritten=False,
    is_deterministic=True,
)


def a_variant(*proofs: str, precision: str | None = None) -> Variant:
    return Variant(key="some/thing", label="Thing", summary="A thing.", code="", proofs=proofs, precision=precision)


def with_facts(**facts: Any) -> Measurement:
    return replace(measurement(), facts=facts)


def with_outputs(*checks: OutputCheck) -> Measurement:
    return replace(measurement(), outputs=checks)


@pytest.mark.parametrize(
    ("rule", "facts", "passed", "words"),
    [
        ("nothing_compiled", {"frames_seen": 0}, True, "nothing was compiled"),
        ("nothing_compiled", {"frames_seen": 3}, False, "3 frames of what should have run eagerly"),
        ("nothing_compiled", {}, None, "does not tell"),
        ("compiled", COMPILED, True, "1 graph compiled"),
        ("compiled", {**COMPILED, "frames_compiled": 0, "graphs": 0}, False, "nothing was compiled"),
        ("compiled", {**COMPILED, "graphs": None}, None, "does not tell"),
        ("no_recompile_while_timing", COMPILED, True, "no recompile"),
        (
            "no_recompile_while_timing",
            {**COMPILED, "recompiles_while_timing": 2, "recompile_reasons": ["size mismatch"]},
            False,
            "compiled 2 times while timing: size mismatch",
        ),
        (
            "no_recompile_while_timing",
            {**COMPILED, "graphs_recorded_while_timing": 1},
            False,
            "recorded 1 CUDA graph while timing",
        ),
        ("no_recompile_while_timing", {**COMPILED, "recompiles_while_timing": None}, None, "does not tell"),
        ("no_eager_fallback", COMPILED, True, "no fallback"),
        (
            "no_eager_fallback",
            {**COMPILED, "recompile_limit_hit": True},
            False,
            "partly eager: recompile limit reached",
        ),
        ("no_eager_fallback", {**COMPILED, "frames_seen": 5}, False, "1 of 5 frames ran without the compiler"),
        (
            "no_eager_fallback",
            {**COMPILED, "graph_breaks": 1, "graph_break_reasons": ["print"]},
            False,
            "partly eager: the graph broke 1 time: print",
        ),
        ("no_eager_fallback", {**COMPILED, "graph_breaks": None}, None, "does not tell"),
    ],
)
def test_compiler_evidence_decides(rule: str, facts: dict[str, Any], passed: bool | None, words: str) -> None:
    finding = judge_mechanism(a_variant(rule), [with_facts(**facts)])
    assert finding.passed is passed
    assert words in finding.reason


def test_one_bad_process_set_fails_the_variant() -> None:
    good, bad = with_facts(**COMPILED), with_facts(**{**COMPILED, "graphs": 0})
    assert judge_mechanism(a_variant("compiled"), [good, good]).passed is True
    assert judge_mechanism(a_variant("compiled"), [good, bad]).passed is False


@pytest.mark.parametrize("rule", RULES)
def test_without_evidence_no_rule_passes(rule: str) -> None:
    assert not judge_mechanism(a_variant(rule), [with_facts()]).passed
    assert judge_mechanism(a_variant(rule), []).passed is None


def test_without_proofs_nothing_is_claimed() -> None:
    assert judge_mechanism(a_variant(), [with_facts()]).passed is None


def test_reduce_overhead_on_a_cpu_says_that_it_was_skipped() -> None:
    """M6: on the CPU torch counts one skip and gives no reason. Guard: the device check in `graph_replayed`."""
    finding = judge_mechanism(a_variant("graph_replayed"), [with_facts(**COMPILED, cudagraph_skips=1)])
    assert finding.passed is False
    assert finding.reason == "CUDA graphs NOT used: skipped, this device has no CUDA"


@pytest.mark.parametrize(
    ("facts", "passed", "words"),
    [
        ({"cudagraph_skips": 0, "cudagraph_nodes": 0, "graph_launches_per_call": 0.0}, False, "no graph was launched"),
        ({"cudagraph_skips": 0, "cudagraph_nodes": 0}, False, "no graph was launched"),
        ({"cudagraph_skips": 0, "cudagraph_nodes": 2, "graph_launches_per_call": 0.0}, False, "no graph was launched"),
        ({"cudagraph_skips": 0, "cudagraph_nodes": 2}, True, "2 CUDA graphs recorded"),
        ({"graph_launches_per_call": 1.0}, True, "1 graph launch per call"),
        ({}, None, "neither"),
        (
            {
                "cudagraph_skips": 1,
                "cudagraph_skip_reasons": ["skipping cudagraphs due to mutated inputs (1 instances)"],
            },
            False,
            "changes one of its inputs in place",
        ),
    ],
)
def test_a_cuda_graph_needs_positive_proof(facts: dict[str, Any], passed: bool | None, words: str) -> None:
    """M6: the partitioned path gives up silently with 0 skips. Guard: the last line of `graph_replayed`."""
    finding = judge_mechanism(a_variant("graph_replayed"), [with_facts(device="cuda:0", **facts)])
    assert finding.passed is passed
    assert words in finding.reason


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("skipping cudagraphs due to mutated inputs (2 instances). Found from : \n   File 'm.py'", "in place"),
        ("skipping cudagraphs due to cpu device (arg3_1). Found from : \n  x.cpu()", "runs on the CPU"),
        ("skipping cudagraphs due to multiple devices: device(type='cuda'), device(type='xpu')", "several devices"),
        ("disabling cudagraphs due to incompatible op aten.nonzero.default", "cannot be recorded"),
        ("graph with symbolic shapes inputs and config.triton.cudagraph_skip_dynamic_graphs=True.", "Shapes change"),
        ("skipping cudagraph due to function 3 exceeding max re-recording limit (=128)", "too often"),
        ("skipping cudagraphs due to cudagraph capture requires the caching allocator", "switched off"),
        ("skipping cudagraphs due to complex input", "Complex numbers"),
        ("skipping cudagraphs due to non-Tensor inputs", "not a tensor"),
        ("control flow operator: torch.cond.", "cannot branch"),
        ("skipping cudagraphs due to cpp-wrapper does not support graph partition yet", "C++ wrapper"),
        ("something torch will say next year\nand more", 'Torch says: "something torch will say next year".'),
    ],
)
def test_every_skip_reason_becomes_a_plain_sentence(reason: str, words: str) -> None:
    assert words in explain_skip(reason)
    assert explain_skip(reason).endswith(".")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"rmse": 0.5, "cosine": 0.0, "is_stale": True}, "all zeros"),
        ({"non_finite": 3}, "3 values NaN or infinite, eager has 0"),
        ({"is_stale": True}, "stale: another input got an earlier input's answer"),
        ({"is_overwritten": True}, "overwritten by the next call"),
        ({"rmse": 1e-3}, "RMSE 1.0e-03, eager 3.0e-07, allowed"),
        ({"rmse": None, "note": "random 0: an output has shape (1, 2), expected (1, 3)"}, "expected (1, 3)"),
        ({"note": "random 0: 1 output tensors, expected 2"}, "expected 2"),
    ],
)
def test_wrong_outputs_fail_in_words(change: dict[str, Any], words: str) -> None:
    finding = judge_outputs(a_variant(), POINT, [with_outputs(replace(GOOD, **change))])
    assert finding.passed is False
    assert words in finding.reason
    assert finding.reason.endswith("(before timing)")


def test_an_output_that_goes_wrong_while_timing_fails() -> None:
    after = replace(GOOD, stage="after", rmse=0.1)
    finding = judge_outputs(a_variant(), POINT, [with_outputs(GOOD), with_outputs(GOOD, after)])
    assert finding.passed is False
    assert finding.reason.endswith("(after timing)")


@pytest.mark.parametrize(
    ("rmse", "rmse_eager", "words"),
    [
        (3e-7, 3e-7, "as close to float64 as eager"),
        (0.002, 0.01, "different but not worse: closer to reference than eager"),
        (5e-7, 3e-7, "different, within rounding"),
    ],
)
def test_a_difference_is_named_with_its_direction(rmse: float, rmse_eager: float, words: str) -> None:
    finding = judge_outputs(a_variant(), POINT, [with_outputs(replace(GOOD, rmse=rmse, rmse_eager=rmse_eager))])
    assert finding.passed is True
    assert words in finding.reason


def test_more_finite_values_than_eager_are_no_fault() -> None:
    check = replace(GOOD, non_finite=0, non_finite_eager=4)
    assert judge_outputs(a_variant(), POINT, [with_outputs(check)]).passed is True


def test_outputs_at_another_workload_are_not_taken_for_this_one() -> None:
    other = replace(POINT, sequence_length=128)
    finding = judge_outputs(a_variant(), other, [with_outputs(GOOD)])
    assert finding.passed is None
    assert finding.reason == "outputs were not compared"


@pytest.mark.parametrize(("rmse", "passed"), [(0.005, True), (0.2, False)])
def test_a_variant_that_changes_precision_is_judged_by_its_own_rule(rmse: float, passed: bool) -> None:
    check = replace(GOOD, rmse=rmse, cosine=0.999)
    assert judge_outputs(a_variant(precision="bfloat16"), POINT, [with_outputs(check)]).passed is passed
    # The same error is never excused in a variant that keeps its precision.
    assert judge_outputs(a_variant(), POINT, [with_outputs(check)]).passed is False


def test_a_precision_of_unknown_rounding_is_judged_by_cosine() -> None:
    variant = a_variant(precision="int8")
    assert judge_outputs(variant, POINT, [with_outputs(replace(GOOD, rmse=0.05, cosine=0.995))]).passed is True
    assert judge_outputs(variant, POINT, [with_outputs(replace(GOOD, rmse=0.05, cosine=0.9))]).passed is False


def test_overwriting_is_a_label_where_the_variant_owns_up_to_it() -> None:
    finding = judge_outputs(a_variant("overwrites_outputs"), POINT, [with_outputs(replace(GOOD, is_overwritten=True))])
    assert finding.passed is True
    assert finding.reason.endswith("; output is overwritten by the next call")


def test_the_tolerance_follows_the_dtype_and_the_size_of_the_output() -> None:
    assert allowed_rmse(1e-3, 1.0, "float32") == pytest.approx(2e-3 + 1e-5)
    assert allowed_rmse(1e-3, 1.0, "bfloat16") == pytest.approx(3e-3 + 1e-5)
    # Zeros in the place of an output of size 1e-6 must not pass.
    assert allowed_rmse(1e-13, 1e-6, "float32") < 1e-6
