"""A million samples of four devices dropped into the Compare page: time to the chart, memory, bytes sent to the browser.

`python -m tests.benchmarks.compare_scale` prints the rows; `make bench` has them in its table.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Page, WebSocket, sync_playwright

from engine.formatting import bytes_, seconds
from engine.selftest.table import Row
from engine.store import Store
from tests.benchmarks import compare_file
from tests.live_server import LiveServer, eventually

LIMIT_S = 10.0
MEMORY_LIMIT_BYTES = 1.5e9
MESSAGES_LIMIT_BYTES = 2e6
WAIT_MS = 120_000
DESCRIBE_LIMIT_S = 180.0
CHART = ".st-key-chart_bars .js-plotly-plot .barlayer"


def rows() -> Iterator[Row]:
    """One upload on a fresh server in a real browser."""
    chromium = shutil.which("chromium")
    if chromium is None:
        yield Row(key="compare", what="a million samples uploaded", measured="no Chromium here", limit="", is_kept=None)
        return
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "million.csv"
        path.write_bytes(compare_file.write())
        data = Path(folder) / "data"
        with LiveServer(data, logs=Path(folder)) as server:
            eventually(lambda: Store(data).machine(), DESCRIBE_LIMIT_S, "the machine is described")
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            yield from _upload(browser.new_page(), server, path)
            browser.close()


def _upload(page: Page, server: LiveServer, path: Path) -> Iterator[Row]:
    received = _count_messages(page)
    page.goto(f"http://127.0.0.1:{server.port}/compare")
    page.locator("input[type=file]").wait_for(state="attached", timeout=WAIT_MS)
    started = time.perf_counter()
    page.locator("input[type=file]").set_input_files(path)
    page.locator(CHART).wait_for(state="visible", timeout=WAIT_MS)
    took = time.perf_counter() - started
    page.get_by_text("What was understood").wait_for(timeout=WAIT_MS)
    what = f"{compare_file.SAMPLES:,} samples, {bytes_(path.stat().st_size)}"
    yield _row(f"{what}: from dropping the file to the chart", seconds(took), seconds(LIMIT_S), took < LIMIT_S)
    peak, sent = _peak_memory(server.process.pid), sum(received)
    yield _row(
        f"{what}: peak memory of the server", bytes_(peak), bytes_(MEMORY_LIMIT_BYTES), peak < MEMORY_LIMIT_BYTES
    )
    yield _row(
        f"{what}: messages to the browser", bytes_(sent), bytes_(MESSAGES_LIMIT_BYTES), sent < MESSAGES_LIMIT_BYTES
    )


def _row(what: str, measured: str, limit: str, is_kept: bool) -> Row:
    return Row(key="compare", what=what, measured=measured, limit=limit, is_kept=is_kept)


def _count_messages(page: Page) -> list[int]:
    """Sizes of all messages the page gets over its socket, filled while they come."""
    sizes: list[int] = []

    def watch(socket: WebSocket) -> None:
        socket.on("framereceived", lambda payload: sizes.append(len(payload)))

    page.on("websocket", watch)
    return sizes


def _peak_memory(pid: int) -> int:
    """Highest resident memory of a process so far, in bytes."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) * 1024 if found else 0


if __name__ == "__main__":
    for row in rows():
        print(f"{row.what}: {row.measured} (limit {row.limit}, kept: {row.verdict})")
        sys.stdout.flush()
