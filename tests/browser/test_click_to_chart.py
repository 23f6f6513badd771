"""From the click on Run to the chart, in a real browser on a fresh server: nothing is faked but the patience."""

import re
import time
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from engine.spec import Workload
from engine.store import Store
from tests.live_server import LiveServer
from tests.pages.made_runs import made_run

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.beside]

MODEL = "model=all-MiniLM-L6-v2"
RUN_LIMIT_MS = 600_000  # about 60 s on a quiet 2-core machine, several times that on a busy one
DRAW_LIMIT_MS = 20_000
START_LIMIT_MS = 120_000
LATE_WIDGETS = re.compile(r"/(ButtonGroup|NumberInput)\.[^/]*\.js")
LATE_S = 4.0


def run_in_address(page: Page) -> str:
    """Id of the run the address names. The browser's own address: playwright's copy lags behind pushed states."""
    found = re.search(r"[?&]run=(\w+)", page.evaluate("location.href"))
    assert found, page.evaluate("location.href")
    return found[1]


def test_a_run_is_pressed_followed_after_a_reload_and_drawn(
    browser: Browser, server: LiveServer, tmp_path: Path
) -> None:
    page = browser.new_page(viewport={"width": 1400, "height": 1000})
    page.goto(f"http://127.0.0.1:{server.port}/torch-compile?{MODEL}&protocol=quick")
    expect(page.get_by_role("heading", name="torch.compile", exact=True)).to_be_visible(timeout=DRAW_LIMIT_MS)
    expect(page.get_by_text("Shipped sample, measured on another machine")).to_be_visible()

    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_role("button", name="Cancel")).to_be_visible(timeout=DRAW_LIMIT_MS)
    run_id = run_in_address(page)

    page.reload()
    expect(page.get_by_role("button", name="Cancel")).to_be_visible(timeout=DRAW_LIMIT_MS)
    assert run_in_address(page) == run_id
    colleague = browser.new_context().new_page()
    colleague.goto(f"http://127.0.0.1:{server.port}/torch-compile?run={run_id}")
    expect(colleague.get_by_role("button", name="Cancel")).to_be_visible(timeout=DRAW_LIMIT_MS)
    colleague.context.close()

    bars = page.locator(".st-key-chart_speedup .js-plotly-plot")
    expect(bars).to_be_visible(timeout=RUN_LIMIT_MS)
    expect(page.get_by_text("no verdict").first).to_be_visible()
    expect(page.get_by_role("heading", name="Can I trust this?")).to_be_visible(timeout=DRAW_LIMIT_MS)
    assert run_in_address(page) == run_id

    batch_size = page.get_by_role("spinbutton", name="Batch size")
    batch_size.fill("4")
    batch_size.press("Enter")
    expect(page.get_by_text("measured with batch 1; the settings now differ")).to_be_visible(timeout=DRAW_LIMIT_MS)
    expect(bars).to_be_visible()
    page.screenshot(path=tmp_path / "torch-compile.png", full_page=True)
    page.close()


def test_a_second_run_waits_with_its_position_and_both_can_be_cancelled(browser: Browser, server: LiveServer) -> None:
    """The second browser gets the widgets' scripts so late that Run is pressed before its settings are there to be seen."""
    pages = [browser.new_context().new_page() for _ in range(2)]
    pages[1].route(LATE_WIDGETS, lambda route: (time.sleep(LATE_S), route.continue_()))
    for page, batch_size in zip(pages, (1, 2), strict=True):
        page.goto(f"http://127.0.0.1:{server.port}/baseline?{MODEL}&batch_size={batch_size}")
        page.get_by_role("button", name="Run", exact=True).click(timeout=DRAW_LIMIT_MS)
        expect(page.get_by_role("button", name="Cancel")).to_be_visible(timeout=DRAW_LIMIT_MS)
    # Nothing starts before the machine has been looked at, which takes several seconds after a server's start.
    expect(pages[1].get_by_text("Number 1 in the queue")).to_be_visible(timeout=START_LIMIT_MS)

    for page in reversed(pages):
        page.get_by_role("button", name="Cancel").click()
        expect(page.get_by_text("This run was cancelled")).to_be_visible(timeout=DRAW_LIMIT_MS)
    for page in pages:
        expect(page.get_by_role("spinbutton", name="Sequence length")).to_have_value("11", timeout=DRAW_LIMIT_MS)
        expect(page.get_by_role("radio", name="Standard")).to_be_checked()
        page.context.close()


def test_hostile_text_is_shown_letter_by_letter(browser: Browser, tmp_path: Path) -> None:
    hostile = "<b>x</b> **y** [z](http://evil.example) $e^2$ :smile: www.evil.example"
    point = Workload(model=hostile, batch_size=2, sequence_length=11)
    facts = {"model_note": hostile, "graph_breaks": 1, "graph_break_reasons": [hostile]}
    Store(tmp_path / "data").import_run(made_run("evil", point=point, label=hostile, facts=facts))
    with LiveServer(tmp_path / "data", logs=tmp_path) as server:
        page = browser.new_page()
        for path in ("torch-compile?run=evil", "results?run=evil", "results?runs=evil"):
            page.goto(f"http://127.0.0.1:{server.port}/{path}")
            expect(page.locator(".js-plotly-plot").first).to_be_visible(timeout=DRAW_LIMIT_MS)
            expect(page.get_by_text("[z](http").first).to_be_visible()
            assert page.locator("a[href*='evil.example']").count() == 0
            assert page.locator(".katex").count() == 0
        page.close()
