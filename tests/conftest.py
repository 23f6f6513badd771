"""Shared by all tests: the repository root on the path, run-time data kept out of the checkout."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))


@pytest.fixture(autouse=True)
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test has a data folder of its own, so that none reads or writes the developer's results."""
    folder = tmp_path / "data"
    monkeypatch.setenv("LATENCY_LAB_DATA", str(folder))
    return folder
