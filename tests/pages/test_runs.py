"""Runs on pages: pressed, followed, found again, measured anew, named, compared, deleted."""

import re
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from engine import worker
from engine.spec import Workload
from engine.worker import Worker
from tests.pages.conftest import ROOT, OpenPage, has_run, shown
from tests.pages.made_runs import made_run

SMALL = Workload(model="distilbert-base-uncased", batch_size=1, sequence_length=11)


def press_run(app: AppTest) -> str:
    """Press Run and tell which run the address names then."""
    app.button(key="run").click().run()
    assert not app.exception
    return app.query_params["run"]


def wait_until_ended(service: Worker, run_id: str) -> None:
    deadline = time.monotonic() + 20
    while service.store.status(run_id) in ("queued", "running"):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def wait_until_running(service: Worker, run_id: str) -> None:
    deadline = time.monotonic() + 20
    while service.progress(run_id) is None or service.progress(run_id).phase == "start":
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_run_is_followed_by_any_browser_and_ends_in_its_result(
    service: Worker, open_page: OpenPage, go_on: threading.Event
) -> None:
    app = open_page("torch_compile.py", protocol="quick")
    run_id = press_run(app)
    wait_until_running(service, run_id)
    for followed in (app.run(), open_page("torch_compile.py", run=run_id), open_page("results.py", run=run_id)):
        assert followed.button(key="cancel")
        told = followed.progress[0].text.replace("\\", "").replace("\u2060", "")
        assert re.fullmatch(r"torch.compile: warm up · about 7\d\.0 s left", told)
        assert not followed.get("plotly_chart")
    go_on.set()
    wait_until_ended(service, run_id)
    app.run()
    assert len(app.get("plotly_chart")) == 4
    assert app.query_params["run"] == run_id


def test_the_same_settings_show_the_stored_result_at_once_and_measure_again_makes_a_new_one(
    service: Worker, open_page: OpenPage, go_on: threading.Event
) -> None:
    go_on.set()
    first = press_run(open_page("torch_compile.py", protocol="quick"))
    wait_until_ended(service, first)
    app = open_page("torch_compile.py", protocol="quick")
    assert press_run(app) == first
    assert "measured" in shown(app)
    app.button(key="measure_again").click().run()
    assert app.query_params["run"] != first


def test_a_second_run_waits_with_its_place_in_the_queue_and_can_be_cancelled(
    service: Worker, open_page: OpenPage
) -> None:
    running = press_run(open_page("torch_compile.py", protocol="quick"))
    wait_until_running(service, running)
    app = open_page("torch_compile.py", protocol="quick", batch_size="2")
    waiting = press_run(app)
    assert "Number 1 in the queue" in app.progress[0].text
    app.button(key="cancel").click().run()
    app.run()
    assert service.store.status(waiting) == "cancelled"
    assert service.store.status(running) == "running"
    assert "This run was cancelled" in shown(app)


def test_a_chart_says_what_it_was_measured_with_after_the_settings_changed(
    service: Worker, open_page: OpenPage
) -> None:
    service.store.import_run(made_run("eight"))
    app = open_page("torch_compile.py", run="eight")
    app.number_input(key="batch_size").set_value(16).run()
    assert "measured with batch 8; the settings now differ" in shown(app)
    assert len(app.get("plotly_chart")) == 4
    assert app.button(key="measure_again").label == "Measure with these settings"


def test_an_interrupted_run_shows_what_it_has_and_can_be_run_again(service: Worker, open_page: OpenPage) -> None:
    whole = made_run("cut")
    service.store.import_run(replace(whole, status="running", outcomes=whole.outcomes[:6]))
    app = open_page("torch_compile.py", run="cut")
    assert "This run was interrupted" in shown(app)
    assert "no verdict" in shown(app)
    assert app.button(key="measure_again")


def test_the_result_list_names_every_run_and_none_when_empty(service: Worker, open_page: OpenPage) -> None:
    assert "Every run will be listed here" in shown(open_page("results.py"))
    for name in ("one", "two"):
        service.store.import_run(made_run(name, label=f"label of {name}", point=SMALL))
    app = open_page("results.py")
    assert list(app.dataframe[-1].value["label"]) == ["label of two", "label of one"]
    assert app.button(key="delete").disabled and app.button(key="open").disabled


def test_runs_are_compared_side_by_side_each_over_its_own_baseline(service: Worker, open_page: OpenPage) -> None:
    service.store.import_run(made_run("one", speedup=1.4))
    service.store.import_run(made_run("two", speedup=0.71, point=SMALL, label="tiny"))
    app = open_page("results.py", runs="one,two,one,gone")
    assert not app.exception
    table = app.dataframe[0].value
    assert [number.split(" ")[0] for number in table["speed-up"]] == ["baseline", "1.40x", "baseline", "0.71x"]
    assert "run 'gone', which is not here" in shown(app)
    assert [button.label for button in app.get("download_button")] == ["Result CSV", "Markdown table"]


def test_a_label_and_a_note_are_saved(service: Worker, open_page: OpenPage) -> None:
    service.store.import_run(made_run("one"))
    app = open_page("results.py", run="one")
    app.text_input(key="label_one").set_value("A100, quiet")
    app.text_area(key="note_one").set_value("driver 580")
    app.button(key="save_label").click().run()
    assert (service.store.run("one").label, service.store.run("one").note) == ("A100, quiet", "driver 580")
    assert "A100, quiet · driver 580" in shown(app)


@pytest.mark.parametrize(("button", "is_kept"), [("keep", True), ("delete_for_good", False)])
def test_a_run_is_deleted_only_after_a_confirmation(
    service: Worker, open_page: OpenPage, button: str, is_kept: bool
) -> None:
    service.store.import_run(made_run("one"))
    app = open_page("results.py", run="one")
    app.button(key="delete_shown").click().run()
    assert has_run(service.store, "one")
    app.button(key=button).click().run()
    assert not app.exception
    assert has_run(service.store, "one") == is_kept


def test_a_data_folder_that_cannot_be_used_gives_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("LATENCY_LAB_DATA", str(tmp_path / "file" / "data"))
    worker.stop()
    app = AppTest.from_file(str(ROOT / "pages" / "router.py"), default_timeout=30).run()
    assert not app.exception
    assert len(app.text) == 1
    assert "set LATENCY_LAB_DATA to" in app.text[0].value


def test_a_ticked_sample_is_said_to_be_one_and_nothing_is_deleted(
    sample: object, service: Worker, open_page: OpenPage
) -> None:
    service.store.import_run(made_run("own"))
    app = open_page("results.py")
    app.session_state["runs"] = {"selection": {"rows": [0, 1], "columns": [], "cells": []}}
    app.run()
    app.button(key="delete").click().run()
    assert not app.exception
    assert "Run 'sample' is a shipped sample: it came with Latency Lab and cannot be deleted." in shown(app)
    assert has_run(service.store, "own")
