"""Spins of known length through the real runner and statistics: T1 truth, T3 mixture, T4b A/A, T6 drift (METHOD 6).

The two arms are the eager baseline and its A/A twin, which every experiment has anyway; the child gives each its own spin.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from statistics import median

from engine import stats
from engine.catalog import twin_of
from engine.comparison.arms import Arm, arms_of
from engine.comparison.pairing import log_table, process_log_ratios
from engine.formatting import fraction
from engine.messages import BlockMeasured, MeasureBlock, ReadyToMeasure, SetUp
from engine.result import Machine, Run
from engine.runner import record
from engine.runner.child_process import ChildProcess
from engine.runner.context import child_variables
from engine.selftest.spin import Spin
from engine.selftest.table import Row
from engine.serial import unstructure
from engine.spec import PROTOCOLS, Experiment, Protocol, Workload
from engine.stats import Interval
from engine.verdict import Verdict, word_for

BASELINE = "baseline/eager"
TWIN = twin_of(BASELINE)
SPIN_POINT = Workload(model="spin", batch_size=1, sequence_length=1)

TRUTH_TOLERANCE = 0.005
MIXTURE_TOLERANCE = 0.002
DRIFT_TOLERANCE = 0.01
DRIFT_TEETH = 0.03
"""The sequential control must be off by more than this, or the drift test would prove nothing."""
DRIFT = 0.10
START_S = 1.5
"""Time for two children to start and settle before a drift begins."""
DRIFT_S = 4.0

# A spin has no OpenMP threads to wait for and no caches to warm: its rests, blocks and warm-up can be short.
QUICK = replace(
    PROTOCOLS["quick"],
    name="selftest",
    block_s=0.010,
    rest_s=0.005,
    warmup_min_s=0.05,
    warmup_max_s=0.5,
    set_up_limit_s=60.0,
)
SETS_OF_AA = PROTOCOLS["standard"].process_sets
AA_SPIN = Spin(call_s=1e-3, call_noise=0.03, process_noise=0.005)
"""The noise that the simulations of coverage and power assume (METHOD 6, T4), here in real processes."""


def measure_pair(machine: Machine, protocol: Protocol, baseline: Spin, other: Spin) -> Run:
    """Two spins as baseline and twin, measured by the real runner."""
    experiment = Experiment(workloads=(SPIN_POINT,), variants=(BASELINE,), protocol=protocol, threads=1)
    with tempfile.TemporaryDirectory() as folder:
        return record(experiment, machine, work_dir=Path(folder), child_command=spin_command(baseline, other))


def spin_command(baseline: Spin, other: Spin) -> list[str]:
    """The command line of a child that serves these spins."""
    spins = json.dumps(unstructure({BASELINE: baseline, TWIN: other}))
    return [sys.executable, "-m", "engine.selftest.spin_child", "--spins", spins]


def pair_of(run: Run) -> tuple[Arm, Arm]:
    """The arms of the baseline and its twin at the run's only workload."""
    arms = arms_of(run)
    workload = run.experiment.workloads[0]
    return arms[BASELINE, workload], arms[TWIN, workload]


def ratio_of(run: Run) -> Interval:
    """Speed-up of the twin over the baseline, by the statistics of every page."""
    interval = stats.speedup_interval(process_log_ratios(log_table(list(pair_of(run))), TWIN, BASELINE))
    if interval is None:
        raise RuntimeError(f"Nothing was measured: {run.outcomes}")
    return interval


def truth(machine: Machine) -> list[Row]:
    """T1: the ratio of two spins is the ratio of their targets."""
    return [_truth_row(machine, target_s) for target_s in (1.000e-3, 1.600e-3, 1.905e-3)]


def _truth_row(machine: Machine, target_s: float) -> Row:
    true = 2e-3 / target_s
    found = ratio_of(measure_pair(machine, QUICK, Spin(call_s=2e-3), Spin(call_s=target_s))).estimate
    return Row(
        key="T1",
        what=f"spins of 2.000 and {target_s * 1e3:.3f} ms: their ratio is {true:.5f}",
        measured=f"{found:.5f} ({found / true - 1:+.3%})",
        limit="within 0.5 %",
        is_kept=abs(found / true - 1) < TRUTH_TOLERANCE,
    )


def mixture(machine: Machine) -> Row:
    """T3: one call in a hundred takes half as long again. The median must not see it, p99 must."""
    protocol = replace(QUICK, process_sets=3, block_s=0.020)
    slow = Spin(call_s=1e-3, slow_every=100, slow_by=1.5)
    run = measure_pair(machine, protocol, Spin(call_s=1e-3), slow)
    latencies = pair_of(run)[1].steady()
    p99 = stats.percentile(latencies, 0.99)
    moved = ratio_of(run).estimate - 1
    reach = p99.high / median(latencies) if p99 and p99.high else None
    return Row(
        key="T3",
        what="1 % of the calls take 50 % longer",
        measured=f"median ratio moved {moved:+.3%}; p99's interval reaches {reach or float('nan'):.2f}x the median",
        limit="less than 0.2 %; at least 1.45x",
        is_kept=abs(moved) < MIXTURE_TOLERANCE and reach is not None and reach >= 1.45,
        samples=len(latencies),
    )


def same_against_same(machine: Machine, trials: int) -> Row:
    """T4b: a noisy spin against itself, through the standard number of process sets. It must not be called different."""
    intervals = [
        ratio_of(measure_pair(machine, replace(QUICK, process_sets=SETS_OF_AA, seed=trial), AA_SPIN, AA_SPIN))
        for trial in range(trials)
    ]
    return same_row("T4b", f"a spin with jitter against itself, {SETS_OF_AA} process sets", intervals)


def same_row(key: str, what: str, intervals: Sequence[Interval]) -> Row:
    """How often identical arms were called different, and how wide their intervals were."""
    words = [word_for(interval) for interval in intervals]
    wrong = sum(word in (Verdict.FASTER, Verdict.SLOWER) for word in words)
    same = sum(word is Verdict.NO_DIFFERENCE for word in words)
    widths = [interval.half_width for interval in intervals if interval.half_width is not None]
    return Row(
        key=key,
        what=what,
        measured=f'{wrong} called different, {same} "{Verdict.NO_DIFFERENCE}"; '
        f"half-width {fraction(median(widths))} (largest {fraction(max(widths))})",
        limit="at most 1 called different",
        is_kept=wrong <= 1,
        samples=len(intervals),
    )


def drift(machine: Machine) -> list[Row]:
    """T6: the machine slows by 10 %. Interleaved rounds must not notice, measuring one arm after the other must."""
    true = 2.0 / 1.6
    run = measure_pair(machine, replace(QUICK, rounds=100), *_drifting_pair())
    found = ratio_of(run).estimate / true - 1
    slowed = stats.raw_change(pair_of(run)[0].steady())
    sequential = _sequential_ratio() / true - 1
    return [
        Row(
            key="T6",
            what=f"a machine that slows ({fraction(slowed)} during the rounds), interleaved",
            measured=f"{found:+.2%}",
            limit="within 1 %",
            is_kept=abs(found) < DRIFT_TOLERANCE,
        ),
        Row(
            key="T6",
            what="the same one arm after the other: the test has teeth",
            measured=f"{sequential:+.2%}",
            limit="off by more than 3 %",
            is_kept=abs(sequential) > DRIFT_TEETH,
        ),
    ]


def _drifting_pair() -> tuple[Spin, Spin]:
    baseline = Spin(call_s=2.0e-3, drift=DRIFT, drift_start=time.monotonic() + START_S, drift_s=DRIFT_S)
    return baseline, replace(baseline, call_s=1.6e-3)


def _sequential_ratio() -> float:
    """All blocks of one arm, then all of the other: what METHOD 1.4 forbids, as a control."""
    spins = _drifting_pair()
    start = spins[0].drift_start
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        children = [_start_child(Path(folder), variant, spins, stack) for variant in (BASELINE, TWIN)]
        time.sleep(max(0.0, start - time.monotonic()))
        medians = [
            median(_blocks_until(child, start + DRIFT_S * (place + 1) / 2)) for place, child in enumerate(children)
        ]
    return medians[0] / medians[1]


def _start_child(folder: Path, variant: str, spins: tuple[Spin, Spin], stack: ExitStack) -> ChildProcess:
    variables = child_variables(os.environ, folder)
    child = ChildProcess(
        spin_command(*spins), folder / f"{variant.replace('/', '.')}.log", variables, threading.Event()
    )
    stack.callback(child.end)
    command = SetUp(
        variant=variant,
        process=0,
        workloads=(SPIN_POINT,),
        device="cpu",
        threads=1,
        matmul_precision="highest",
        protocol=QUICK,
        cache_mode="hot",
        text="",
        compile_cache="cold",
        references=None,
    )
    child.ask(command, ReadyToMeasure, QUICK.set_up_limit_s)
    return child


def _blocks_until(child: ChildProcess, deadline: float) -> list[float]:
    command = MeasureBlock(workload=0, round=0, order=0, samples=5, calls_per_sample=1)
    medians = []
    while time.monotonic() < deadline:
        medians.append(median(child.ask(command, BlockMeasured, QUICK.block_limit_s).block.latency_s))
    return medians
