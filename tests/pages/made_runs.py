"""Whole hand-made runs for page and chart tests: five process sets of eager, its twin and torch.compile. Nothing measured."""

import math
import random
from dataclasses import replace

from engine.catalog import twin_of
from engine.result import (
    Block,
    Conditions,
    Environment,
    Failure,
    Limits,
    Measurement,
    OutputCheck,
    PointSetUp,
    Run,
)
from engine.spec import PROTOCOLS, Experiment, Workload
from tests.hand_made import CPU, MACHINE

EAGER, COMPILED = "baseline/eager", "torch-compile/default"
POINT = Workload(model="distilbert-base-uncased", batch_size=8, sequence_length=11)
QUIET = Conditions(load_average=0.1, steal_fraction=0.0, other_cpu_cores=0.02)
LIMITS = Limits(bandwidth_bytes_per_s=2.5e10, bandwidth_bytes=2**28, flops_per_s={"float32": 2e12})
MADE_CPU = replace(CPU, name="Hand-made CPU, 2 cores")


def made_run(
    run_id: str = "made",
    *,
    speedup: float = 1.4,
    eager_s: float = 0.0216,
    protocol: str = "standard",
    point: Workload = POINT,
    label: str = "",
    facts: dict | None = None,
    limits: Limits | None = LIMITS,
) -> Run:
    """A finished run in which torch.compile is `speedup` times as fast as eager, give or take noise from a fixed seed."""
    experiment = Experiment(workloads=(point,), variants=(EAGER, COMPILED), protocol=PROTOCOLS[protocol])
    seconds = {EAGER: eager_s, twin_of(EAGER): eager_s, COMPILED: eager_s / speedup}
    return Run(
        id=run_id,
        experiment=experiment,
        status="done",
        submitted_at="2026-11-30T09:00:00+00:00",
        started_at="2026-11-30T09:00:01+00:00",
        finished_at="2026-11-30T09:03:20+00:00",
        label=label,
        environment=Environment(machine=MACHINE, device=MADE_CPU, threads=2, matmul_precision="highest"),
        limits=limits,
        outcomes=tuple(
            measurement(variant, process, call_s, point, facts or {})
            for process in range(PROTOCOLS[protocol].process_sets)
            for variant, call_s in seconds.items()
        ),
    )


def measurement(variant: str, process: int, call_s: float, point: Workload, facts: dict) -> Measurement:
    """Twenty rounds of eight calls each around `call_s`."""
    chance = random.Random(f"{variant}{process}")
    level = call_s * math.exp(chance.gauss(0, 0.002))
    compiles = variant == COMPILED
    first_s = (9.3 if process == 0 else 2.1) if compiles else call_s * 3
    return Measurement(
        variant=variant,
        process=process,
        workloads=(point,),
        load_s=1.2,
        apply_s=0.002,
        compile_s=8.4 if compiles else 0.0,
        compile_cache="cold" if process == 0 else "warm",
        points=(
            PointSetUp(
                first_calls_s=(first_s, call_s * 1.6, call_s * 1.1),
                warmup_s=tuple(level * math.exp(abs(chance.gauss(0, 0.02))) for _ in range(40)),
                reached_steady_state=True,
            ),
        ),
        blocks=tuple(
            Block(
                workload=0,
                round=number,
                order=0,
                calls_per_sample=1,
                latency_s=tuple(level * math.exp(abs(chance.gauss(0, 0.02))) for _ in range(8)),
            )
            for number in range(20)
        ),
        memory={"peak_process_bytes": 640 * 2**20, "whole_life_peak_process_bytes": 880 * 2**20 if compiles else None},
        facts={**_facts(compiles), **facts},
        outputs=tuple(_output_check(stage) for stage in ("before", "after")),
        rounds=(QUIET,) * 20,
    )


def _facts(compiles: bool) -> dict:
    return {
        "model_note": "random weights: timing valid, outputs meaningless",
        "attention": "sdpa",
        "threads": 2,
        "grad_mode": "inference_mode",
        "frames_seen": int(compiles),
        "frames_compiled": int(compiles),
        "graphs": int(compiles),
        "graph_breaks": 0,
        "graph_break_reasons": [],
        "recompiles_while_timing": 0,
        "recompile_limit_hit": False,
        "generated_kernels": 37 * compiles,
        "model_type": "distilbert",
        "num_layers": 6,
        "hidden_size": 768,
        "intermediate_size": 3072,
    }


def _output_check(stage: str) -> OutputCheck:
    return OutputCheck(
        stage=stage, workload=0, inputs=8, rmse=3.9e-7, rmse_eager=3.7e-7, max_abs_error=1.6e-6, max_abs_error_eager=1.5e-6,
        reference_rms=0.6, cosine=1.0, argmax_agreement=1.0, non_finite=0, non_finite_eager=0,
        is_stale=False, is_overwritten=False, is_deterministic=True,
    )  # fmt: skip


def with_failure(run: Run, message: str, kind: str = "error") -> Run:
    """The same run with torch.compile failing in every process set."""
    kept = [outcome for outcome in run.outcomes if outcome.variant != COMPILED]
    failures = [
        Failure(
            variant=COMPILED, process=process, workloads=run.experiment.workloads,
            stage="first_call", kind=kind, message=message, log_tail="line before the end\nlast line",
        )
        for process in range(run.experiment.protocol.process_sets)
    ]  # fmt: skip
    return replace(run, outcomes=(*kept, *failures))
