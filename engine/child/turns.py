"""Whose turn it is: one large workload at a time has its inputs, and its technique's buffers, in memory.

Small inputs stay for the life of the child. Large ones stay until another workload's turn comes; the largest are made anew
for every turn, the same values each time, so that of all the children that take turns only the one in turn holds them.
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
ONE_TURN_BYTES = 256 * 2**20
"""Inputs beyond this size live for one turn: six children with such inputs would fill a small machine."""


@dataclass(frozen=True, slots=True)
class _Feed:
    inputs: Sequence[Inputs]
    endless: Iterator[Inputs]

    @property
    def size(self) -> int:
        return sum(map(size_of, self.inputs))


class Turns:
    """Gives turns to subjects; `applied[i]` is the technique as applied to subject i."""

    def __init__(self, subjects: Sequence[Subject], applied: Sequence[Applied]) -> None:
        self._subjects = subjects
        self._applied = applied
        self._kept: dict[int, _Feed] = {}
        self._large: _Feed | None = None
        self._last: int | None = None

    @contextmanager
    def of(self, index: int) -> Iterator[tuple[Call, Iterator[Inputs]]]:
        """The turn of workload `index`: what to call, and inputs without end."""
        if index != self._last:
            self._drop_large()
        feed = self._kept.get(index) or self._large or self._make(index)
        applied = self._applied[index]
        if applied.activate is not None and index != self._last:
            with torch.inference_mode():
                applied.activate(feed.inputs[0])
        self._last = index
        try:
            yield applied.call, feed.endless
        finally:
            if feed.size > ONE_TURN_BYTES:
                self._drop_large()

    def applied(self, index: int) -> Applied:
        """The technique as applied to workload `index`."""
        return self._applied[index]

    def _make(self, index: int) -> _Feed:
        # The same kind of tensor at every turn: compiled code is made for inference tensors or for others, not for both.
        with torch.inference_mode():
            inputs = [self._applied[index].prepared(inputs) for inputs in self._subjects[index].timed_inputs()]
        feed = _Feed(inputs, itertools.cycle(inputs))
        if feed.size <= KEPT_BYTES:
            self._kept[index] = feed
        else:
            self._large = feed
        return feed

    def _drop_large(self) -> None:
        """Let go of the last turn's inputs and buffers if they are large."""
        if self._large is None or self._last is None:
            return
        self._large = None
        release, self._last = self._applied[self._last].release, None
        if release is not None:
            release()
