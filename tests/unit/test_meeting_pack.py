"""The meeting pack: one file, every chart in it, nothing from outside, foreign text as text; from pages and the command line."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from engine import results_csv
from engine.catalog import CLAIMS
from engine.cli.meeting import meeting
from engine.comparison import compare_run
from engine.errors import UserError
from engine.exports import meeting_pack
from engine.journey import steps
from engine.result import Run
from tests.pages.made_runs import MADE_CPU, POINT, made_run, with_failure
from tests.pages.made_sweeps import made_fusion
from tests.unit.test_exports import HOSTILE, Elements


def pack_of(run: Run) -> str:
    results = [(run, compare_run(run))]
    return meeting_pack(steps(results, POINT), results)


def test_the_pack_holds_route_advice_claims_distributions_costs_and_environment() -> None:
    pack = pack_of(made_run())
    for words in (
        "torch.compile is 1.40x [",
        "Speed-up over eager",
        "Use torch.compile here: 1.40x (faster)",
        "The claims board",
        "Latency per call: p5, quartiles, p95",
        "Total time including set-up",
        "What it costs",
        "Did it really happen?",
        "Environment: Hand-made CPU, 2 cores",
        "python -m engine run --variant torch-compile/default",
        "Not measured: CUDA Graphs",
    ):
        assert words in pack, words
    assert all(claim.statement.split(",")[0] in pack for claim in CLAIMS)


def test_the_pack_needs_no_network_and_brings_plotly_once() -> None:
    pack = pack_of(made_run())
    tags = Elements(pack).tags
    assert not [attributes for tag, attributes in tags if tag in ("link", "img", "iframe") or attributes.get("src")]
    assert len(re.findall(r"\* plotly\.js v", pack)) == 1
    assert pack.count('class="plotly-graph-div"') == 5
    charts = [attributes["aria-label"] for tag, attributes in tags if tag == "figure"]
    assert len(charts) == 5 and all(charts)


def test_no_chart_offers_to_upload_itself() -> None:
    pack = pack_of(made_run())
    assert pack.count('"modeBarButtonsToRemove": ["sendChartToCloud"') == 5


def test_every_chart_of_the_pack_says_where_it_was_measured() -> None:
    figures = pack_of(made_run()).split("<figure")[1:]
    for figure in figures:
        told = figure.replace("\\u00a0", " ").replace("\u00a0", " ")
        assert "Hand-made CPU, 2 cores" in told and "measured 30 Nov 2026" in told


def test_foreign_text_stays_text_in_the_pack() -> None:
    run = with_failure(made_run(label=HOSTILE), HOSTILE)
    pack = pack_of(run)
    assert "<script>alert" not in pack


def test_the_pack_judges_claims_by_every_run_the_page_rests_on() -> None:
    run = made_run()
    results = [(each, compare_run(each)) for each in (run, made_fusion())]
    found = steps(results[:1], POINT)
    assert "holds here" not in meeting_pack(found, results[:1]).replace("does not hold here", "")
    assert "1 operator per call instead of 3" in meeting_pack(found, results)


def test_without_a_result_the_pack_says_so() -> None:
    assert "Nothing has been measured yet" in meeting_pack(steps([], POINT), [])


def test_the_command_line_writes_the_same_pack(tmp_path: Path) -> None:
    target = tmp_path / "out.html"
    results_csv.write([made_run()], tmp_path / "run.csv")
    (run,) = results_csv.read(tmp_path / "run.csv")
    meeting([tmp_path / "run.csv"], target)
    ids = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}")
    assert ids.sub("", target.read_text(encoding="utf-8")) == ids.sub("", pack_of(run))


def test_files_of_two_devices_are_left_to_the_comparison(tmp_path: Path) -> None:
    here = made_run("here")
    assert here.environment is not None
    there = replace(
        made_run("there"), environment=replace(here.environment, device=replace(MADE_CPU, name="Other CPU"))
    )
    for run in (here, there):
        results_csv.write([run], tmp_path / f"{run.id}.csv")
    with pytest.raises(UserError, match="several devices: Hand-made CPU, 2 cores, Other CPU"):
        meeting([tmp_path / "here.csv", tmp_path / "there.csv"], tmp_path / "out.html")
