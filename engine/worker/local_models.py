"""Were a run's local models changed since? Their names stay the same, so that no digest of the experiment tells."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from engine.result import Run


def changed_since(run: Run) -> bool:
    """Whether a file of a local model folder, or a `file.py:build`, is newer than the run's start; hub ids never are."""
    if run.started_at is None:
        return False
    started = datetime.fromisoformat(run.started_at).timestamp()
    models = {workload.model for workload in run.experiment.workloads if workload.model}
    return any(moment > started for model in models for moment in _changes(model))


def _changes(model: str) -> Iterator[float]:
    """When each file of a local model was changed; nothing of a model that is no path here, or not any more."""
    path = Path(model.rpartition(":")[0] if ".py:" in model else model)
    for file in path.rglob("*") if path.is_dir() else [path]:
        with suppress(OSError):
            yield file.stat().st_mtime
