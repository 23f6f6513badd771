"""Pages of CUDA graphs, max-autotune, precision and runtimes: with data, without, and on a device lacking the feature.

The GPU's run is made up as a whole: it shows what the page would say, and no number of it was measured.
"""

from dataclasses import replace
from typing import Any

import pytest

from engine.catalog import find_technique, find_variant, twin_of
from engine.comparison import compare_run
from engine.result import Device, Measurement, Run
from engine.spec import PROTOCOLS, Experiment
from engine.worker import Worker
from tests.hand_made import ENVIRONMENT
from tests.pages.conftest import OpenPage, shown
from tests.pages.made_runs import EAGER, POINT, made_run, measurement
from tests.unit.test_candidates import CLOSE, LINEAR, SAME_LATER, tuned

FAKE_GPU = Device(key="cuda:0", name="Made-up GPU", backend="cuda", identity="made-up", multiprocessors=132)
COMPILED_FACTS = {"frames_seen": 1, "frames_compiled": 1, "graphs": 1, "device": "cpu"}
RUNTIME_FACTS = {"runtime": "onnxruntime 1.32", "runtime_devices": ["CPUExecutionProvider"], "runtime_threads": 2}


def a_run(run_id: str, arms: dict[str, tuple[float, dict[str, Any]]], device: Device | None = None) -> Run:
    """Five made-up process sets of eager, its twin and `arms` (seconds per call and facts)."""
    everything = {EAGER: (20e-3, {"operators_per_call": 141.0}), twin_of(EAGER): (20e-3, {}), **arms}
    outcomes = [
        measurement(variant, process, call_s, POINT, facts)
        for process in range(5)
        for variant, (call_s, facts) in everything.items()
    ]
    experiment = Experiment(workloads=(POINT,), variants=tuple(arms), protocol=PROTOCOLS["standard"])
    run = replace(made_run(run_id), experiment=experiment, outcomes=tuple(outcomes))
    return _on_fake_gpu(run, device) if device else run


def _on_fake_gpu(run: Run, device: Device) -> Run:
    """The same run as if a GPU had worked for 5 ms of every call."""
    outcomes = [
        replace(outcome, blocks=tuple(replace(block, gpu_s=(5e-3,) * len(block.latency_s)) for block in outcome.blocks))
        for outcome in run.outcomes
        if isinstance(outcome, Measurement)
    ]
    return replace(
        run,
        experiment=replace(run.experiment, device=device.key),
        environment=replace(ENVIRONMENT, device=device),
        outcomes=tuple(outcomes),
    )


def test_a_precision_is_measured_beside_the_same_mode_in_float32(service: Worker, open_page: OpenPage) -> None:
    """Guard: `beside` of the technique; else nobody could tell what precision itself gave."""
    app = open_page("precision.py", protocol="quick")
    app.button(key="run").click().run()
    assert not app.exception
    wanted = service.store.run(app.query_params["run"]).experiment.variants
    assert [key for key in wanted if not key.startswith("precision/")] == ["max-autotune/freezing"]
    assert "precision/bfloat16" in wanted
    of_gpu = dict(find_technique("precision").beside)["cuda"]
    assert set(find_variant(of_gpu).proofs) >= {"graph_replayed_on_cuda", "candidates_tuned"}


def charts(app: Any) -> list[str]:
    return [element.proto.id for element in app.get("plotly_chart")]


def has_chart(app: Any, name: str) -> bool:
    return any(f"chart_{name}" in chart for chart in charts(app))


def test_max_autotune_shows_its_races_and_names_the_faster_runtime(service: Worker, open_page: OpenPage) -> None:
    facts = tuned(LINEAR, SAME_LATER, CLOSE) | COMPILED_FACTS | {"operators_per_call": 12.0}
    arms = {
        "max-autotune/documented": (19e-3, {**COMPILED_FACTS, **tuned(tried=0, autotuned=0)}),
        "max-autotune/freezing": (9e-3, facts),
        "runtimes/onnxruntime": (6e-3, RUNTIME_FACTS),
    }
    service.store.import_run(a_run("tuned", arms))
    app = open_page("max_autotune.py", run="tuned")
    assert not app.exception
    text = shown(app)
    assert "max-autotune + freezing is 2.2" in text
    assert "Faster in the same run: ONNX Runtime" in text
    assert "2 different operations tuned, 3 in all; generated kernels won 2 of them" in text
    assert "max-autotune, as documented: 0 candidates tuned on this device" in text
    assert has_chart(app, "race") and has_chart(app, "driving")
    assert app.selectbox(key="tuned_operation").options[0] == "packed_linear, 11 x 768 and 768 x 768, 2 times"
    app.selectbox(key="tuned_operation").select_index(1).run()
    assert not app.exception


def test_precision_carries_its_badge_and_its_races(service: Worker, open_page: OpenPage) -> None:
    facts = tuned(LINEAR) | COMPILED_FACTS
    service.store.import_run(a_run("half", {"precision/bfloat16-best-cpu": (4e-3, facts)}))
    app = open_page("precision.py", run="half")
    assert not app.exception
    assert "bfloat16, baseline float32" in shown(app)
    assert has_chart(app, "race")


def test_runtimes_lead_with_their_own_row_and_tell_that_their_operators_are_not_seen(
    service: Worker, open_page: OpenPage
) -> None:
    arms = {"runtimes/onnxruntime": (6e-3, RUNTIME_FACTS), "runtimes/openvino": (7e-3, RUNTIME_FACTS)}
    service.store.import_run(a_run("other", arms))
    app = open_page("runtimes.py", run="other")
    assert not app.exception
    assert "ONNX Runtime is 3.3" in shown(app)
    assert "Faster in the same run" not in shown(app)
    assert has_chart(app, "driving")


def test_without_cuda_the_page_of_cuda_graphs_explains_in_full_and_shows_no_number(open_page: OpenPage) -> None:
    app = open_page("cuda_graphs.py")
    assert not app.exception
    text = shown(app)
    assert "Not available here: this device has no CUDA" in text
    assert "CUDA graphs cannot help here: this device has no CUDA" in text
    assert "What a CUDA device would show" in [heading.value for heading in app.subheader]
    assert not charts(app)
    assert not app.metric


def test_reduce_overhead_without_cuda_did_not_run(service: Worker, open_page: OpenPage) -> None:
    facts = COMPILED_FACTS | {"cudagraph_skips": 1, "cudagraph_skip_reasons": ["skipping cudagraphs due to cpu device"]}
    service.store.import_run(a_run("skipped", {"cuda-graphs/reduce-overhead": (12e-3, facts)}))
    app = open_page("cuda_graphs.py", run="skipped")
    text = shown(app)
    (badge,) = [badge for badge in compare_run(service.store.run("skipped"))[-1].badges if "CUDA graphs" in badge.text]
    assert badge.meaning.endswith("Part of the work runs on the CPU, which a CUDA graph cannot hold.")
    assert "reduce-overhead did not run" in text
    assert "1.6" not in text.split("What it costs")[0]
    assert "reduce-overhead: Part of the work runs on the CPU, which a CUDA graph cannot hold." in text


def test_a_made_up_gpu_run_tells_what_graphs_can_bring_and_what_serving_costs(
    service: Worker, open_page: OpenPage
) -> None:
    launches = {"kernel_launches_per_call": 96.0, "graph_launches_per_call": 0.0, "device": "cuda:0"}
    replayed = {"kernel_launches_per_call": 0.0, "graph_launches_per_call": 1.0, "device": "cuda:0"}
    arms = {
        EAGER: (20e-3, launches),
        "cuda-graphs/eager-replay": (5e-3, replayed),
        "cuda-graphs/eager-served": (5.5e-3, replayed),
    }
    service.store.import_run(a_run("fake-gpu", arms, FAKE_GPU))
    app = open_page("cuda_graphs.py", run="fake-gpu")
    assert not app.exception
    text = shown(app)
    assert "CUDA graphs can help at most wall/GPU = 4.0" in text
    assert "Captured eager, served: 5.5" in text and "copies cost" in text
    assert has_chart(app, "driving")


@pytest.mark.parametrize("page", ["max_autotune.py", "precision.py", "runtimes.py"])
def test_without_data_no_race_and_no_road_is_drawn(open_page: OpenPage, page: str) -> None:
    app = open_page(page)
    assert not app.exception
    assert "Nothing measured here yet" in shown(app)
    assert not charts(app)
