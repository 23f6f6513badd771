"""What came back: measurements, failures, the environment they were made in. Only what was observed.

Nothing here is trimmed, averaged or judged: every statistic and verdict is derived from these at display time.
Units are base units (seconds, bytes, counts). Unknown is None, never 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from engine.machine import Capability, Device, Environment, Machine
from engine.spec import Experiment, Workload

__all__ = [
    "Block",
    "CacheState",
    "Capability",
    "Conditions",
    "Device",
    "Environment",
    "Failure",
    "FailureKind",
    "Limits",
    "Machine",
    "Measurement",
    "Outcome",
    "OutputCheck",
    "PointSetUp",
    "Run",
    "RunStatus",
]

FailureKind = Literal["unavailable", "out_of_memory", "timeout", "crashed", "cancelled", "error"]
CacheState = Literal["cold", "warm"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """What the machine was doing at one moment; a field that cannot be read is None."""

    load_average: float | None = None
    steal_fraction: float | None = None
    other_cpu_cores: float | None = None
    sm_clock_hz: float | None = None
    memory_clock_hz: float | None = None
    temperature_c: float | None = None
    power_w: float | None = None
    throttle_reasons: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One variant's timed calls in one round, at `Measurement.workloads[workload]`.

    `latency_s[i]` is sample i's wall time divided by `calls_per_sample`, device synchronised; `host_s` stops before the
    synchronise; `gpu_s` comes from an event pair behind a spin (None per sample when the spin ended early).
    `order` is the block's place in its round's random order.
    """

    workload: int
    round: int
    order: int
    calls_per_sample: int
    latency_s: tuple[float, ...]
    host_s: tuple[float, ...] | None = None
    gpu_s: tuple[float | None, ...] | None = None
    before: Conditions | None = None
    after: Conditions | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PointSetUp:
    """How one workload came to its steady state in this child.

    `first_calls_s` are the first calls after the technique was applied, one by one, compilation included;
    `new_graphs` how many graphs each of them compiled (None where nothing compiles). `warmup_s` are the calls after them,
    seconds per call; very short calls are timed `warmup_calls_per_sample` at a time.
    """

    first_calls_s: tuple[float, ...]
    new_graphs: tuple[int, ...] | None = None
    warmup_s: tuple[float, ...] = ()
    warmup_calls_per_sample: int = 1
    reached_steady_state: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputCheck:
    """One comparison of the measured callable's outputs at one workload, before or after timing (METHOD 4).

    Errors are against the float64 reference: `rmse` and `max_abs_error` of this variant, `rmse_eager` and
    `max_abs_error_eager` of plain eager in the same dtype, `reference_rms` the reference's own size. `is_stale`: a second,
    different input gave the first one's answer. `is_overwritten`: a later call changed an output handed out earlier.
    """

    stage: Literal["before", "after"]
    workload: int
    inputs: int
    rmse: float | None = None
    rmse_eager: float | None = None
    max_abs_error: float | None = None
    max_abs_error_eager: float | None = None
    reference_rms: float | None = None
    cosine: float | None = None
    argmax_agreement: float | None = None
    non_finite: int | None = None
    non_finite_eager: int | None = None
    is_stale: bool | None = None
    is_overwritten: bool | None = None
    is_deterministic: bool | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """Everything one child observed for one variant in one process set.

    `facts` are the evidence: counters and readings under keys of `engine.metrics.FACTS`; a key that could not be read on
    this torch version holds None. `memory` is bytes by named kind (keys of `engine.metrics`). `compile_s` and `autotune_s`
    come from torch's own compilation metrics. `throughput_s[i]` is seconds per call at workload i with calls back to back.
    `harness_s` is what timing nothing costs: keys `empty` and `synchronize`.
    """

    variant: str
    process: int
    workloads: tuple[Workload, ...]
    load_s: float
    apply_s: float
    points: tuple[PointSetUp, ...]
    blocks: tuple[Block, ...]
    compile_s: float | None = None
    autotune_s: float | None = None
    compile_cache: CacheState | None = None
    throughput_s: tuple[float | None, ...] = ()
    request_s: tuple[float, ...] = ()
    harness_s: Mapping[str, float] = field(default_factory=dict)
    memory: Mapping[str, int | None] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    outputs: tuple[OutputCheck, ...] = ()
    rounds: tuple[Conditions, ...] = ()
    log_path: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Nothing was measured for this variant in this process set, and why.

    `stage` is a phase name (of `engine.messages.PhaseChanged`, or `finish` between two of the last ones), `message` one
    readable sentence, `log_tail` the last lines the child wrote.
    """

    variant: str
    process: int
    workloads: tuple[Workload, ...]
    stage: str
    kind: FailureKind
    message: str
    log_path: str | None = None
    log_tail: str | None = None


Outcome = Measurement | Failure


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What this device can do at best, the best seen in the same run (METHOD 5); the floor under every bar.

    `bandwidth_bytes_per_s` is the best of negating in place, copy, add and sum, each touching `bandwidth_bytes` of memory
    (4x the last cache; files of earlier versions: arrays of that size each);
    `flops_per_s` a square matrix product per dtype; `launch_s` the host cost of launching an empty kernel (None on CPU).
    """

    bandwidth_bytes_per_s: float | None = None
    bandwidth_bytes: int | None = None
    flops_per_s: Mapping[str, float] = field(default_factory=dict)
    launch_s: float | None = None
    graph_launch_s: float | None = None
    synchronize_s: float | None = None


RunStatus = Literal["queued", "running", "done", "cancelled", "interrupted", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One execution of an experiment on one machine. `id` is what links name; times are UTC, ISO 8601.

    `outcomes` hold whatever exists so far. `status` "failed" means that the run as a whole could not go on, with `message`.
    `environment` is None only while a queued run has not been started.
    """

    id: str
    experiment: Experiment
    status: RunStatus
    submitted_at: str
    environment: Environment | None = None
    started_at: str | None = None
    finished_at: str | None = None
    label: str = ""
    note: str = ""
    message: str = ""
    limits: Limits | None = None
    outcomes: tuple[Outcome, ...] = ()
