"""A hand-made run of the Pitfalls page: round numbers, so that every error factor is known beforehand. Nothing measured."""

from dataclasses import replace

from engine.catalog import VARIANTS, twin_of
from engine.catalog.pitfalls import COMPILED, DOT, HALF_COMPILED, HALF_EAGER, REMEMBERING, REPLAYED
from engine.pitfalls import experiment
from engine.result import Failure, Measurement, Run
from engine.spec import PROTOCOLS, Workload
from tests.pages.made_runs import made_run, measurement

EAGER = "baseline/eager"
POINT = Workload(model="distilbert-base-uncased", batch_size=1, sequence_length=11)
SECONDS = {
    EAGER: 0.020, twin_of(EAGER): 0.020, REMEMBERING: 0.020, COMPILED: 0.016, HALF_EAGER: 0.012, HALF_COMPILED: 0.008,
}  # fmt: skip
DOT_S = 0.3e-3
LOOPS = {
    REMEMBERING: {
        "wall-clock": {"reported_s": 0.0213, "baseline_s": None, "note": "time can, perf_counter cannot."},
        "mean": {"reported_s": 0.022, "baseline_s": None, "note": "the median is 20.0 ms"},
        "a-then-b": {"reported_s": 0.019, "baseline_s": 0.020, "note": None},
        "constant-input": {"reported_s": 0.0002, "baseline_s": 0.020, "note": None},
        "gradients": {"reported_s": 0.025, "baseline_s": None, "note": None},
    },
    COMPILED: {
        "first-call": {"reported_s": 0.100, "baseline_s": 0.020, "note": None},
        "one-process": {"reported_s": 0.016, "baseline_s": 0.020, "note": None},
    },
    HALF_COMPILED: {"unfair-baseline": {"reported_s": 0.008, "baseline_s": 0.020, "note": None}},
    DOT: {"work-left": {"reported_s": 0.6e-3, "baseline_s": None, "note": None}},
}
REPEATED = ("a-then-b", "one-process")
COMPILED_FACTS = {"frames_seen": 1, "frames_compiled": 1, "graphs": 1, "generated_kernels": 37}


def made_pitfalls(run_id: str = "ten", protocol: str = "standard") -> Run:
    """Every process set of every arm; CUDA graphs are not available."""
    wanted = experiment(POINT, "cpu", PROTOCOLS[protocol])
    outcomes = [
        _measured(variant, process, call_s, POINT)
        for process in range(PROTOCOLS[protocol].process_sets)
        for variant, call_s in SECONDS.items()
    ]
    outcomes += [
        _measured(variant, process, DOT_S, wanted.workloads[1])
        for process in range(PROTOCOLS[protocol].process_sets)
        for variant in (DOT, twin_of(DOT))
    ]
    missing = Failure(
        variant=REPLAYED, process=0, workloads=(POINT,), stage="start", kind="unavailable", message="this device has no CUDA"
    )  # fmt: skip
    return replace(made_run(run_id, protocol=protocol), experiment=wanted, outcomes=(*outcomes, missing))


def without(run: Run, variant: str, message: str) -> Run:
    """The same run with one arm failing in its first process set and never measured after that."""
    kept = [outcome for outcome in run.outcomes if outcome.variant != variant]
    failed = Failure(variant=variant, process=0, workloads=(POINT,), stage="first_call", kind="error", message=message)
    return replace(run, outcomes=(*kept, failed))


def _measured(variant: str, process: int, call_s: float, point: Workload) -> Measurement:
    known = VARIANTS.get(variant)
    loops = LOOPS.get(variant, {})
    if process:
        loops = {key: left for key, left in loops.items() if key in REPEATED}
    facts = {"mistaken_loops": loops, **(COMPILED_FACTS if known and known.compiles else {})}
    return measurement(variant, process, call_s, point, facts)
