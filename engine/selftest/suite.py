"""Which self-tests are run, in which order, in the full form (25 minutes at most) and in the short one (about a minute)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from engine.result import Machine
from engine.selftest import agreement, model, spins
from engine.selftest.table import Row


@dataclass(frozen=True, slots=True)
class Step:
    """One self-test: what a waiting person reads, and how it is run."""

    name: str
    run: Callable[[Machine], list[Row]]


FULL = (
    Step("T1 spins of known length", spins.truth),
    Step("T3 one slow call in a hundred", lambda machine: [spins.mixture(machine)]),
    Step("T6 a machine that slows down", spins.drift),
    Step("T7 torch.utils.benchmark", lambda machine: [agreement.with_torch_benchmark(machine, turns=5, min_run_s=2.0)]),
    Step("T9 pyperf", lambda _: [agreement.with_pyperf(turns=5)]),
    Step("T4b 40 spins against themselves", lambda machine: [spins.same_against_same(machine, trials=40)]),
    Step("T4b 8 times DistilBERT against itself", lambda machine: [model.same_against_same(machine, trials=8)]),
)
SHORT = (
    *FULL[:3],
    Step("T7 torch.utils.benchmark", lambda machine: [agreement.with_torch_benchmark(machine, turns=3, min_run_s=0.5)]),
    Step("T4b 3 spins against themselves", lambda machine: [spins.same_against_same(machine, trials=3)]),
)


def run(machine: Machine, steps: tuple[Step, ...], tell: Callable[[str], None]) -> Iterator[Row]:
    """Rows as they come; `tell` hears what is being measured."""
    for step in steps:
        tell(step.name)
        yield from step.run(machine)
