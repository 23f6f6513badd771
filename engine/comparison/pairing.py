"""Paired log ratios: blocks of one round of one process set are divided by the baseline's block of that same round."""

from __future__ import annotations

import numpy as np
import pandas as pd

from engine import stats
from engine.comparison.arms import Arm, natural_baseline
from engine.spec import Workload


def log_table(arms: list[Arm]) -> pd.DataFrame:
    """ln(median seconds) of every block at one workload: index (process, round), one column per variant."""
    rows = [
        (arm.variant, measurement.process, block.round, block.latency_s)
        for arm in arms
        for measurement, block in arm.blocks()
        if block.latency_s
    ]
    frame = pd.DataFrame([row[:3] for row in rows], columns=["variant", "process", "round"])
    frame["log_s"] = np.log(stats.block_medians([row[3] for row in rows]))
    return frame.pivot_table(index=["process", "round"], columns="variant", values="log_s", aggfunc="first")


def log_tables(arms: list[Arm]) -> dict[Workload, pd.DataFrame]:
    """One table per workload."""
    by_workload: dict[Workload, list[Arm]] = {}
    for arm in arms:
        by_workload.setdefault(arm.workload, []).append(arm)
    return {workload: log_table(members) for workload, members in by_workload.items()}


def log_ratios(table: pd.DataFrame, variant: str, baseline: str) -> pd.Series[float]:
    """ln(baseline block / variant block) of every round both were measured in, index (process, round)."""
    if variant not in table or baseline not in table:
        return pd.Series(dtype=float, index=table.index[:0])
    return (table[baseline] - table[variant]).dropna()


def process_log_ratios(table: pd.DataFrame, variant: str, baseline: str) -> pd.Series[float]:
    """d[p] of METHOD 1.6. Variants of different groups share no round: they are divided through the baseline both had.

    Process sets of different groups are independent, so pairing them by their place in their group is as good as any pairing.
    """
    direct = stats.process_log_ratios(log_ratios(table, variant, baseline))
    shared = natural_baseline(variant)
    if not direct.empty or shared == baseline:
        return direct
    ours = stats.process_log_ratios(log_ratios(table, variant, shared)).sort_index()
    theirs = stats.process_log_ratios(log_ratios(table, baseline, shared)).sort_index()
    paired = min(len(ours), len(theirs))
    return pd.Series(ours.to_numpy()[:paired] - theirs.to_numpy()[:paired], index=ours.index[:paired])
