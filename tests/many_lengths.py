"""A hand-made run over several lengths: graphs as torch counts them, stalls, a stream of requests. Nothing here was measured."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from engine.arms import balanced_order
from engine.catalog import twin_of
from engine.catalog.dynamic_shapes import padded_length
from engine.result import Block, Conditions, Measurement, OutputCheck, PointSetUp, Run
from engine.spec import PROTOCOLS, Experiment, Workload
from tests.hand_made import ENVIRONMENT, LIMITS

EAGER, DEFAULT = "dynamic-shapes/eager", "dynamic-shapes/default"
STATIC, ARTICLE, BUCKETS = (
    "dynamic-shapes/dynamic-false",
    "dynamic-shapes/no-cudagraphs",
    "dynamic-shapes/buckets",
)
SPEED = {EAGER: 1.0, DEFAULT: 1.2, STATIC: 1.5, ARTICLE: 1.25, BUCKETS: 1.1}
COMPILE_S = 8.0
REQUESTS = (11, 24, 30, 60, 24, 11, 30, 60)
QUIET = Conditions(load_average=0.1, steal_fraction=0.0, other_cpu_cores=0.02)


def point(length: int, model: str = "distilbert-base-uncased") -> Workload:
    return Workload(model=model, batch_size=1, sequence_length=length)


def call_s(variant: str, length: int) -> float:
    """Seconds of one steady call."""
    tokens = padded_length(length) if variant == BUCKETS else length
    return (0.020 + 0.0007 * tokens) / SPEED[variant.removesuffix("@twin")]


def new_graphs(variant: str, lengths: Sequence[int]) -> list[int]:
    """How many graphs each of these lengths makes, in this order (METHOD 2.5)."""
    if variant.removesuffix("@twin") == EAGER:
        return [0] * len(lengths)
    if variant in (STATIC, BUCKETS):
        shapes = [padded_length(length) if variant == BUCKETS else length for length in lengths]
        return [int(shape not in shapes[:place]) for place, shape in enumerate(shapes)]
    return [int(place < 2) for place in range(len(lengths))]


def many_lengths_run(
    lengths: Sequence[int] = (11, 24, 60),
    variants: Sequence[str] = tuple(SPEED),
    requests: Sequence[int] = REQUESTS,
    protocol: str = "standard",
    facts: Mapping[str, Mapping[str, Any]] | None = None,
    **fields: Any,
) -> Run:
    """A finished run; `facts` are more facts by variant."""
    points = tuple(map(point, lengths))
    experiment = Experiment(
        workloads=points, variants=tuple(variants), protocol=PROTOCOLS[protocol], request_lengths=tuple(requests)
    )
    outcomes = tuple(
        measurement(variant, process, balanced_order(1, process, points), requests, (facts or {}).get(variant, {}))
        for process in range(PROTOCOLS[protocol].process_sets)
        for variant in (EAGER, twin_of(EAGER), *(key for key in variants if key != EAGER))
    )
    run = Run(
        id="lengths", experiment=experiment, status="done", submitted_at="2026-11-30T09:00:00+00:00",
        started_at="2026-11-30T09:00:01+00:00", finished_at="2026-11-30T09:30:00+00:00", environment=ENVIRONMENT,
        limits=LIMITS, outcomes=outcomes,
    )  # fmt: skip
    return replace(run, **fields)


def measurement(
    variant: str, process: int, points: Sequence[Workload], requests: Sequence[int], facts: Mapping[str, Any]
) -> Measurement:
    lengths = [each.sequence_length or 0 for each in points]
    compiles = variant.removesuffix("@twin") != EAGER
    graphs = new_graphs(variant, lengths)
    known = {
        "device": "cpu", "threads": 2, "grad_mode": "inference", "attention": "sdpa", "frames_compiled": sum(graphs),
        "frames_seen": sum(graphs), "graphs": sum(graphs), "graph_breaks": 0, "recompiles_while_timing": 0,
        "recompile_limit_hit": False,
    }  # fmt: skip
    answered = stream(variant, requests) if process == 0 else {}
    return Measurement(
        variant=variant,
        process=process,
        workloads=tuple(points),
        load_s=1.0,
        apply_s=0.0,
        points=tuple(
            set_up(variant, length, count if compiles else None) for length, count in zip(lengths, graphs, strict=True)
        ),
        blocks=tuple(
            block(variant, place, length, number) for number in range(6) for place, length in enumerate(lengths)
        ),
        compile_cache=("cold" if process == 0 else "warm") if compiles else None,
        outputs=tuple(check(stage, place) for stage in ("before", "after") for place in range(len(points))),
        rounds=(QUIET,) * 6,
        request_s=answered.get("request_s", ()),
        facts=known | {key: value for key, value in answered.items() if key != "request_s"} | dict(facts),
    )


def stream(variant: str, requests: Sequence[int]) -> dict[str, Any]:
    """Seconds and facts of the request stream: every new graph costs `COMPILE_S`."""
    graphs = new_graphs(variant, list(dict.fromkeys(requests)))
    stalls = dict(zip(dict.fromkeys(requests), graphs, strict=True))
    times, stalled = [], []
    for number, length in enumerate(requests, start=1):
        new = stalls.pop(length, 0)
        times.append(call_s(variant, length) + new * COMPILE_S)
        stalled += [number] if new else []
    return (
        {"request_s": tuple(times), "requests_that_compiled": stalled, "request_graphs": sum(graphs)}
        if requests
        else {}
    )


def set_up(variant: str, length: int, graphs: int | None) -> PointSetUp:
    steady_s = call_s(variant, length)
    return PointSetUp(
        first_calls_s=(steady_s + (graphs or 0) * COMPILE_S, steady_s, steady_s),
        new_graphs=None if graphs is None else (graphs, 0, 0),
        warmup_s=(steady_s,) * 10,
        reached_steady_state=True,
    )


def block(variant: str, place: int, length: int, number: int) -> Block:
    steady_s = call_s(variant, length)
    return Block(workload=place, round=number, order=0, calls_per_sample=1, latency_s=(steady_s,) * 3)


def check(stage: Any, place: int) -> OutputCheck:
    return OutputCheck(
        stage=stage, workload=place, inputs=8, rmse=3e-7, rmse_eager=3e-7, max_abs_error=1e-6, max_abs_error_eager=1e-6,
        reference_rms=0.5, cosine=1.0, non_finite=0, non_finite_eager=0, is_stale=False, is_overwritten=False,
        is_deterministic=True,
    )  # fmt: skip
