"""What graphs can bring at most, what they did, stops per call: hand-made rows and facts stand for a GPU's."""

import textwrap
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from engine import launch_bound, replay, stops
from engine.catalog import find_variant, label_of
from engine.charts import driving, launch_map
from engine.comparison import ComparisonRow
from engine.result import Run
from engine.spec import Workload
from engine.verdict import Verdict
from tests.hand_made import ENVIRONMENT, POINT, experiment, measurement

EAGER, GRAPH = "baseline/eager", "cuda-graphs/reduce-overhead"
REPLAY, SERVED = "cuda-graphs/eager-replay", "cuda-graphs/eager-served"


def a_row(variant: str = EAGER, workload: Workload = POINT, **changes: Any) -> ComparisonRow:
    """A row of a made-up GPU."""
    values: dict[str, Any] = {
        "run_id": "r", "run_label": "", "measured_at": "2026-11-30", "device": "cuda:0", "device_name": "Made-up GPU",
        "protocol": "standard", "variant": variant, "technique": variant.partition("/")[0], "label": label_of(variant),
        "workload": workload, "precision": "float32", "baseline": EAGER, "baseline_label": "Eager",
        "is_baseline": variant == EAGER, "is_twin": False, "verdict": Verdict.FASTER, "reason": "", "samples": 100,
    }  # fmt: skip
    return ComparisonRow(**{**values, **changes})


def a_run(device: str = "cuda:0", **facts: dict[str, Any]) -> Run:
    """Facts by variant's short name; the device is made up."""
    keys = {"eager": EAGER, "graph": GRAPH, "onnx": "runtimes/onnxruntime"}
    outcomes = tuple(replace(measurement(keys[name]), facts=known) for name, known in facts.items())
    return Run(
        id="r", experiment=replace(experiment(), device=device), status="done", submitted_at="2026-11-30T09:00:00+00:00",
        environment=ENVIRONMENT, outcomes=outcomes,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("row", "device", "words"),
    [
        (a_row(median_s=5.6e-3, gpu_s=2e-3), "cuda:0", "CUDA graphs can help at most wall/GPU = 2.80x here"),
        (a_row(median_s=2.1e-3, gpu_s=2e-3), "cuda:0", "can hardly help here, 1.05x at most: GPU-bound"),
        (
            a_row(median_s=5.6e-3, gpu_s=2e-3, gpu_is_profiled=True),
            "cuda:0",
            "the GPU works for 2.00 ms of it by the profiler, since the call waits for the GPU in its middle",
        ),
        (a_row(median_s=2.1e-3, gpu_s=None), "cuda:0", "Measured here, but what CUDA graphs can bring is not known"),
        (a_row(), "cuda:0", "Not known before the first run here"),
        (None, "cuda:0", "Not known before the first run here"),
        (a_row(median_s=5.6e-3), "cpu", "this device has no CUDA"),
    ],
)
def test_what_graphs_can_bring_is_said_before_any_graph_is_made(row: Any, device: str, words: str) -> None:
    assert words in launch_bound.sentence(row, device)


def test_the_map_has_one_cell_per_batch_and_length_of_one_model() -> None:
    """Guards: other models, dtypes and variants would be other ratios; the newest run speaks for a point."""
    long, other = replace(POINT, sequence_length=128, batch_size=8), replace(POINT, model="another")
    rows = [
        a_row(median_s=3e-3, gpu_s=1e-3),
        a_row(median_s=9e-3, gpu_s=1e-3),
        a_row(workload=long, median_s=4e-3, gpu_s=3.9e-3),
        a_row(workload=other, median_s=9e-3, gpu_s=1e-3),
        a_row(GRAPH, replace(POINT, sequence_length=32), median_s=1e-3, gpu_s=1e-3),
        a_row(workload=replace(POINT, sequence_length=64), median_s=1e-3),
    ]
    gains = launch_bound.gains(rows, POINT)
    assert gains == {(1, 11): 3.0, (8, 128): pytest.approx(1.0256, rel=1e-3)}
    figure = launch_map.launch_map(gains)
    assert figure.data[0].text[0][0] == "<b>3.00x</b>" and figure.data[0].text[0][1] == ""
    assert "batch 8, 128 tokens: 1.03x" in launch_map.alt_text(gains)


def test_serving_is_told_apart_from_the_bare_replay() -> None:
    rows = [a_row(REPLAY, median_s=20e-6), a_row(SERVED, median_s=31e-6)]
    assert replay.served_sentences(rows) == [
        "Captured eager, served: 31.0 us per call, captured eager, replay only: 20.0 us; copies cost 11.0 us."
    ]
    assert replay.served_sentences(rows[:1]) == []


def test_private_pools_are_named_where_they_were_read() -> None:
    rows = [a_row(GRAPH, memory={"private_pool_bytes": 2**24}), a_row(memory={"private_pool_bytes": None})]
    assert replay.pool_sentences(rows) == ["reduce-overhead keeps 16.0 MiB in private pools."]


def test_reasons_for_a_skipped_graph_are_sentences_once_each() -> None:
    reason = "skipping cudagraphs due to cpu device (arg0_1)"
    run = a_run(graph={"cudagraph_skip_reasons": [reason, reason, "something new"]})
    assert replay.skip_sentences(run, POINT) == [
        "reduce-overhead: Part of the work runs on the CPU, which a CUDA graph cannot hold.",
        'reduce-overhead: Torch says: "something new".',
    ]


def test_a_replayed_graph_is_one_stop_on_a_motorway() -> None:
    """Made-up profiler counts of a GPU. Guard: launches of kernels and of graphs are both stops."""
    eager = {"kernel_launches_per_call": 96.0, "graph_launches_per_call": 0.0, "operators_per_call": 141.0}
    graph = {"kernel_launches_per_call": 0.0, "graph_launches_per_call": 1.0, "operators_per_call": 2.0}
    run = a_run(eager=eager, graph=graph)
    found = stops.drives(run, [a_row(), a_row(GRAPH)])
    assert [each.words for each in found] == ["96 launches, city driving", "1 launch, motorway"]
    assert "reduce-overhead: 1 launch, motorway" in driving.alt_text(found)


def test_on_a_cpu_operators_are_stops_and_another_runtimes_cannot_be_counted() -> None:
    run = a_run(
        "cpu", eager={"operators_per_call": 141.0}, onnx={"operators_per_call": 0.0, "runtime": "onnxruntime 1"}
    )
    eager, other = stops.drives(run, [a_row(), a_row("runtimes/onnxruntime")])
    assert eager.words == "141 operators, city driving"
    assert other.stops is None and "another runtime" in other.words


def test_on_a_gpu_whose_launches_nobody_saw_operators_are_no_stops() -> None:
    """Without CUPTI kernels and launches are unknown. Guard: the device in `_started`."""
    unseen = {"kernel_launches_per_call": None, "graph_launches_per_call": None, "kernels_per_call": None}
    run = a_run(eager={**unseen, "operators_per_call": 141.0})
    assert stops.drives(run, [a_row()]) == []


def test_without_any_count_there_is_no_picture() -> None:
    assert stops.drives(a_run("cpu", eager={}), [a_row()]) == []


def test_many_stops_share_marks_and_the_title_says_so() -> None:
    run = a_run("cpu", eager={"operators_per_call": 400.0}, graph={"operators_per_call": 90.0})
    figure = driving.driving(stops.drives(run, [a_row(), a_row(GRAPH)]))
    assert [len(trace.x) for trace in figure.data if trace.mode == "markers"] == [133, 30]
    assert "each mark stands for 3" in figure.layout.title.text


class Box:
    """A tensor as far as the served code needs one."""

    def __init__(self, value: int) -> None:
        self.value = value

    def copy_(self, other: "Box") -> None:
        self.value = other.value

    def clone(self) -> "Box":
        return Box(self.value)


@pytest.mark.parametrize("variant", ["cuda-graphs/eager-served", "cuda-graphs/compiled-served"])
def test_the_served_code_to_copy_puts_a_new_request_into_what_the_graph_reads(variant: str) -> None:
    """Run with boxes for tensors from the capture on. Guard: `static_inputs`; a request copied onto itself serves the old one."""
    code = find_variant(variant).code
    tail = textwrap.dedent(code[code.index("    for name, value in inputs.items():") :])
    static_inputs, static_outputs = {"input_ids": Box(1)}, {"hidden": Box(0)}
    replay = SimpleNamespace(replay=lambda: static_outputs["hidden"].copy_(static_inputs["input_ids"]))
    names: dict[str, Any] = {
        "inputs": {"input_ids": Box(7)}, "static_inputs": static_inputs, "static_outputs": static_outputs, "graph": replay,
    }  # fmt: skip
    exec(tail, names)
    assert names["outputs"]["hidden"].value == 7
    assert "static_inputs = {name: value.clone()" in code and "(**inputs)" not in code
