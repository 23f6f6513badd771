"""The landing page on a suite's runs: the same numbers as the command line, operators beside the model, claims by newest run."""

import json
import re
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from engine import results_csv
from engine.catalog import find_technique
from engine.cli.console import OUT
from engine.cli.report import show_table
from engine.comparison import ComparisonRow, compare_run, number
from engine.journey import drive_points
from engine.result import Run
from engine.slides import route_slides
from engine.worker import Worker
from tests.many_lengths import many_lengths_run
from tests.pages.conftest import OpenPage, shown
from tests.pages.made_runs import made_run
from tests.pages.made_sweeps import made_preallocation, made_sweep
from tests.pages.test_runs import wait_until_ended, wait_until_running

ROUTE = (
    ("torch-compile/default", None, None),
    ("preallocation/copyto", "numpy-dot-as-written", 3000),
    ("preallocation/out", "relu", 2**24),
    ("kernel-fusion/addcmul", "addcmul", 2**14),
    ("kernel-fusion/addcmul", "addcmul", 2**23),
)


@pytest.fixture
def suite(service: Worker, tmp_path: Path) -> list[ComparisonRow]:
    """What a suite leaves: several runs in one file, and in the store; the rows of the file."""
    runs = [
        made_run("models"),
        made_preallocation(run_id="operators"),
        made_sweep("kernel-fusion", drive_points(find_technique("kernel-fusion")), run_id="fusion"),
    ]
    results_csv.write(runs, tmp_path / "suite.csv")
    read = results_csv.read(tmp_path / "suite.csv")
    for run in read:
        service.store.import_run(run)
    return [row for run in read for row in compare_run(run)]


def board_of(app: AppTest) -> dict[str, str]:
    """Verdict on each claim by its figure."""
    table = next(each.value for each in app.table if "The article says" in each.value)
    plain = table.map(lambda text: text.replace("\\", "").replace("\u2060", ""))
    return dict(zip(plain["Its figure"], plain["Here"], strict=True))


def test_the_landing_page_and_the_suites_table_show_the_same_numbers(
    suite: list[ComparisonRow], service: Worker, open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(OUT, "_width", 200)
    app = open_page("journey.py", batch_size="8")
    assert not app.exception
    chart = app.get("plotly_chart")[0].proto
    with OUT.capture() as captured:
        for run_id in ("models", "operators", "fusion"):
            show_table(service.store.run(run_id))
    printed = " ".join(captured.get().replace("│", " ").split())
    found = [row for row in suite if (row.variant, row.workload.operator, row.workload.elements) in ROUTE]
    assert len(found) == len(ROUTE)
    for row in found:
        assert number(row) in chart.spec
        assert f"{row.label} {number(row)} {row.verdict}" in printed


def test_the_route_names_operators_by_their_size_and_speaks_of_the_model(suite: object, open_page: OpenPage) -> None:
    app = open_page("journey.py", batch_size="8")
    text = shown(app)
    assert "torch.compile is 1.40x" in text
    assert "np.copyto into a buffer, 3,000 elements" in text
    assert "Into a buffer (out=), 16,777,216 elements" in text
    subtitle = json.loads(app.get("plotly_chart")[0].proto.spec)["layout"]["title"]["subtitle"]["text"]
    assert "and 2 more runs" in subtitle.replace("<br>", " ").replace("\u00a0", " ")


def test_the_claims_board_draws_on_every_stored_run(suite: object, open_page: OpenPage) -> None:
    assert board_of(open_page("journey.py", batch_size="8")) == {
        "1.91x": "not testable here",
        "no recompiling": "not testable here",
        "4.9x": "does not hold here",
        "21.3 %": "not testable here",
        "20-70 %": "does not hold here",
        "1 launch, not 3": "holds here",
    }


def test_a_linked_run_does_not_hide_what_other_runs_found_of_the_claims(suite: object, open_page: OpenPage) -> None:
    assert board_of(open_page("journey.py", run="models"))["4.9x"] == "does not hold here"


def test_slides_judge_claims_by_the_same_runs_as_the_page(suite: object, open_page: OpenPage) -> None:
    """Guard: one claim, one verdict, whichever way the route is shown."""
    slides = open_page("journey.py", run="models", present="1", slide="99")
    assert not slides.exception
    assert board_of(slides) == board_of(open_page("journey.py", run="models"))


def test_the_suites_command_stands_with_about_how_long_it_takes(open_page: OpenPage) -> None:
    text = shown(open_page("journey.py"))
    assert re.search(r"Every variant of every step takes about \d+ (h|min) \d+ \w+ there, from a terminal", text)
    assert "`python -m engine suite`" in text


def test_a_dozen_newer_runs_of_one_technique_leave_the_whole_route_on_the_page(
    suite: object, service: Worker, open_page: OpenPage
) -> None:
    for place in range(13):
        service.store.import_run(made_run(f"again{place}", speedup=1.5))
    text = shown(open_page("journey.py", batch_size="8"))
    assert "torch.compile is 1.50x" in text
    assert "np.copyto into a buffer, 3,000 elements" in text


def test_a_newer_quick_run_does_not_take_the_verdict_away(suite: object, service: Worker, open_page: OpenPage) -> None:
    service.store.import_run(made_run("quick", speedup=1.7, protocol="quick"))
    app = open_page("journey.py", batch_size="8")
    assert "torch.compile is 1.40x" in shown(app)
    assert "Here: standard protocol, measured 30 Nov 2026, 09:03 UTC." in shown(app)


def test_a_newer_sample_of_another_machine_fills_its_own_page_and_not_the_route(
    sample: Run, samples_folder: Path, open_page: OpenPage
) -> None:
    assert sample.environment is not None
    device = replace(sample.environment.device, capability="another one")
    elsewhere = replace(sample.environment, device=device)
    lengths = many_lengths_run((24, 60, 90), environment=elsewhere, finished_at="2026-12-24T00:00:00+00:00")
    one = many_lengths_run((11,), environment=elsewhere, id="one length")
    results_csv.write([one, lengths], samples_folder / "a-lengths.csv")
    assert board_of(open_page("journey.py"))["no recompiling"] == "not testable here", "what this machine said, alone"
    assert "One length in detail" in shown(open_page("dynamic_shapes.py")), "the sample with the most to see"


def test_a_shipped_run_over_many_lengths_decides_the_claim_that_one_length_cannot(
    sample: Run, samples_folder: Path, open_page: OpenPage
) -> None:
    assert board_of(open_page("journey.py"))["no recompiling"] == "not testable here"
    lengths = many_lengths_run((24, 60, 90), environment=sample.environment)
    results_csv.write([lengths], samples_folder / "a-lengths.csv")
    app = open_page("journey.py")
    assert board_of(app)["no recompiling"] == "holds here"
    assert "torch.compile is 1.40x" in shown(app)
    assert "Shipped sample" in shown(app)


def test_what_has_been_driven_is_offered_again_and_two_clicks_make_one_run(
    service: Worker, open_page: OpenPage, go_on: threading.Event
) -> None:
    go_on.set()
    app = open_page("journey.py", protocol="quick")
    assert not [button for button in app.button if button.key == "drive_again"]
    first = app.button(key="drive_route").click().run().query_params["run"]
    wait_until_ended(service, first)
    app.run()
    assert app.button(key="drive_route").click().run().query_params["run"] == first
    assert not app.exception
    go_on.clear()
    second = app.button(key="drive_again").click().run().query_params["run"]
    other = open_page("journey.py", protocol="quick")
    assert other.button(key="drive_again").click().run().query_params["run"] == second != first


def test_arrow_keys_do_not_work_the_route_out_again(
    suite: object, open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []

    def counted(*arguments: object) -> object:
        made.append(1)
        return route_slides(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr("pages.parts.present.route_slides", counted)
    app = open_page("journey.py", batch_size="8", present="1")
    for _ in range(3):
        app.button(key="next").click().run()
    assert app.query_params["slide"] == "4" and made == [1]


def test_the_step_that_is_being_set_up_is_lit_until_the_run_has_ended(
    service: Worker, open_page: OpenPage, go_on: threading.Event
) -> None:
    app = open_page("journey.py", protocol="quick")
    run_id = app.button(key="drive_route").click().run().query_params["run"]
    wait_until_running(service, run_id)
    lit = [badge for badge in app.run().get("markdown") if "Being set up now" in str(badge.value)]
    assert not app.exception and len(lit) == 1
    assert (
        shown(app).index("torch.compile\n") < shown(app).index("Being set up now") < shown(app).index("CUDA Graphs\n")
    )
    go_on.set()
    wait_until_ended(service, run_id)
    assert "Being set up now" not in shown(app.run())
