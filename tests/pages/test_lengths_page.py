"""The page of dynamic shapes: the sentence about all lengths, the stream, the tables, and lengths people type or upload."""

from dataclasses import replace

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from engine.result import Failure
from engine.worker import Worker
from tests.many_lengths import EAGER, STATIC, many_lengths_run
from tests.pages.conftest import OpenPage, shown

PAGE = "dynamic_shapes.py"


def table_with(app: AppTest, column: str) -> pd.DataFrame:
    return next(table.value for table in app.dataframe if column in table.value)


def test_a_run_is_told_from_the_stream_to_one_length(service: Worker, open_page: OpenPage) -> None:
    service.store.import_run(many_lengths_run())
    app = open_page(PAGE, run="lengths")
    assert not app.exception
    text = shown(app)
    assert "Nothing was through with 8 requests before eager" in text
    assert "no interval, no verdict" in text
    assert "holds here" in text and "2 graphs for 3 lengths" in text
    assert app.subheader[0].value == "One length in detail"
    graphs = table_with(app, "lengths as met")
    assert graphs["lengths as met"].tolist()[:2] == ["11 → 24 → 60", "60 → 24 → 11"]
    assert set(graphs["dynamic=False"]) == {"1 → 2 → 3"} and set(graphs["torch.compile, every length"]) == {"1 → 2 → 2"}
    assert "Eager, every length" not in graphs
    assert table_with(app, "pays back after")["variant"].tolist()[:2] == [
        "Eager, every length",
        "Eager, every length, again (A/A)",
    ]
    assert set(table_with(app, "first seen")["first seen"]) == {11, 24, 60}
    assert app.selectbox(key="workload").options[1].endswith("24 tokens · float32")
    assert "the settings now differ" in text and "8 requests" in text


def test_the_results_page_tells_the_same_story(service: Worker, open_page: OpenPage) -> None:
    service.store.import_run(many_lengths_run())
    app = open_page("results.py", run="lengths")
    assert not app.exception
    assert "Nothing was through with 8 requests before eager" in shown(app)


def test_twelve_lengths_are_counted_and_warned_of(service: Worker, open_page: OpenPage) -> None:
    """R8."""
    facts = {STATIC: {"recompile_limit_hit": True}}
    service.store.import_run(many_lengths_run(range(16, 28), (EAGER, STATIC), (), "quick", facts))
    app = open_page(PAGE, run="lengths")
    assert not app.exception
    text = shown(app)
    assert "12 distinct shapes, more than 8" in text and "Padded to buckets they are 1." in text
    assert "partly eager: recompile limit reached" in text
    assert "Graphs compiled for 12 lengths: dynamic=False 12." in text


def test_the_usual_run_has_its_length_and_budget_said(open_page: OpenPage) -> None:
    app = open_page(PAGE)
    assert app.selectbox(key="lengths").value == "11, 24, 60"
    assert "8, 12, 17, 25, 36, 53, 77, 113, 165, 241, 351, 512" in app.selectbox(key="lengths").options
    text = shown(app)
    assert "scaled to about 30 s per variant on a 2-core CPU" in text
    assert "distinct shapes, more than 8" in text
    assert "on a 2-core machine" in text


def test_twelve_lengths_are_warned_of_before_they_are_measured(open_page: OpenPage) -> None:
    """R8."""
    text = shown(open_page(PAGE, lengths=", ".join(map(str, range(16, 28)))))
    assert "12 distinct shapes, more than 8" in text and "Padded to buckets they are 1." in text


def test_typed_lengths_are_measured_in_the_order_typed(service: Worker, open_page: OpenPage) -> None:
    app = open_page(PAGE, lengths="11, 12, 64, 128, 17, 1")
    app.segmented_control(key="requests").set_value("No requests").run()
    app.button(key="run").click().run()
    run = service.store.run(app.query_params["run"])
    assert [point.sequence_length for point in run.experiment.workloads] == [11, 12, 64, 128, 17, 1]
    assert run.experiment.request_lengths == ()


@pytest.mark.parametrize(
    ("lengths", "said"),
    [
        ("11, x", "Length 2: 'x' is no length"),
        ("0", "the length is 0"),
        ("11, 513", "this model takes 1 to 512 tokens"),
    ],
)
def test_a_length_that_cannot_be_is_one_sentence_and_nothing_can_be_started(
    open_page: OpenPage, lengths: str, said: str
) -> None:
    app = open_page(PAGE, lengths=lengths)
    assert not app.exception
    assert said in shown(app)
    assert app.button(key="run").disabled and app.button(key="measure_first").disabled
    assert app.selectbox(key="lengths").value == lengths


def test_ones_own_requests_are_pasted_or_uploaded_and_refused_with_the_row(open_page: OpenPage) -> None:
    app = open_page(PAGE)
    app.segmented_control(key="requests").set_value("My own list").run()
    assert "No request lengths are given" in shown(app) and app.button(key="run").disabled
    app.text_area(key="request_text").set_value("tokens\n12\n48\n17").run()
    assert "3 requests of 12 to 48 tokens" in shown(app) and not app.button(key="run").disabled
    app.text_area(key="request_text").set_value("12\n0").run()
    assert "Row 2: the length is 0" in shown(app)
    app.file_uploader(key="request_file").set_value([("r.csv", b"tokens\n600\n", "text/csv")]).run()
    assert "Row 2: the length is 600; this model takes 1 to 512 tokens" in shown(app)
    app.file_uploader(key="request_file").set_value([("r.csv", b"5\n" * 10_001, "text/csv")]).run()
    assert "Row 10,001 is one too many" in shown(app)
    assert not app.exception


def test_a_compiler_that_is_missing_leaves_eager_and_the_reason(service: Worker, open_page: OpenPage) -> None:
    """R27."""
    run = many_lengths_run(variants=(EAGER, STATIC))
    failures = tuple(
        Failure(variant=STATIC, process=each.process, workloads=each.workloads, stage="first_call", kind="error",
                message="No C++ compiler: g++ was not found.")
        if each.variant == STATIC else each
        for each in run.outcomes
    )  # fmt: skip
    service.store.import_run(replace(run, outcomes=failures))
    app = open_page(PAGE, run="lengths")
    assert not app.exception
    text = shown(app)
    assert "Nothing was compiled in this run." in text and "not testable here" in text
    assert "No C++ compiler: g++ was not found." in table_with(app, "pays back after")["note"].iloc[-1]


def test_foreign_text_stays_text(service: Worker, open_page: OpenPage) -> None:
    facts = {STATIC: {"requests_failed": "<b>x</b> **y** [z](http://evil.example)"}}
    service.store.import_run(many_lengths_run(facts=facts, protocol="quick"))
    app = open_page(PAGE, run="lengths")
    assert not app.exception
    markdown = [element.value for kind in ("markdown", "caption") for element in app.get(kind)]
    assert not [text for text in markdown if "**y**" in text or "[z](http" in text]
    for chart in app.get("plotly_chart"):
        assert "<b>x" not in chart.proto.spec


def test_the_kind_of_requests_is_part_of_the_link(open_page: OpenPage) -> None:
    app = open_page(PAGE, requests="My own list")
    assert not app.exception
    assert app.session_state["requests"] == "My own list"
    assert app.button(key="run").disabled and "No request lengths are given" in shown(app)


def test_stops_per_call_are_drawn_for_one_length(service: Worker, open_page: OpenPage) -> None:
    facts = {key: {"operators_per_call": [count] * 3} for key, count in ((EAGER, 141.0), (STATIC, 12.0))}
    service.store.import_run(many_lengths_run(facts=facts))
    app = open_page(PAGE, run="lengths")
    assert not app.exception
    assert [chart for chart in app.get("plotly_chart") if "chart_driving" in chart.proto.id]


def test_graphs_that_torch_did_not_count_are_not_known_rather_than_none(service: Worker, open_page: OpenPage) -> None:
    run = many_lengths_run(variants=(EAGER, STATIC))
    silent = [
        replace(each, points=tuple(replace(point, new_graphs=None) for point in each.points)) for each in run.outcomes
    ]
    service.store.import_run(replace(run, outcomes=tuple(silent)))
    text = shown(open_page(PAGE, run="lengths"))
    assert "How many graphs were compiled is not known here: torch did not tell of dynamic=False." in text
    assert "Nothing was compiled" not in text
