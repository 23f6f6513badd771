"""Changing lengths on a real device: a CUDA graph per length, the right answer at each, and tuned kernels without replay."""

from dataclasses import replace
from pathlib import Path

from engine.catalog import find_variant
from engine.floors import facts_at
from engine.proof import judge_mechanism, judge_outputs
from engine.result import Measurement
from tests.child.conftest import tiny_model  # noqa: F401 - a fixture
from tests.child.measured import MeasuredChild, point, set_up

LENGTHS = (11, 24, 60)


def measure(model: Path, variant: str, folder: Path) -> Measurement:
    points = [point(model, 1, length) for length in LENGTHS]
    with MeasuredChild(folder) as child:
        measurement = child.measure(set_up(*points, variant=variant, device="cuda:0"))
        assert isinstance(measurement, Measurement), child.log()
        return measurement


def graphs_after(measurement: Measurement) -> list[int]:
    new = [sum(each.new_graphs or ()) for each in measurement.points]
    return [sum(new[: place + 1]) for place in range(len(new))]


def test_reduce_overhead_records_a_graph_for_every_length_and_answers_at_each(tiny_model: Path, tmp_path: Path) -> None:  # noqa: F811
    """R8, proven by a graph launch at every length."""
    measurement = measure(tiny_model, "dynamic-shapes/reduce-overhead", tmp_path)
    variant = find_variant(measurement.variant)
    for workload in measurement.workloads:
        at_this_length = replace(measurement, facts=facts_at(measurement, workload))
        finding = judge_mechanism(variant, [at_this_length])
        assert finding.passed, f"{workload.sequence_length}: {finding.reason}"
    nodes = measurement.facts["cudagraph_nodes"]
    assert nodes is None or nodes >= len(LENGTHS)
    assert measurement.facts["graphs_recorded_while_timing"] in (0, None)
    for workload in measurement.workloads:
        finding = judge_outputs(variant, workload, [replace(measurement, facts=facts_at(measurement, workload))])
        assert finding.passed, finding.reason


def test_the_articles_mode_compiles_no_more_after_the_second_length(tiny_model: Path, tmp_path: Path) -> None:  # noqa: F811
    """H4, METHOD 3."""
    measurement = measure(tiny_model, "dynamic-shapes/no-cudagraphs", tmp_path)
    assert graphs_after(measurement) == [1, 2, 2]
    assert not measurement.facts["cudagraph_nodes"]


def test_buckets_share_a_graph_and_give_the_answers_of_real_tokens(tiny_model: Path, tmp_path: Path) -> None:  # noqa: F811
    measurement = measure(tiny_model, "dynamic-shapes/buckets", tmp_path)
    assert graphs_after(measurement) == [1, 1, 2]
    for workload in measurement.workloads:
        finding = judge_outputs(find_variant(measurement.variant), workload, [measurement])
        assert finding.passed, finding.reason
