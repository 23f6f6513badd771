"""The shipped whole route on a fresh server: how soon the landing page opens, how quickly it and the techniques' pages run again.

`python -m tests.benchmarks.whole_route` prints the rows; `make bench` has them in its table.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import numpy as np

from engine.basis import widest
from engine.catalog import TECHNIQUES
from engine.formatting import seconds
from engine.selftest.table import Row
from engine.store import Store, samples
from tests.benchmarks.visitor import Visitor
from tests.live_server import LiveServer, eventually

FIRST_LIMIT_S, OPEN_LIMIT_S, RERUN_LIMIT_S = 2.0, 1.0, 0.150
"""The first visitor's server is not warm yet: it reads the file and imports what statistics need."""
OPENINGS, RERUNS = 5, 20
DESCRIBE_LIMIT_S = 180.0


def rows() -> Iterator[Row]:
    """A warm server that has shown no result yet, then the run that measured most, page after page."""
    run = widest(samples())
    if run is None:
        yield Row(key="route", what="the shipped whole route", measured="no sample is shipped", limit="", is_kept=None)
        return
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        with LiveServer(data, logs=Path(folder)) as server:
            eventually(lambda: Store(data).machine(), DESCRIBE_LIMIT_S, "the machine is described")
            with Visitor(server.port, "glossary") as visitor:
                visitor.load()
            yield _row("the whole route opens for the first visitor", [_open_s(server, run.id)], FIRST_LIMIT_S)
            yield _row("and for those who follow", [_open_s(server, run.id) for _ in range(OPENINGS)], OPEN_LIMIT_S)
            yield from _reruns(server, run.id)


def _open_s(server: LiveServer, run_id: str) -> float:
    """Seconds until a new visitor of the run's link has all there is to draw."""
    with Visitor(server.port, f"?run={run_id}") as visitor:
        return visitor.load_s()


def _reruns(server: LiveServer, run_id: str) -> Iterator[Row]:
    took = {}
    for page in ("", *(technique.key for technique in TECHNIQUES if technique.key != "pitfalls")):
        with Visitor(server.port, f"{page}?run={run_id}") as visitor:
            visitor.load()
            took[page] = [visitor.load_s() for _ in range(RERUNS)]
    slowest = max(took, key=lambda page: median(took[page]))
    yield _row("the landing page runs again with it", took.pop(""), RERUN_LIMIT_S)
    others = [value for values in took.values() for value in values]
    what = f"one of {len(took)} techniques' pages runs again with it"
    yield _row(what, others, RERUN_LIMIT_S, f"slowest page /{slowest}")


def _row(what: str, took: list[float], limit_s: float, more: str = "") -> Row:
    """Judged by p95, as every page is."""
    p95 = float(np.quantile(took, 0.95))
    told = ", ".join(filter(None, (f"median {seconds(median(took))}" if len(took) > 1 else "", more)))
    return Row(
        key="route",
        what=what,
        measured=seconds(p95) + (f" ({told})" if told else ""),
        limit=seconds(limit_s),
        is_kept=p95 < limit_s,
        samples=len(took),
    )


if __name__ == "__main__":
    for row in rows():
        print(f"{row.what}: {row.measured} (limit {row.limit}, kept: {row.verdict})")
        sys.stdout.flush()
