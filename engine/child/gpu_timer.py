"""GPU time of a call: an event pair behind a spin, so that every launch is queued before the first event fires (METHOD 1.1).

Without the spin an event pair shows the larger of GPU work and launch rate. The spin must outlast the launches: when the
start event has fired by the time the last call is queued, the sample is no measurement and becomes None.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # types alone: nothing here needs torch
    from engine.child.subject import Call, Inputs

SPIN_MARGIN = 2.0
SPIN_EXTRA_S = 200e-6
"""The spin lasts twice the launch time seen in the timed samples, and a little more."""
MAX_SPIN_S = 0.5
MAX_LEAKS = 5
"""After this many samples in a row whose spin ended early, the rest of the block is given up."""
MIN_REGION_S = 50e-6
RESOLUTION_S = 0.5e-6
"""Event times resolve about 0.5 us: a timed region of 50 us keeps that to 1 % (METHOD 1.1)."""
MAX_REPEATS = 100
"""Calls whose region is too short even so often in one pair do nothing on the GPU that events could time."""


@dataclass(slots=True)
class GpuTimer:
    """Times calls by events. `spin(seconds)` keeps the stream busy, `make_event()` makes one that can be timed."""

    spin: Callable[[float], object]
    make_event: Callable[[], Any]
    synchronize: Callable[[], object]
    _spin_s: float = field(default=0.0, init=False)
    _leaks: int = field(default=0, init=False)
    _repeats: int = field(default=1, init=False)
    _may_repeat: bool = field(default=True, init=False)

    def begin_block(self, host_s: float, may_repeat: bool = True) -> None:
        """Size the spin for calls whose launches take `host_s`. With cold caches a call may not be repeated in one pair."""
        self._spin_s = min(host_s * SPIN_MARGIN + SPIN_EXTRA_S, MAX_SPIN_S)
        self._leaks = 0
        self._repeats = 1
        self._may_repeat = may_repeat

    def time(self, call: Call, batch: Sequence[Inputs]) -> float | None:
        """Seconds of GPU time per call, or None where the launches could not all be queued behind the spin.

        None too where no number of calls fills a region that events can time.
        """
        if self._leaks >= MAX_LEAKS:
            return None
        start, stop = self.make_event(), self.make_event()
        calls = list(batch) * self._repeats
        self.synchronize()
        self.spin(min(self._spin_s * self._repeats, MAX_SPIN_S))
        start.record()
        for inputs in calls:
            outputs = call(inputs)
        stop.record()
        has_leaked = start.query()
        self.synchronize()
        del outputs
        if has_leaked:
            self._leaks += 1
            self._spin_s *= SPIN_MARGIN
            return None
        self._leaks = 0
        region_s = start.elapsed_time(stop) / 1e3
        if self._may_repeat and region_s < MIN_REGION_S:
            return self._more_often(call, batch, region_s)
        return float(region_s / len(calls))

    def _more_often(self, call: Call, batch: Sequence[Inputs], region_s: float) -> float | None:
        """The sample once more, with as many calls in the pair as a region takes that can be trusted; None where none does."""
        if self._repeats >= MAX_REPEATS:
            self._leaks = MAX_LEAKS  # as hopeless as launches that leak: the block's other samples need not try
            return None
        needed = self._repeats * math.ceil(MIN_REGION_S / max(region_s, RESOLUTION_S))
        self._repeats = min(needed, MAX_REPEATS)
        return self.time(call, batch)
