"""Runs made by hand: exact numbers, no torch, no clock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from engine.result import (
    Block,
    Conditions,
    Device,
    Environment,
    Failure,
    Limits,
    Machine,
    Measurement,
    OutputCheck,
    PointSetUp,
    Run,
)
from engine.spec import PROTOCOLS, Experiment, Workload

EAGER, TWIN, COMPILED = "baseline/eager", "baseline/eager@twin", "torch-compile/default"
WORKLOAD = Workload(model="distilbert-base-uncased", batch_size=1, sequence_length=11)
QUIET = Conditions(load_average=0.1, steal_fraction=0.0, other_cpu_cores=0.02)
CORRECT = OutputCheck(stage="before", workload=0, inputs=8, rmse=3e-7, rmse_eager=3e-7, max_abs_error=1e-6,
                      max_abs_error_eager=1e-6, reference_rms=0.5, cosine=1.0, non_finite=0, non_finite_eager=0,
                      is_stale=False, is_overwritten=False, is_deterministic=True)  # fmt: skip
EAGER_FACTS = {"threads": 2, "grad_mode": "inference", "attention": "sdpa", "frames_compiled": 0, "frames_seen": 0}
COMPILED_FACTS = EAGER_FACTS | {
    "frames_compiled": 1, "frames_seen": 1, "graphs": 1, "graph_breaks": 0, "recompiles_while_timing": 0,
    "recompile_limit_hit": False, "generated_kernels": 20,
}  # fmt: skip
DEVICE = Device(key="cpu", name="Test CPU", backend="cpu", identity="test")
MACHINE = Machine(hostname="test", system="Linux", cpu_model="Test CPU", physical_cores=2, usable_cores=2,
                  memory_bytes=2**33, devices=(DEVICE,), versions={"torch": "2.13.0"}, capabilities={})  # fmt: skip
ENVIRONMENT = Environment(machine=MACHINE, device=DEVICE, threads=2, matmul_precision="highest")


def blocks(rounds: Sequence[Sequence[float]], **fields: Any) -> tuple[Block, ...]:
    """One block per round, at the first workload."""
    defaults: dict[str, Any] = {"workload": 0, "order": 0, "calls_per_sample": 1} | fields
    return tuple(
        Block(**{**defaults, "round": number, "latency_s": tuple(times)}) for number, times in enumerate(rounds)
    )


def measurement(
    variant: str,
    process: int,
    rounds: Sequence[Sequence[float]],
    facts: Mapping[str, Any] | None = None,
    first_calls_s: tuple[float, ...] = (0.05,),
    **fields: Any,
) -> Measurement:
    """A valid measurement whose steady samples are `rounds`; `fields` replace the others."""
    is_compiled = variant == COMPILED
    defaults = Measurement(
        variant=variant,
        process=process,
        workloads=(WORKLOAD,),
        load_s=2.0,
        apply_s=0.0,
        points=(PointSetUp(first_calls_s=first_calls_s, warmup_s=(0.01, 0.01), reached_steady_state=True),),
        blocks=blocks(rounds),
        compile_cache=("cold" if process == 0 else "warm") if is_compiled else None,
        facts=(COMPILED_FACTS if is_compiled else EAGER_FACTS) | (facts or {}),
        outputs=(CORRECT, replace(CORRECT, stage="after")),
        rounds=(QUIET,) * len(rounds),
        harness_s={"empty": 1e-7},
    )
    return replace(defaults, **fields)


def run_of(*outcomes: Measurement | Failure, **fields: Any) -> Run:
    """A finished run with these outcomes."""
    experiment = fields.pop("experiment", None) or Experiment(
        workloads=(WORKLOAD,), variants=(EAGER, COMPILED), protocol=PROTOCOLS[fields.pop("protocol", "standard")]
    )
    defaults = Run(
        id="r1", experiment=experiment, status="done", submitted_at="2026-01-01T00:00:00+00:00", environment=ENVIRONMENT,
        started_at="2026-01-01T00:00:01+00:00", finished_at="2026-01-01T00:03:00+00:00", limits=Limits(), outcomes=outcomes,
    )  # fmt: skip
    return replace(defaults, **fields)


def wobble(seconds: float, process: int, rounds: int = 8, calls: int = 3) -> list[list[float]]:
    """Rounds of calls around `seconds`, each round and process a little different, the same for equal arguments."""
    return [
        [seconds * (1 + 1e-4 * ((7 * process + 5 * r + 3 * c) % 11 - 5)) for c in range(calls)] for r in range(rounds)
    ]


def standard_run(compiled_s: float = 0.05, eager_s: float = 0.06, twin_s: float = 0.06, **fields: Any) -> Run:
    """Eager, its twin and torch.compile over five process sets, every check passing."""
    outcomes = [
        measurement(variant, process, wobble(seconds, process + shift))
        for process in range(5)
        for shift, (variant, seconds) in enumerate(((EAGER, eager_s), (TWIN, twin_s), (COMPILED, compiled_s)))
    ]
    return run_of(*outcomes, **fields)
