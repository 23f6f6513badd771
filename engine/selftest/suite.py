"""Which self-tests are run, in which order, in the full form (25 minutes at most) and in the short one (about a minute)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from engine.result import Machine
from engine.selftest import agreement, model, spins
from engine.selftest.table import Row

BUDGET_S = 23 * 60.0
"""No further trial is begun after this: the last one then ends within 25 minutes."""


@dataclass(frozen=True, slots=True)
class Step:
    """One self-test: what a waiting person reads, and how it is run, given the machine and when to begin no further trial."""

    name: str
    run: Callable[[Machine, float], list[Row]]


SPINS = (
    Step("T1 spins of known length", lambda machine, _: spins.truth(machine)),
    Step("T3 one slow call in a hundred", lambda machine, _: [spins.mixture(machine)]),
    Step("T6 a machine that slows down", lambda machine, _: spins.drift(machine)),
)
FULL = (
    *SPINS,
    Step("T7 torch.utils.benchmark", lambda machine, _: [agreement.with_torch_benchmark(machine, 5, min_run_s=2.0)]),
    Step("T9 pyperf", lambda *_: [agreement.with_pyperf(turns=5)]),
    Step("T4b 40 spins against themselves", lambda machine, _: [spins.same_against_same(machine, trials=40)]),
    Step("T4b 8 times DistilBERT against itself", lambda machine, until: [model.same_against_same(machine, 8, until)]),
)
SHORT = (
    *SPINS,
    Step("T7 torch.utils.benchmark", lambda machine, _: [agreement.with_torch_benchmark(machine, 3, min_run_s=0.5)]),
    Step("T4b 3 spins against themselves", lambda machine, _: [spins.same_against_same(machine, trials=3)]),
)


def run(machine: Machine, steps: tuple[Step, ...], tell: Callable[[str], None]) -> Iterator[Row]:
    """Rows as they come; `tell` hears what is being measured."""
    until = time.monotonic() + BUDGET_S
    for step in steps:
        tell(step.name)
        yield from step.run(machine, until)
