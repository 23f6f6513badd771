"""What the machine did while a round was measured: load, stolen time, processor time used by others (METHOD 1.8)."""

from __future__ import annotations

import contextlib
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import psutil

from engine.result import Conditions

WINDOW_S = 1.0
"""Processor times come in ticks of 10 ms per process; over a second the error stays below a tenth of a core."""
SHORTEST_S = 0.25
"""In less time one tick would be read as dozens of busy cores: nothing is known of the moment before the first round."""


@dataclass(frozen=True, slots=True)
class _Reading:
    at: float
    busy_s: float
    stolen_s: float
    total_s: float
    ours_s: float


class ConditionsMeter:
    """Reads the processor's counters; each answer covers the last second or the time since the one before, if longer."""

    def __init__(self, measured: Sequence[int]) -> None:
        """`measured` are the process ids whose work is ours; everybody else, the parent included, is "other"."""
        self._used_s = {process: 0.0 for pid in measured for process in _alive(pid)}
        self._cores = set(_usable_cores())
        self._readings = deque([self._read()])

    def read(self) -> Conditions:
        """Conditions between the oldest reading still inside the window and now."""
        now = self._read()
        while len(self._readings) > 1 and self._readings[1].at <= now.at - WINDOW_S:
            self._readings.popleft()
        before = self._readings[0]
        self._readings.append(now)
        elapsed, total = now.at - before.at, now.total_s - before.total_s
        other = (now.busy_s - before.busy_s) - (now.ours_s - before.ours_s)
        is_known = elapsed >= SHORTEST_S and total > 0
        return Conditions(
            load_average=psutil.getloadavg()[0],
            steal_fraction=(now.stolen_s - before.stolen_s) / total if is_known else None,
            other_cpu_cores=max(0.0, other / elapsed) if is_known else None,
        )

    def _read(self) -> _Reading:
        cores = [times for core, times in enumerate(psutil.cpu_times(percpu=True)) if core in self._cores]
        stolen = sum(getattr(times, "steal", 0.0) for times in cores)
        idle = sum(times.idle + getattr(times, "iowait", 0.0) for times in cores)
        # Guest time is part of user time already.
        total = sum(sum(times) - getattr(times, "guest", 0.0) - getattr(times, "guest_nice", 0.0) for times in cores)
        self._used_s = {process: max(before, _used_by(process)) for process, before in self._used_s.items()}
        return _Reading(time.monotonic(), total - idle - stolen, stolen, total, sum(self._used_s.values()))


def _alive(pid: int) -> Iterator[psutil.Process]:
    """The process, unless it has ended."""
    with contextlib.suppress(psutil.NoSuchProcess):
        yield psutil.Process(pid)


def _usable_cores() -> Sequence[int]:
    """Cores this process may run on: work on any other core does not disturb it."""
    process = psutil.Process()
    return process.cpu_affinity() if hasattr(process, "cpu_affinity") else range(psutil.cpu_count() or 1)


def _used_by(process: psutil.Process) -> float:
    """Processor seconds of a child and of its own children that have ended; 0 for a child that is gone."""
    with contextlib.suppress(psutil.NoSuchProcess):
        used = process.cpu_times()
        return used.user + used.system + used.children_user + used.children_system
    return 0.0
