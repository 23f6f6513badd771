"""The landing page on a suite's runs: the same numbers as the command line, operators beside the model, claims by newest run."""

import json
import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from engine import results_csv
from engine.catalog import find_technique
from engine.cli.console import OUT
from engine.cli.report import show_table
from engine.comparison import ComparisonRow, compare_run, number
from engine.journey import drive_points
from engine.worker import Worker
from tests.pages.conftest import OpenPage, shown
from tests.pages.made_runs import made_run
from tests.pages.made_sweeps import made_preallocation, made_sweep

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
