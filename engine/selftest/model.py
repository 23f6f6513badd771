"""T4b with a real model: DistilBERT eager against itself, measured as any user would (METHOD 6)."""

from __future__ import annotations

import tempfile
import time
from dataclasses import replace
from pathlib import Path

from engine.result import Machine
from engine.runner import record
from engine.selftest.spins import BASELINE, ratio_of, same_row
from engine.selftest.table import Row
from engine.spec import PROTOCOLS, Experiment, Workload
from engine.stats import Interval

ARTICLE_POINT = Workload(model="distilbert-base-uncased", batch_size=1, sequence_length=11)


def same_against_same(machine: Machine, trials: int, until: float) -> Row:
    """Standard protocol, on the CPU; every trial has its own random orders, and none begins after `until` (monotonic)."""
    intervals: list[Interval] = []
    while len(intervals) < trials and (not intervals or time.monotonic() < until):
        intervals.append(_trial(machine, seed=len(intervals)))
    return same_row("T4b", "DistilBERT eager against itself, standard protocol", intervals)


def _trial(machine: Machine, seed: int) -> Interval:
    protocol = replace(PROTOCOLS["standard"], seed=seed)
    experiment = Experiment(workloads=(ARTICLE_POINT,), variants=(BASELINE,), protocol=protocol)
    with tempfile.TemporaryDirectory() as folder:
        return ratio_of(record(experiment, machine, work_dir=Path(folder)))
