"""CUDA graphs on hand-made facts: only replayed, partly replayed, recorded again; and whose outputs a replay may overwrite."""

from dataclasses import replace
from typing import Any

import pytest

from engine.catalog import find_variant
from engine.catalog.types import Variant
from engine.proof import Finding, judge_mechanism, judge_outputs
from engine.proof.compiler import no_recompile_while_timing
from engine.proof.cudagraphs import LAUNCHES_BESIDE, graph_replayed, graph_replayed_on_cuda
from engine.result import Measurement
from tests.hand_made import POINT, measurement
from tests.unit.test_proof import COMPILED, GOOD, a_variant

REPLAYED = {
    "device": "cuda:0",
    "cudagraph_skips": 0,
    "cudagraph_nodes": 1,
    "cudagraph_nodes_before_timing": 1,
    "cudagraph_rerecords": 0,
    "graph_launches_per_call": 1.0,
    "kernel_launches_per_call": 1.0,
}
WITH_GRAPHS = (
    "max-autotune/documented",
    "precision/tf32-best",
    "precision/bfloat16-best-cuda",
    "precision/float16-best",
)


def with_facts(**facts: Any) -> Measurement:
    return replace(measurement(), facts=facts)


def replayed(**facts: Any) -> Finding:
    return graph_replayed(with_facts(**{**REPLAYED, **facts}))


def outputs(variant: Variant, facts: dict[str, Any]) -> Finding:
    overwritten = replace(GOOD, is_overwritten=True)
    return judge_outputs(variant, POINT, [replace(with_facts(**facts), outputs=(overwritten,))])


def test_copies_of_inputs_and_outputs_may_stand_beside_the_graph() -> None:
    assert replayed(kernel_launches_per_call=float(LAUNCHES_BESIDE)) == Finding(True, "1 graph launch per call")
    assert replayed(graph_launches_per_call=2.0).reason == "2 graph launches per call"


def test_a_graph_with_many_kernels_beside_it_was_partly_replayed() -> None:
    """METHOD 2.3. Guard: `LAUNCHES_BESIDE`; one graph launch per call is also seen when most of the model is in none."""
    finding = replayed(kernel_launches_per_call=37.0)
    assert finding.passed is False
    assert finding.reason == "partly replayed: 37 kernels per call were launched one by one beside the graph"


def test_launches_that_nobody_counted_are_not_held_against_the_graph() -> None:
    assert replayed(kernel_launches_per_call=None).passed is True


def test_a_graph_captured_by_hand_is_unknown_where_nobody_counts_launches() -> None:
    """Guard: `captured_graphs`; torch's trees hold 0 graphs then, which refutes nothing."""
    by_hand = {"cudagraph_nodes": 0, "cudagraph_nodes_before_timing": 0, "captured_graphs": 1}
    assert replayed(**by_hand, graph_launches_per_call=None, kernel_launches_per_call=None).passed is None
    assert replayed(**by_hand).passed is True


def test_a_graph_recorded_while_timing_was_not_replayed() -> None:
    """Guard: the nodes before timing. Both rules that see it say it once."""
    finding = replayed(cudagraph_nodes=3)
    assert finding == Finding(False, "recorded 2 CUDA graphs while timing")
    facts = {**COMPILED, **REPLAYED, "cudagraph_nodes": 3, "graphs_recorded_while_timing": 2}
    assert no_recompile_while_timing(with_facts(**facts)).reason == finding.reason
    both = judge_mechanism(a_variant("graph_replayed", "no_recompile_while_timing"), [with_facts(**facts)])
    assert both == finding


def test_a_graph_recorded_again_before_timing_is_replayed_while_timing() -> None:
    assert replayed(cudagraph_rerecords=2).passed is True


def test_a_graph_recorded_again_nobody_knows_when_is_unknown() -> None:
    assert replayed(cudagraph_nodes_before_timing=None, cudagraph_rerecords=2).passed is None
    known = replayed(cudagraph_nodes_before_timing=None, cudagraph_rerecords=2, graphs_recorded_while_timing=0)
    assert known.passed is True


def test_a_mode_that_records_graphs_on_cuda_only_is_asked_for_them_there_only() -> None:
    assert graph_replayed_on_cuda(with_facts(device="cpu", cudagraph_skips=1)).passed is True
    assert graph_replayed_on_cuda(with_facts(**{**REPLAYED, "cudagraph_skips": 1})).passed is False
    assert graph_replayed_on_cuda(with_facts(**REPLAYED)).passed is True


@pytest.mark.parametrize("key", WITH_GRAPHS)
def test_max_autotune_on_cuda_must_replay_graphs_and_may_overwrite_its_outputs(key: str) -> None:
    """`torch._inductor.list_mode_options("max-autotune")` has `triton.cudagraphs`. Guard: the proofs in the catalog."""
    variant = find_variant(key)
    facts = {**COMPILED, **REPLAYED, "candidates_tried": 4, "autotuned_operations": 1}
    assert judge_mechanism(variant, [with_facts(**facts)]).passed is True
    silent = {**facts, "cudagraph_nodes": 0, "cudagraph_nodes_before_timing": 0, "graph_launches_per_call": 0.0}
    assert judge_mechanism(variant, [with_facts(**silent)]).passed is False
    finding = outputs(variant, facts)
    assert finding.passed is True and finding.reason.endswith("; output is overwritten by the next call")


@pytest.mark.parametrize("key", WITH_GRAPHS)
def test_a_small_gpu_tunes_nothing_and_only_what_is_about_tuning_did_not_run(key: str) -> None:
    """Precision and graphs did happen on the precision rungs. Guards: `may_tune_nothing`; the reason in `candidates_tuned`."""
    untuned = {**COMPILED, **REPLAYED, "candidates_tried": 0, "autotuned_operations": 0, "multiprocessors": 40}
    finding = judge_mechanism(find_variant(key), [with_facts(**untuned)])
    assert finding.passed is key.startswith("precision/")
    if not finding.passed:
        assert "0 candidates tuned on this device: not enough SMs. This GPU has 40 multiprocessors" in finding.reason


def test_tuning_of_changing_lengths_is_asked_for_on_cuda_and_not_on_a_cpu() -> None:
    """Guard: `candidates_tuned_on_cuda`."""
    article = find_variant("dynamic-shapes/no-cudagraphs")
    untuned = {**COMPILED, "device": "cuda:0", "candidates_tried": 0, "autotuned_operations": 0}
    assert judge_mechanism(article, [with_facts(**{**untuned, "device": "cpu"})]).passed is True
    tuned = {**untuned, "candidates_tried": 4, "autotuned_operations": 2}
    for name in ("no-cudagraphs", "no-cudagraphs-dynamic", "no-cudagraphs-static"):
        variant = find_variant(f"dynamic-shapes/{name}")
        assert judge_mechanism(variant, [with_facts(**tuned)]).passed is True
        assert judge_mechanism(variant, [with_facts(**untuned)]).passed is False


@pytest.mark.parametrize(
    "facts",
    [{"device": "cpu"}, {**REPLAYED, "cudagraph_nodes": 0, "graph_launches_per_call": 0.0}],
    ids=["on a CPU", "without a graph"],
)
def test_the_same_variant_is_wrong_when_something_else_overwrites_its_outputs(facts: dict[str, Any]) -> None:
    """Guard: `may_replay` in `_may_overwrite`."""
    finding = outputs(find_variant("max-autotune/documented"), facts)
    assert finding.passed is False
    assert "overwritten by the next call" in finding.reason


@pytest.mark.parametrize("key", ["max-autotune/no-cudagraphs", "max-autotune/freezing", "precision/bfloat16-best-cpu"])
def test_modes_without_graphs_may_overwrite_nothing(key: str) -> None:
    assert outputs(find_variant(key), REPLAYED).passed is False


def test_a_reason_that_is_a_sentence_loses_its_full_stop() -> None:
    """It becomes the end of a sentence that has one. Guard: `combine`."""
    skipped = {
        **REPLAYED,
        "cudagraph_skips": 1,
        "cudagraph_skip_reasons": ["skipping cudagraphs due to cpu device (x)"],
    }
    finding = judge_mechanism(a_variant("graph_replayed"), [with_facts(**skipped)])
    assert finding.reason == "CUDA graphs NOT used: Part of the work runs on the CPU, which a CUDA graph cannot hold"
    broken = {**COMPILED, "graph_breaks": 1, "graph_break_reasons": ["Call to print is not supported."]}
    finding = judge_mechanism(a_variant("no_eager_fallback"), [with_facts(**broken)])
    assert finding.reason == "partly eager: the graph broke 1 time: Call to print is not supported"
