"""One row of every table, bar and export: the single source of each shown number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.result import CacheState
from engine.spec import Workload
from engine.stats import BreakEven, Drift, Interval, Percentile
from engine.verdict import Check, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Badge:
    """Something a reader must know beside the number: a few words, and their explanation one hover away."""

    key: str
    text: str
    meaning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """How one process set came to this workload: as its `place`-th (from 0), after it had seen `first` first of all.

    `new_graphs` were compiled by the first calls here, `graphs` there were then in all; None where nothing compiles.
    `stall_s` is what the very first call took beyond a steady one (`median_s`).
    """

    process: int
    place: int
    first: Workload
    new_graphs: int | None
    graphs: int | None
    first_call_s: float | None
    stall_s: float | None
    median_s: float | None
    compile_cache: CacheState | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonRow:
    """One variant at one workload of one run, against one baseline. Seconds, bytes, counts; None is unknown.

    `speedup` is None wherever the verdict forbids one; `process_ratios` are the raw dots behind it, one speed-up per process
    set. `rounds` is the smallest number of rounds any process set got, `samples` the steady samples in all. Medians are over
    all steady samples, `baseline_median_s` over the process sets the row shares with its baseline. `setup_cold_s` is from
    the process set that found its compile cache empty, `setup_warm_s` the median of the others. `percentile_note` says why
    there is no percentile.
    `gpu_is_profiled`: `gpu_s` is the profiler's, because no call could be queued. `empty_s` and `synchronize_s` are what timing
    nothing costs, without and with a synchronise.
    `first_calls_s` are the cold set's first calls, one by one, `arrivals` how every set came here.
    """

    run_id: str
    run_label: str
    measured_at: str
    device: str
    device_name: str
    protocol: str
    variant: str
    technique: str
    label: str
    workload: Workload
    precision: str
    baseline: str
    baseline_label: str
    is_baseline: bool
    is_twin: bool
    verdict: Verdict
    reason: str
    speedup: Interval | None = None
    empty_s: float | None = None
    synchronize_s: float | None = None
    process_ratios: tuple[float, ...] = ()
    extra_process_sets: int | None = None
    processes: int = 0
    rounds: int = 0
    samples: int = 0
    calls_per_sample: int | None = None
    median_s: float | None = None
    baseline_median_s: float | None = None
    iqr_s: float | None = None
    p95: Percentile | None = None
    p99: Percentile | None = None
    percentile_note: str | None = None
    host_s: float | None = None
    gpu_s: float | None = None
    gpu_is_profiled: bool = False
    throughput_s: float | None = None
    bound: str | None = None
    load_s: float | None = None
    compile_s: float | None = None
    autotune_s: float | None = None
    first_calls_s: tuple[float, ...] = ()
    arrivals: tuple[Arrival, ...] = ()
    first_compile_cache: CacheState | None = None
    setup_cold_s: float | None = None
    setup_warm_s: float | None = None
    break_even_cold: BreakEven | None = None
    break_even_warm: BreakEven | None = None
    memory: Mapping[str, float | None] = field(default_factory=dict)
    floor_s: float | None = None
    drift: Drift | None = None
    raw_change: float | None = None
    badges: tuple[Badge, ...] = ()
    checks: tuple[Check, ...] = ()

    @property
    def floor_speedup(self) -> float | None:
        """The speed-up a technique would have at the physical floor: the mark on the bars."""
        if self.floor_s is None or self.baseline_median_s is None:
            return None
        return self.baseline_median_s / self.floor_s

    @property
    def floor_fraction(self) -> float | None:
        """Floor over median: how much of the possible speed is reached, 1 being all of it."""
        return None if self.floor_s is None or self.median_s is None else self.floor_s / self.median_s
