"""A result CSV of a million samples, as four GPUs with nine variants each would write it. Made up, for timing the reader."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from engine import results_csv
from engine.result import Block, Environment, Measurement, PointSetUp, Run
from engine.spec import PROTOCOLS, Experiment, Workload
from tests.hand_made import CPU, MACHINE

SAMPLES = 1_000_000
DEVICES = {"Made-up A": 1.0, "Made-up B": 1.6, "Made-up C": 2.4, "Made-up D": 4.1}
VARIANTS = (
    "baseline/eager", "torch-compile/default", "cuda-graphs/reduce-overhead", "cuda-graphs/manual-served",
    "max-autotune/default", "max-autotune/no-cudagraphs", "precision/bfloat16", "dynamic-shapes/dynamic", "made-up/ninth",
)  # fmt: skip
POINT = Workload(model="distilbert-base-uncased", batch_size=8, sequence_length=128)
PROTOCOL = PROTOCOLS["standard"]
CALLS_PER_BLOCK = SAMPLES // (len(DEVICES) * len(VARIANTS) * PROTOCOL.process_sets * PROTOCOL.rounds) + 1


def write(devices: dict[str, float] | None = None) -> bytes:
    """The file's bytes; about 150 MB for all devices."""
    return results_csv.to_bytes([_run(name, factor) for name, factor in (devices or DEVICES).items()])


def _run(name: str, factor: float) -> Run:
    return Run(
        id=name.lower().replace(" ", "-"),
        experiment=Experiment(workloads=(POINT,), variants=VARIANTS, device="cuda:0", protocol=PROTOCOL),
        status="done",
        submitted_at="2026-01-01T00:00:00+00:00",
        environment=Environment(
            machine=MACHINE,
            device=replace(CPU, key="cuda:0", name=name, backend="cuda"),
            threads=2,
            matmul_precision="highest",
        ),
        outcomes=tuple(_measurements(factor)),
    )


def _measurements(factor: float) -> Iterator[Measurement]:
    chance = np.random.default_rng(20250630)
    for place, variant in enumerate(VARIANTS):
        for process in range(PROTOCOL.process_sets):
            level = 0.004 * factor / (1 + 0.1 * place) * float(np.exp(chance.normal(0, 0.003)))
            times = level * np.exp(np.abs(chance.normal(0, 0.02, (PROTOCOL.rounds, CALLS_PER_BLOCK))))
            yield Measurement(
                variant=variant,
                process=process,
                workloads=(POINT,),
                load_s=1.0,
                apply_s=0.0,
                points=(PointSetUp(first_calls_s=(9.0, level, level), reached_steady_state=True),),
                blocks=tuple(_block(number, block) for number, block in enumerate(times)),
            )


def _block(number: int, times: np.ndarray) -> Block:
    seconds = tuple(times.tolist())
    return Block(
        workload=0, round=number, order=0, calls_per_sample=1, latency_s=seconds, host_s=seconds, gpu_s=seconds
    )
