"""A real server and the system's Chromium."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.live_server import LiveServer


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Debian's Chromium, headless; the tests are skipped where there is none."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("no Chromium found: apt-get install chromium")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[LiveServer]:
    """A fresh server with an empty data folder. Its own temporary folder holds its own machine lock: nobody makes it wait."""
    with LiveServer(tmp_path / "data", logs=tmp_path, TMPDIR=str(tmp_path)) as started:
        yield started
