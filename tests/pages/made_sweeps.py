"""Hand-made runs of the operator pages: every variant at a few sizes, times from a fixed rule. Nothing measured."""

import math
import random
from dataclasses import replace

from engine.catalog import find_technique, find_variant, fits, twin_of
from engine.catalog.operators import OPERATORS
from engine.result import Block, Environment, Failure, Limits, Measurement, OutputCheck, PointSetUp, Run
from engine.spec import PROTOCOLS, Experiment, Workload
from tests.hand_made import CPU, MACHINE
from tests.pages.made_runs import QUIET

MIB = 2**20
CACHES = {"L1d": 48 * 2**10, "L2": MIB, "L3": 32 * MIB}
DEVICE = replace(CPU, name="Hand-made CPU, 2 cores", last_level_cache_bytes=CACHES["L3"], cache_bytes=CACHES)
BANDWIDTH = 4e10
FAULT_S = 0.3e-6
PAGE = 4096
MAPPED_FROM = 32 * MIB
"""Larger results come fresh from the system at every call, as glibc has it."""


def made_sweep(
    technique: str, points: tuple[Workload, ...], *, protocol: str = "standard", run_id: str = "sweep", facts: dict | None = None,
) -> Run:  # fmt: skip
    """A finished run of every operator variant that fits; what needs CUDA is not available."""
    variants = [
        variant for variant in find_technique(technique).variants if any(fits(variant, point) for point in points)
    ]
    here = [variant for variant in variants if "cuda" not in variant.requires]
    experiment = Experiment(
        workloads=points, variants=tuple(variant.key for variant in variants), protocol=PROTOCOLS[protocol]
    )
    keys = dict.fromkeys(key for variant in here for key in (variant.baseline, twin_of(variant.baseline), variant.key))
    return Run(
        id=run_id,
        experiment=experiment,
        status="done",
        submitted_at="2026-11-30T09:00:00+00:00",
        finished_at="2026-11-30T09:04:00+00:00",
        environment=Environment(machine=MACHINE, device=DEVICE, threads=2, matmul_precision="highest"),
        limits=Limits(bandwidth_bytes_per_s=BANDWIDTH, bandwidth_bytes=128 * MIB),
        outcomes=(
            *(
                Failure(
                    variant=variant.key, process=0, stage="start", kind="unavailable", message="this device has no CUDA",
                    workloads=tuple(point for point in points if fits(variant, point)),
                )
                for variant in variants if variant not in here
            ),
            *(
                _measured(key, process, tuple(point for point in points if fits(find_variant(key), point)), facts or {})
                for process in range(PROTOCOLS[protocol].process_sets)
                for key in keys
            ),
        ),
    )  # fmt: skip


def call_s(variant: str, point: Workload) -> float:
    """Traffic at the measured bandwidth (four times that from a cache), launches of 1 us, page faults of fresh large results."""
    card = OPERATORS[point.operator or ""]
    moved = card.moved_bytes(variant, point) or 2 * card.array_bytes(point)
    is_cached = card.alive * card.array_bytes(point) < 32 * MIB
    return (
        started(variant, point) * 1e-6
        + moved / (BANDWIDTH * (4 if is_cached else 1))
        + faults(variant, point) * FAULT_S
    )


def started(variant: str, point: Workload) -> int:
    """Operators of one call."""
    if "addcmul" in variant:
        return 1
    return {"kernel-fusion/compiled": 0, "kernel-fusion/two-kernels": 2}.get(
        variant, OPERATORS[point.operator or ""].steps
    )


def allocated(variant: str, point: Workload) -> int:
    """Bytes one call allocates."""
    arrays = {"fresh": 1, "copyto": 1, "separate": 3, "addcmul": 1, "compiled": 1, "two-kernels": 2}
    return arrays.get(variant.partition("/")[2], 0) * OPERATORS[point.operator or ""].array_bytes(point)


def faults(variant: str, point: Workload) -> int:
    """Pages of all fresh results of one call."""
    is_mapped = OPERATORS[point.operator or ""].array_bytes(point) >= MAPPED_FROM
    return allocated(variant, point) // PAGE if is_mapped else 0


def least_traffic(point: Workload) -> int:
    """Inputs and result touched once."""
    arrays = {"addcmul": 4, "bias-gelu-norm": 3}.get(point.operator or "", 2)
    return arrays * OPERATORS[point.operator or ""].array_bytes(point)


def _measured(key: str, process: int, points: tuple[Workload, ...], more: dict) -> Measurement:
    variant, chance = key.removesuffix("@twin"), random.Random(f"{key}{process}")
    times = [call_s(variant, point) * math.exp(chance.gauss(0, 0.002)) for point in points]
    compiles = find_variant(variant).compiles
    return Measurement(
        variant=key,
        process=process,
        workloads=points,
        load_s=0.01,
        apply_s=0.001,
        compile_cache=("cold" if process == 0 else "warm") if compiles else None,
        points=tuple(
            PointSetUp(first_calls_s=(3 * each, each, each), warmup_s=(each,) * 20, reached_steady_state=True) for each in times
        ),
        blocks=tuple(
            Block(
                workload=index, round=number, order=0, calls_per_sample=1,
                latency_s=tuple(each * math.exp(abs(chance.gauss(0, 0.01))) for _ in range(5)),
            )
            for index, each in enumerate(times) for number in range(20)
        ),
        facts={
            "threads": 2, "grad_mode": "inference", "frames_compiled": int(compiles), "frames_seen": int(compiles),
            "graphs": int(compiles), "graph_breaks": 0, "recompiles_while_timing": 0,
            "operators_per_call": [started(variant, point) for point in points],
            "allocated_bytes_per_call": [allocated(variant, point) for point in points],
            "page_faults_per_call": [faults(variant, point) for point in points],
            "minimum_bytes": [least_traffic(point) for point in points],
            **more,
        },
        memory={"peak_process_bytes": 300 * MIB},
        outputs=tuple(
            OutputCheck(
                stage="before", workload=index, inputs=10, rmse=1e-8, rmse_eager=1e-8, reference_rms=1.0, cosine=1.0,
                non_finite=0, non_finite_eager=0, is_stale=False, is_overwritten=False, is_deterministic=True,
            )
            for index in range(len(points))
        ),
        rounds=(QUIET,) * 20,
    )  # fmt: skip


EXAMPLE = tuple(
    Workload(operator=name, elements=3000, dtype="float64") for name in ("numpy-dot-as-written", "numpy-dot")
)
SIZES = tuple(Workload(operator="relu", elements=2**power) for power in (10, 20, 24))
NUMPY_SIZES = tuple(Workload(operator="numpy-relu", elements=2**power) for power in (10, 24))
STREAM = (Workload(operator="request-stream", elements=512 * 768),)
EXPRESSION = tuple(Workload(operator="addcmul", elements=2**power) for power in (10, 18, 20, 24))
CHAIN = tuple(Workload(operator="bias-gelu-norm", elements=tokens * 768) for tokens in (11, 1024))


def made_preallocation(**settings: object) -> Run:
    """The pre-allocation page's run on a CPU, without the model."""
    return made_sweep("preallocation", (*EXAMPLE, *SIZES, *NUMPY_SIZES, *STREAM), **settings)  # type: ignore[arg-type]


def made_fusion(**settings: object) -> Run:
    """The kernel-fusion page's run."""
    return made_sweep("kernel-fusion", (*EXPRESSION, *CHAIN), **settings)  # type: ignore[arg-type]
