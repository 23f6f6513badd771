"""Whose turn it is: one workload at a time has its inputs, and its technique's buffers, in memory.

Small inputs stay for the life of the child. Large ones are made anew for every turn, the same values each time, so that of
all the children that take turns only the one in turn holds them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch

from engine.child.subject import Call, Inputs, Subject, size_of
from engine.child.techniques import Applied

KEPT_BYTES = 64 * 2**20
"""Inputs of one workload up to this size stay: making them takes longer than they are worth."""


@dataclass(frozen=True, slots=True)
class _Feed:
    inputs: Sequence[Inputs]
    endless: Iterator[Inputs]

    @property
    def is_kept(self) -> bool:
        return sum(map(size_of, self.inputs)) <= KEPT_BYTES


class Turns:
    """Gives turns to subjects; `applied[i]` is the technique as applied to subject i."""

    def __init__(self, subjects: Sequence[Subject], applied: Sequence[Applied]) -> None:
        self._subjects = subjects
        self._applied = applied
        self._kept: dict[int, _Feed] = {}
        self._last: int | None = None

    @contextmanager
    def of(self, index: int) -> Iterator[tuple[Call, Iterator[Inputs]]]:
        """The turn of workload `index`: what to call, and inputs without end."""
        feed = self._kept.get(index) or self._make(index)
        applied = self._applied[index]
        if applied.activate is not None and index != self._last:
            with torch.inference_mode():
                applied.activate(feed.inputs[0])
        self._last = index
        try:
            yield applied.call, feed.endless
        finally:
            if not feed.is_kept:
                self._last = None
                if applied.release is not None:
                    applied.release()

    def _make(self, index: int) -> _Feed:
        inputs = self._subjects[index].timed_inputs()
        feed = _Feed(inputs, itertools.cycle(inputs))
        if feed.is_kept:
            self._kept[index] = feed
        return feed
