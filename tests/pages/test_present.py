"""Present mode on every page: slides instead of the page, the place in the link, a way in and a way out."""

from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from engine import captions, catalog
from engine.device_comparison.collection import digest_of
from engine.result import Run
from engine.worker import Worker
from tests.pages.conftest import OpenPage, shown
from tests.pages.made_runs import POINT, made_run

PAGES = [
    "journey.py",
    "results.py",
    "compare.py",
    "glossary.py",
    "pitfalls.py",
    *(each.page for each in catalog.TECHNIQUES),
]
WITH_A_RESULT = ["journey.py", "torch_compile.py", "results.py"]


def sentence_of(app: AppTest) -> str:
    return app.markdown[0].value.replace("\\", "").replace("\u2060", "").removeprefix("# ")


@pytest.mark.parametrize("page", WITH_A_RESULT)
def test_slides_come_from_the_shipped_sample_without_menu_or_controls(
    sample: object, open_page: OpenPage, page: str
) -> None:
    app = open_page(page, present="1", **({"run": "sample"} if page == "results.py" else {}))
    assert not app.exception
    assert sentence_of(app).startswith("torch.compile is 1.40x")
    assert len(app.get("plotly_chart")) == 1
    assert not app.title and not app.selectbox and not app.number_input
    assert [button.label for button in app.button] == ["Back", "Next", "Leave", "Page up", "Page down"]


def test_next_and_back_change_the_link_and_a_reload_keeps_the_place(sample: object, open_page: OpenPage) -> None:
    app = open_page("torch_compile.py", present="1")
    assert app.button(key="back").disabled
    app.button(key="next").click().run()
    second = sentence_of(app)
    assert app.query_params["slide"] == "2" and second.startswith("Half of the calls")
    assert sentence_of(open_page("torch_compile.py", present="1", slide="2")) == second
    app.button(key="back").click().run()
    assert sentence_of(app).startswith("torch.compile is 1.40x")
    last = open_page("torch_compile.py", present="1", slide="99")
    assert last.button(key="next").disabled and not last.exception


@pytest.mark.parametrize("slide", ["0", "-1", "two", "1e9", "9" * 50])
def test_a_slide_that_cannot_be_is_refused_in_one_sentence(sample: object, open_page: OpenPage, slide: str) -> None:
    app = open_page("torch_compile.py", present="1", slide=slide)
    assert not app.exception
    assert [text.value for text in app.text if "slide=" in text.value and "whole numbers from 1 to 999" in text.value]


@pytest.mark.parametrize("page", PAGES)
def test_a_page_with_nothing_to_present_says_so_and_can_be_left(open_page: OpenPage, page: str) -> None:
    app = open_page(page, present="1")
    assert not app.exception
    app.button(key="leave").click().run()
    assert not app.exception
    assert "present" not in app.query_params and app.title


@pytest.mark.parametrize("page", WITH_A_RESULT)
def test_the_button_on_a_result_names_its_run_and_leaving_brings_the_settings_back(
    service: Worker, open_page: OpenPage, page: str
) -> None:
    service.store.import_run(made_run("eight"))
    app = open_page(page, run="eight")
    app.button(key="present").click().run()
    assert app.query_params["present"] == "1" and app.query_params["run"] == "eight"
    app.button(key="leave").click().run()
    assert not app.exception
    assert "the settings now differ" not in shown(app)
    assert app.session_state["batch_size"] == 8


def test_the_workload_that_the_link_names_is_the_one_presented(service: Worker, open_page: OpenPage) -> None:
    run = two_points()
    service.store.import_run(run)
    first, second = (captions.of_workload(point) for point in run.experiment.workloads)
    told = [sentence_of(open_page("results.py", run=run.id, present="1", workload=name)) for name in (first, second)]
    assert "is 1.4" in told[0] and "is 2.0" in told[1]


def two_points() -> Run:
    """One run at two batch sizes, faster at the second."""
    small, large = made_run(), made_run(speedup=2.0, point=replace(POINT, batch_size=16))
    points = (*small.experiment.workloads, *large.experiment.workloads)
    experiment = replace(small.experiment, workloads=points)
    return replace(small, experiment=experiment, outcomes=(*small.outcomes, *large.outcomes))


def test_compared_runs_are_one_slide(service: Worker, open_page: OpenPage) -> None:
    for name in ("one", "two"):
        service.store.import_run(made_run(name, label=name))
    app = open_page("results.py", runs="one,two", present="1")
    assert sentence_of(app).startswith("2 runs side by side")
    assert len(app.get("plotly_chart")) == 1


FIRST_PRICE = f"price_{digest_of(b'Hand-made CPU, 2 cores')[:8]}"


def compared_set(service: Worker) -> dict[str, str]:
    """A link to two runs on two devices."""
    first, second = made_run("first"), made_run("second", speedup=2.0)
    assert second.environment is not None
    device = replace(second.environment.device, name="Another CPU", identity="another")
    for run in (first, replace(second, environment=replace(second.environment, device=device))):
        service.store.import_run(run)
    return {"set": service.store.add_set("two", run_ids=("first", "second"), frames={}, details={}), "present": "1"}


def test_compared_devices_are_slides_and_the_link_says_what_of_them(service: Worker, open_page: OpenPage) -> None:
    link = compared_set(service)
    app = open_page("compare.py", **link)
    assert not app.exception and not app.title and not app.selectbox
    assert (
        sentence_of(app).startswith("Another CPU is 1.20x as fast as Hand-made CPU")
        and len(app.get("plotly_chart")) == 1
    )
    told = [sentence_of(open_page("compare.py", **link, slide=str(place))) for place in (2, 3)]
    assert told[0].startswith("Fastest here is torch.compile on Another CPU")
    assert told[1].startswith("Largest speed-up over the device's own baseline")
    assert app.markdown[1].value == "**1** of 3"


def test_prices_and_the_reference_device_are_those_of_the_link(service: Worker, open_page: OpenPage) -> None:
    link = compared_set(service)
    priced = open_page("compare.py", **link, **{FIRST_PRICE: "1.5"}, slide="4")
    assert sentence_of(priced).startswith("Cheapest here: torch.compile on Hand-made CPU, 2 cores (float32), ")
    assert priced.table[0].value["Per hour"].tolist() == ["1\\.50"] * 2
    plain, turned = (sentence_of(open_page("compare.py", **link, **more)) for more in ({}, {"against": "Another CPU"}))
    assert plain.startswith("Another CPU is ") and turned.endswith(
        "as fast as Another CPU (geometric mean over 2 common configurations)."
    )


@pytest.mark.parametrize(
    "more", [{FIRST_PRICE: "1e400"}, {"against": "<b>"}, {"point": "x"}, {"measure": "y"}], ids=str
)
def test_what_a_link_says_of_nothing_here_is_passed_over(
    service: Worker, open_page: OpenPage, more: dict[str, str]
) -> None:
    app = open_page("compare.py", **compared_set(service), **more)
    assert not app.exception and app.markdown[1].value == "**1** of 3"


def test_leaving_a_comparison_brings_its_boxes_back(service: Worker, open_page: OpenPage) -> None:
    app = open_page("compare.py", **compared_set(service) | {"against": "Another CPU"})
    app.button(key="leave").click().run()
    assert not app.exception and app.title[0].value == "Compare devices"
    assert app.selectbox(key="against").value == "Another CPU"


def test_a_choice_written_as_the_widgets_write_it_is_understood(open_page: OpenPage) -> None:
    app = open_page("torch_compile.py", protocol="Quick")
    assert not [text for text in app.text if "protocol=" in text.value]
    assert app.session_state["protocol"] == "quick"
