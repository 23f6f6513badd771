"""The Pitfalls page: empty with one button, with numbers by a link, where something failed, and while it is measured."""

from pathlib import Path

from engine import results_csv
from engine.catalog import PITFALLS
from engine.catalog.pitfalls import COMPILED
from engine.worker import Worker
from tests.made_pitfalls import made_pitfalls, without
from tests.pages.conftest import OpenPage, shown


def test_an_empty_page_has_one_button_and_teaches_all_ten(open_page: OpenPage) -> None:
    app = open_page("pitfalls.py")
    assert not app.exception
    text = shown(app)
    assert "Nothing measured here yet" in text
    assert app.button(key="measure_first").label == "Measure it now"
    assert "on a 2-core machine" in text
    assert all(pitfall.title in text and pitfall.rule in text for pitfall in PITFALLS)
    assert [block.value for block in app.code][1:] == [pitfall.code.strip() for pitfall in PITFALLS]
    assert text.count("not measured here yet") == 10


def test_a_linked_run_shows_reported_right_and_error_of_each(service: Worker, open_page: OpenPage) -> None:
    service.store.import_run(made_pitfalls())
    app = open_page("pitfalls.py", run="ten")
    assert not app.exception
    text = shown(app)
    assert "8 of the 9 mistakes measured here changed the number" in text
    assert "not available here: this device has no CUDA" in text
    assert len(app.get("plotly_chart")) == 1
    assert len(app.table) == 9
    cells = [str(cell).replace("\\", "") for table in app.table for cell in table.value.to_numpy().ravel()]
    assert "0.20x" in cells and "too slow" in " ".join(cells)
    assert app.get("download_button")


def test_what_failed_says_so_in_its_place(service: Worker, open_page: OpenPage) -> None:
    service.store.import_run(without(made_pitfalls(), COMPILED, "No C++ compiler: g++ was not found."))
    app = open_page("pitfalls.py", run="ten")
    assert not app.exception
    assert shown(app).count("failed: No C++ compiler: g++ was not found.") == 2
    assert len(app.table) == 7


def test_the_button_submits_everything_that_the_ten_need(service: Worker, open_page: OpenPage) -> None:
    app = open_page("pitfalls.py", protocol="quick")
    app.button(key="measure_first").click().run()
    assert not app.exception
    (run,) = service.store.runs()
    assert {pitfall.run_by for pitfall in PITFALLS} <= set(run.experiment.variants)
    assert [point.subject for point in run.experiment.workloads] == ["distilbert-base-uncased", "numpy-dot"]
    assert app.button(key="cancel")
    service.cancel(run.id)


def test_a_run_of_pitfalls_speaks_on_its_own_page_only(service: Worker, open_page: OpenPage) -> None:
    service.store.import_run(made_pitfalls())
    assert "mistakes measured here" in shown(open_page("pitfalls.py"))
    assert "Nothing measured here yet" in shown(open_page("baseline.py"))
    assert not open_page("journey.py").get("plotly_chart")


def test_a_shipped_sample_fills_the_page_and_its_slides_and_no_other_page(
    samples_folder: Path, open_page: OpenPage
) -> None:
    results_csv.write([made_pitfalls()], samples_folder / "pitfalls.csv")
    app = open_page("pitfalls.py")
    assert not app.exception
    assert "8 of the 9 mistakes measured here" in shown(app) and "Shipped sample" in shown(app)
    slides = open_page("pitfalls.py", present="1")
    assert not slides.exception and "8 of the 9 mistakes measured here" in slides.markdown[0].value
    assert "Nothing measured here yet" in shown(open_page("journey.py"))
    assert "Nothing measured here yet" in shown(open_page("torch_compile.py"))
