"""What is shown in a meeting, in a real browser: a drive cancelled, slides by arrow keys, the pack with no network."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from engine.catalog import is_twin, label_of
from engine.frames import technique_of
from engine.result import Measurement
from engine.store import Store
from tests.browser.test_click_to_chart import run_in_address
from tests.live_server import LiveServer

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.beside]

LIMIT_MS = 30_000
DRIVE_LIMIT_S = 300.0
"""Until the drive's first arms are measured: half a minute on two quiet cores, several times that on busy ones."""
NO_COMPILER = "/there/is/no/compiler"
"""Without one the drive leaves out what compiles, which takes minutes; those steps stay visible as not available here."""


def measured_variants(store: Store, run_id: str) -> set[str]:
    return {
        each.variant
        for each in store.run(run_id).outcomes
        if isinstance(each, Measurement) and not is_twin(each.variant) and each.workloads[0].model
    }


def wait_for_a_finished_step(store: Store, run_id: str) -> None:
    deadline = time.monotonic() + DRIVE_LIMIT_S
    while not measured_variants(store, run_id):
        assert store.status(run_id) in ("queued", "running"), "the drive ended before it could be cancelled"
        assert time.monotonic() < deadline, "no step was measured in time"
        time.sleep(0.5)


@pytest.fixture
def server_without_compiler(tmp_path: Path) -> Iterator[LiveServer]:
    """A fresh server on a machine that cannot compile."""
    with LiveServer(tmp_path / "data", logs=tmp_path, TMPDIR=str(tmp_path), CXX=NO_COMPILER) as started:
        yield started


def test_the_route_is_driven_and_cancelled_half_way_and_finished_steps_stay(
    browser: Browser, server_without_compiler: LiveServer
) -> None:
    server = server_without_compiler
    page = browser.new_page(viewport={"width": 1400, "height": 1000})
    page.goto(f"http://127.0.0.1:{server.port}/?model=all-MiniLM-L6-v2&protocol=quick")
    page.get_by_role("button", name="Drive the whole route").click(timeout=LIMIT_MS)
    expect(page.get_by_role("button", name="Cancel")).to_be_visible(timeout=LIMIT_MS)
    run_id, store = run_in_address(page), Store(server.data)

    wait_for_a_finished_step(store, run_id)
    # Nobody reloads: the first finished step lights up while the next ones are measured.
    labels = page.locator(".js-plotly-plot").first.locator(".ytick")
    expect(labels.filter(has_text=label_of("baseline/eager")).first).to_be_visible(timeout=LIMIT_MS)
    assert store.status(run_id) == "running"
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("This run was cancelled; what had been measured by then is shown.")).to_be_visible(
        timeout=LIMIT_MS
    )
    assert store.status(run_id) == "cancelled"
    finished = measured_variants(store, run_id)
    for reload in (False, True):
        if reload:
            page.reload()
        labels = page.locator(".js-plotly-plot").first.locator(".ytick")
        expect(labels.filter(has_text=label_of("baseline/eager")).first).to_be_visible(timeout=LIMIT_MS)
        shown = " ".join(labels.all_text_contents()).replace("\u00a0", " ")
        seen = {technique_of(key) for key in finished if label_of(key)[:20] in shown}
        assert seen == {technique_of(key) for key in finished}, shown
        assert label_of("torch-compile/default") in shown, "a step that is not available here keeps its place"
        assert run_in_address(page) == run_id
    page.close()


def sentence(page: Page) -> Locator:
    return page.locator(".st-key-sentence h1")


def test_slides_of_the_shipped_sample_are_stepped_with_arrow_keys(browser: Browser, server: LiveServer) -> None:
    page = browser.new_page(viewport={"width": 1920, "height": 1080})
    page.goto(f"http://127.0.0.1:{server.port}/torch-compile")
    page.get_by_role("button", name="Present").click(timeout=LIMIT_MS)
    expect(sentence(page)).to_contain_text("torch.compile is", timeout=LIMIT_MS)
    expect(page.locator(".js-plotly-plot")).to_have_count(1)
    expect(page.locator("[data-testid=stSidebar]")).to_be_hidden()
    expect(page.locator("[data-testid=stHeader]")).to_be_hidden()
    stamp = page.locator(".js-plotly-plot .g-gtitle")
    expect(stamp).to_contain_text("torch 2.")
    expect(stamp).to_contain_text("measured")

    page.keyboard.press("ArrowRight")
    expect(sentence(page)).to_contain_text("Half of the calls", timeout=LIMIT_MS)
    page.reload()
    expect(sentence(page)).to_contain_text("Half of the calls", timeout=LIMIT_MS)
    assert "slide=2" in page.evaluate("location.search")
    expect(page.locator(".js-plotly-plot")).to_have_count(1)
    bottom = page.get_by_role("button", name="Next").bounding_box()
    assert bottom and bottom["y"] + bottom["height"] <= 1080, "one screen holds all of it"
    page.keyboard.press("ArrowLeft")
    expect(sentence(page)).to_contain_text("torch.compile is", timeout=LIMIT_MS)
    page.keyboard.press("Escape")
    expect(page.get_by_role("heading", name="torch.compile", exact=True)).to_be_visible(timeout=LIMIT_MS)
    assert "present" not in page.evaluate("location.search")
    page.close()


def test_the_meeting_pack_opens_from_disk_with_the_network_off_and_shows_every_chart(
    browser: Browser, server: LiveServer, tmp_path: Path
) -> None:
    page = browser.new_page()
    page.goto(f"http://127.0.0.1:{server.port}/")
    with page.expect_download(timeout=LIMIT_MS) as download:
        page.get_by_role("button", name="Meeting pack").click(timeout=LIMIT_MS)
    pack = tmp_path / "pack.html"
    download.value.save_as(pack)
    page.close()

    context = browser.new_context(offline=True)
    offline = context.new_page()
    asked: list[str] = []
    offline.on("request", lambda request: asked.append(request.url))
    offline.on("pageerror", lambda error: pytest.fail(f"the pack's own code failed: {error}"))
    offline.goto(pack.as_uri())
    charts = offline.locator(".plotly-graph-div")
    assert charts.count() >= 4
    for place in range(charts.count()):
        expect(charts.nth(place).locator(".cartesianlayer .trace path").first).to_be_attached(timeout=LIMIT_MS)
    expect(offline.get_by_role("button", name="Share chart")).to_have_count(0)
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
    context.close()
