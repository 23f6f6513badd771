"""What is taken along: every row is in it, it needs no network, and foreign text stays text."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from engine.comparison import compare_run
from engine.exports import html_report, markdown_table
from engine.result import Failure, Run
from tests.unit.hand_made import COMPILED, WORKLOAD, run_of, standard_run

HOSTILE = "<script>alert(1)</script> [x](javascript:alert(1)) | $x^2$ **b**"


class Elements(HTMLParser):
    """Every start tag with its attributes."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(markup)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


def hostile_run() -> Run:
    run = standard_run(label=HOSTILE, note=HOSTILE)
    failed = Failure(variant=COMPILED, process=0, workloads=(WORKLOAD,), stage="load", kind="error", message=HOSTILE)
    others = tuple(outcome for outcome in run.outcomes if outcome.variant != COMPILED)
    return replace(run, outcomes=(*others, failed))


def test_the_table_has_a_line_for_every_row_with_number_verdict_and_set_up() -> None:
    lines = markdown_table(compare_run(standard_run())).splitlines()
    assert len(lines) == 2 + 3 + 2
    assert {line.count(" | ") for line in lines[:5]} == {9}
    assert re.search(r"torch.compile \| .* \| 1\.20x \\\[1\.20, 1\.20\\\] \| faster \| 50\.0 ms", lines[4])
    assert lines[-1] == "Test CPU, standard protocol, measured 1 Jan 2026, 00:03 UTC"


def test_text_from_outside_cannot_leave_its_cell_of_the_table() -> None:
    lines = markdown_table(compare_run(hostile_run())).splitlines()
    assert "&lt;script&gt;" in lines[4]
    assert len(re.findall(r"(?<!\\)\|", lines[4])) == 11
    assert not re.search(r"(?<!\\)[\[$*]", lines[4])


def test_the_report_needs_no_network_and_holds_every_chart() -> None:
    report = html_report(standard_run())
    tags = Elements(report).tags
    assert not [attributes for tag, attributes in tags if tag in ("link", "img", "iframe") or attributes.get("src")]
    assert report.count('class="plotly-graph-div"') == 5
    assert all(attributes["aria-label"] for tag, attributes in tags if tag == "figure")
    assert "torch.compile is 1.20x [1.20, 1.20] faster than Eager here." in report
    assert "Can I trust this?" in report and "python -m engine run" in report


def test_text_from_outside_stays_text_in_the_report() -> None:
    report = html_report(hostile_run())
    assert "<script>alert" not in report
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in report


@pytest.mark.parametrize("status", ["queued", "failed"])
def test_a_run_without_results_is_still_a_report(status: str) -> None:
    report = html_report(run_of(status=status, environment=None, message="the disk is full"))
    assert "the disk is full" in report
    assert "not measured" in report
