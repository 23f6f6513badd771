"""The pages of pre-allocation and kernel fusion: charts against size, sentences, controls, what is not available here."""

from dataclasses import replace

import pytest

from engine.result import Machine
from engine.spec import Workload
from engine.worker import Worker
from tests.hand_made import MACHINE
from tests.pages.conftest import OpenPage, shown
from tests.pages.made_sweeps import EXPRESSION, made_fusion, made_preallocation, made_sweep


def has_charts(app: object, *keys: str) -> bool:
    ids = [each.proto.id for each in app.get("plotly_chart")]  # type: ignore[attr-defined]
    return all(any(found.endswith(f"-{key}") for found in ids) for key in keys)


def test_the_preallocation_page_has_its_four_parts(service: Worker, open_page: OpenPage) -> None:
    service.store.import_run(made_preallocation())
    app = open_page("preallocation.py", run="sweep")
    assert not app.exception
    headings = [each.value for each in app.subheader]
    parts = [
        "The article's example",
        "Sizes: ReLU in torch, float32",
        "Sizes: ReLU in numpy, float32",
        "The model",
        "Pooling and fragmentation",
    ]
    assert [heading for heading in headings if heading in parts] == parts
    assert has_charts(app, "chart_example", "chart_speedup_relu_float32_1", "chart_latency_relu_float32_1")


def test_of_a_whole_route_the_preallocation_page_shows_its_own_sizes_only(service: Worker, open_page: OpenPage) -> None:
    """Guard: the rows of one technique in `preallocation_view.show`."""
    own, other = made_preallocation(), made_fusion()
    points = (*own.experiment.workloads, *other.experiment.workloads)
    variants = (*own.experiment.variants, *other.experiment.variants)
    experiment = replace(own.experiment, workloads=points, variants=variants)
    service.store.import_run(replace(own, experiment=experiment, outcomes=(*own.outcomes, *other.outcomes)))
    app = open_page("preallocation.py")
    assert not app.exception
    headings = [each.value.replace("\\", "") for each in app.subheader]
    assert any("ReLU in torch" in each for each in headings) and not any("value * (b * c)" in each for each in headings)


def test_the_articles_example_is_judged_and_explained(service: Worker, open_page: OpenPage) -> None:
    service.store.import_run(made_preallocation())
    text = shown(open_page("preallocation.py", run="sweep"))
    assert "does not hold here" in text
    assert "np.dot makes its result first" in text.replace("\\", "")


def test_where_the_curves_part_is_said_with_its_page_faults(service: Worker, open_page: OpenPage) -> None:
    service.store.import_run(made_preallocation())
    text = shown(open_page("preallocation.py", run="sweep")).replace("\\", "")
    assert "Into a buffer (out=): faster at 64.0 MiB and above" in text
    assert "fresh result touches 16,384 fresh pages per call" in text


def test_what_needs_cuda_is_not_available_and_shows_no_number(service: Worker, open_page: OpenPage) -> None:
    service.store.import_run(made_preallocation())
    app = open_page("preallocation.py", run="sweep")
    text = shown(app).replace("\\", "")
    assert "Not available here: fragmentation is CUDA's allocator's" in text
    assert "source not found" in text
    assert "F_split" not in text


def test_the_fusion_page_explains_what_exceeds_the_traffic_bound(service: Worker, open_page: OpenPage) -> None:
    service.store.import_run(made_fusion())
    app = open_page("kernel_fusion.py", run="sweep")
    assert not app.exception
    text = shown(app).replace("\\", "")
    assert "more than the 2.00x that traffic can explain" in text
    assert "what is left of it is 2.0" in text
    assert "can come from the caches: what a call touches is less than four" in text
    assert has_charts(app, "chart_bandwidth_addcmul_float32_1", "chart_speedup_bias-gelu-norm_float32_1")


def test_integer_inputs_are_flagged(service: Worker, open_page: OpenPage) -> None:
    points = tuple(replace(point, dtype="int64") for point in EXPRESSION)
    run = made_sweep("kernel-fusion", points, facts={"value_note": "1 + 0.5 * (1 * 1) gives 1"})
    service.store.import_run(run)
    assert "Integer inputs with a float value, addcmul: 1 + 0.5 * (1 * 1) gives 1." in shown(
        open_page("kernel_fusion.py", run="sweep")
    )


@pytest.mark.parametrize("page", ["preallocation.py", "kernel_fusion.py"])
def test_the_controls_change_the_code_and_what_would_be_measured(open_page: OpenPage, page: str) -> None:
    app = open_page(page)
    if page == "preallocation.py":
        app.selectbox(key="code_for").set_value("relu").run()
    before = [each.value for each in app.code]
    app.number_input(key="operations").set_value(3).run()
    assert not app.exception
    assert [each.value for each in app.code] != before
    assert any("range(3)" in each.value for each in app.code)


def test_without_a_part_nothing_can_be_run(open_page: OpenPage) -> None:
    app = open_page("kernel_fusion.py")
    app.session_state["parts_kernel-fusion"] = []
    app.run()
    assert not app.exception
    assert app.button(key="run").disabled
    assert "Choose at least one part to measure" in shown(app)


def test_both_durations_stand_beside_the_sizes_before_anything_is_run(open_page: OpenPage) -> None:
    text = shown(open_page("preallocation.py"))
    assert "the default sizes take about" in text
    assert "the full range about" in text


def test_sizes_that_do_not_fit_are_left_out_with_a_sentence(
    service: Worker, open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    small: Machine = replace(MACHINE, memory_bytes=2**30)
    monkeypatch.setattr(service, "machine", lambda: small)
    app = open_page("kernel_fusion.py", sizes="full")
    text = shown(app).replace("\\", "")
    assert "134,217,728 elements need about" in text
    assert "1,024 elements need" not in text


def test_a_link_brings_sizes_dtype_and_caches(open_page: OpenPage) -> None:
    app = open_page("kernel_fusion.py", sizes="full", operator_dtype="bfloat16", cache="cold")
    state = app.session_state
    assert (state["sizes"], state["operator_dtype"], state["cache"]) == ("full", "bfloat16", "cold")
    assert "torch.bfloat16" in "".join(each.value for each in app.code)


def test_the_settings_of_the_shown_run_are_taken_over(service: Worker, open_page: OpenPage) -> None:
    points = tuple(Workload(operator="addcmul", elements=2**power, operations=4) for power in (11, 13))
    service.store.import_run(made_sweep("kernel-fusion", points))
    app = open_page("kernel_fusion.py", run="sweep")
    state = app.session_state
    assert (state["sizes"], list(state["powers"]), state["operations"]) == ("own", [11, 13], 4)
    assert state["parts_kernel-fusion"] == ["expression"]


@pytest.mark.parametrize(("sizes", "cache"), [("full", "cold"), ("Full range", "Cold")], ids=["keys", "labels"])
def test_a_link_brings_sizes_and_caches_back_by_key_and_by_the_label_that_widgets_write(
    open_page: OpenPage, sizes: str, cache: str
) -> None:
    app = open_page("kernel_fusion.py", sizes=sizes, cache=cache)
    assert not app.exception
    assert (app.session_state["sizes"], app.session_state["cache"]) == ("full", "cold")


def test_a_link_brings_the_parts_to_measure(open_page: OpenPage) -> None:
    labels = ["a + value * (b * c)", "bias + GELU + residual + LayerNorm"]
    app = open_page("kernel_fusion.py", **{"parts_kernel-fusion": labels[1:]})
    assert not app.exception
    assert list(app.session_state["parts_kernel-fusion"]) == ["chain"]
    both = open_page("kernel_fusion.py", **{"parts_kernel-fusion": labels})
    assert list(both.session_state["parts_kernel-fusion"]) == ["expression", "chain"]


def test_the_full_range_is_told_in_elements(open_page: OpenPage) -> None:
    """Guard: bytes depend on the dtype that is chosen beside it."""
    help_ = open_page("kernel_fusion.py").segmented_control(key="sizes").proto.help
    assert "2^10 to 2^27 for fusion" in help_ and "256 MB" not in help_
