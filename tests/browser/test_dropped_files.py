"""Result files dropped into a real browser: a bar per device, a bad file refused beside them, the same by link."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from engine import results_csv
from tests.live_server import LiveServer
from tests.pages.made_runs import made_run
from tests.unit.imports.test_round_trip import on
from tests.uploads import path_of

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.beside]
LIMIT_MS = 30_000


@pytest.fixture
def page(browser: Browser, server: LiveServer) -> Page:
    """The Compare page of a fresh server."""
    opened = browser.new_page(viewport={"width": 1400, "height": 1000})
    opened.goto(f"http://127.0.0.1:{server.port}/compare")
    expect(opened.get_by_role("heading", name="Compare devices")).to_be_visible(timeout=LIMIT_MS)
    return opened


def drop_in(page: Page, *paths: Path) -> None:
    page.locator("input[type=file]").set_input_files(list(paths))


def legend(page: Page) -> list[str]:
    return page.locator(".st-key-chart_bars .legendtext").all_text_contents()


def test_two_result_files_give_a_bar_per_device_and_a_bad_one_is_refused_beside_them(
    page: Page, tmp_path: Path
) -> None:
    files = []
    for device, seconds in (("A100", 0.02), ("L4", 0.05)):
        files.append(tmp_path / f"{device}.csv")
        results_csv.write([on(device, made_run(device.lower(), eager_s=seconds))], files[-1])
    drop_in(page, *files, path_of("U20"))
    expect(page.locator(".st-key-chart_bars .js-plotly-plot")).to_be_visible(timeout=LIMIT_MS)
    expect(page.get_by_text("not a text table but a PNG image")).to_be_visible()
    assert legend(page) == ["A100", "L4"]
    expect(page.get_by_text("L4 is 0.40x as fast as A100").first).to_be_visible()
    page.screenshot(path=tmp_path / "compare.png", full_page=True)

    address = page.evaluate("location.href")
    colleague = page.context.browser.new_context().new_page()
    colleague.goto(address)
    expect(colleague.locator(".st-key-chart_bars .js-plotly-plot")).to_be_visible(timeout=LIMIT_MS)
    assert legend(colleague) == ["A100", "L4"]
    colleague.context.close()


def test_hostile_cells_are_shown_letter_by_letter(page: Page) -> None:
    page.on("dialog", lambda dialog: pytest.fail(f"a cell was run: {dialog.message}"))
    drop_in(page, path_of("U18"))
    expect(page.locator(".st-key-chart_bars .js-plotly-plot")).to_be_visible(timeout=LIMIT_MS)
    expect(page.locator(".st-key-paragraph").get_by_text("<img src=x onerror=alert(1)>").first).to_be_visible()
    for markup in ("img[src='x']", "a[href^='javascript']", "a[href='http://127.0.0.1/']", ".katex"):
        assert page.locator(markup).count() == 0


def test_every_choice_is_part_of_the_link(page: Page) -> None:
    drop_in(page, path_of("U05"), path_of("U10"))
    expect(page.locator(".st-key-chart_bars .js-plotly-plot")).to_be_visible(timeout=LIMIT_MS)
    for label, option in (("Point", "batch 32"), ("Reference device", "B")):
        page.get_by_role("combobox", name=label).first.click()
        page.get_by_role("option", name=option, exact=True).click()
        expect(page.get_by_role("combobox", name=label).first).to_have_value(option, timeout=LIMIT_MS)
    page.get_by_text("Over each device's own baseline", exact=True).click()
    page.wait_for_url("**axis=**", timeout=LIMIT_MS)

    colleague = page.context.browser.new_context().new_page()
    colleague.goto(page.evaluate("location.href"))
    expect(colleague.locator(".st-key-chart_bars .js-plotly-plot")).to_be_visible(timeout=LIMIT_MS)
    expect(colleague.get_by_role("combobox", name="Point").first).to_have_value("batch 32")
    expect(colleague.get_by_role("combobox", name="Reference device").first).to_have_value("B")
    expect(colleague.locator(".st-key-chart_bars .gtitle")).to_have_text("Speed-up over each device's own baseline")
    colleague.context.close()
