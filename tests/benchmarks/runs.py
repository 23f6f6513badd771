"""The runner: what a standard run takes beyond what the protocol asks for."""

import tempfile
from collections.abc import Mapping
from pathlib import Path

from engine.formatting import fraction, seconds
from engine.result import Machine, Measurement
from engine.runner import record
from engine.runner.events import RunEvent, TimeSpent
from engine.selftest.table import Row
from engine.spec import PROTOCOLS, Experiment, Workload

OVERHEAD_LIMIT = 0.10
DURATION_LIMIT_S = 240.0
OWN_PHASES = ("runner", "block")
"""Time in which nothing prescribed happened: between the children's answers, and blocks beyond their timed calls."""


PROOF_PHASES = ("limits", "check", "profile", "throughput")
"""What the method asks for beside timing (METHOD 2, 4, 5): limits, outputs before and after, evidence, calls back to back."""


def rows(machine: Machine) -> list[Row]:
    """DistilBERT eager, its twin and torch.compile by the standard protocol, with empty caches."""
    experiment = Experiment(
        workloads=(Workload(model="distilbert-base-uncased", batch_size=1, sequence_length=11),),
        variants=("baseline/eager", "torch-compile/default"),
        protocol=PROTOCOLS["standard"],
    )
    spent: Mapping[str, float] = {}

    def keep(event: RunEvent) -> None:
        nonlocal spent
        if isinstance(event, TimeSpent):
            spent = event.seconds

    with tempfile.TemporaryDirectory() as folder:
        run = record(experiment, machine, work_dir=Path(folder), on_event=keep)
    assert all(isinstance(outcome, Measurement) for outcome in run.outcomes), run.outcomes
    total = sum(value for phase, value in spent.items() if phase != "waiting")
    own, proofs = (sum(spent.get(phase, 0.0) for phase in phases) for phases in (OWN_PHASES, PROOF_PHASES))
    where = ", ".join(
        f"{phase} {seconds(value)}" for phase, value in sorted(spent.items(), key=lambda item: -item[1])[:5]
    )
    return [
        Row(
            key="run",
            what="standard run of two variants and the twin, empty caches",
            measured=f"{seconds(total)} ({where})",
            limit=seconds(DURATION_LIMIT_S),
            is_kept=total < DURATION_LIMIT_S,
        ),
        Row(
            key="run",
            what="of that the runner's own",
            measured=f"{fraction(own / total)} ({seconds(own)}; proofs, which the method asks for: {fraction(proofs / total)})",
            limit=fraction(OVERHEAD_LIMIT),
            is_kept=own / total < OVERHEAD_LIMIT,
        ),
    ]
