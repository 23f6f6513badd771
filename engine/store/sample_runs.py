"""The shipped sample runs: result CSVs really measured by this code, in `data/samples/` beside it."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from engine.result import Run
from engine.store.database import REPOSITORY

SAMPLES_FOLDER = REPOSITORY / "data" / "samples"


def samples() -> list[Run]:
    """Every run of every shipped file; a file is read once and again when it changes."""
    paths = sorted(SAMPLES_FOLDER.glob("*.csv"))
    return [run for path in paths for run in _read(path, path.stat().st_mtime_ns)]


@lru_cache(maxsize=16)
def _read(path: Path, _modified_ns: int) -> list[Run]:
    from engine import results_csv  # here: it brings scipy, and a server answers its first request sooner without

    return results_csv.read(path)
