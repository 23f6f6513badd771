"""The state of torch and of this process that every arm must share: threads, precision, gradient mode, CPUs, stopwatch."""

from __future__ import annotations

import os

import torch

from engine.child.devices import make_flush, make_gpu_timer, make_synchronize, select_device
from engine.child.limits import last_level_cache_bytes
from engine.child.measurement import Stopwatch
from engine.messages import SetUp


def prepare_torch(device: str, threads: int, matmul_precision: str) -> None:
    """Threads and precision once, before anything is compiled: a later change of threads recompiles everything."""
    torch.set_num_threads(threads)
    torch.set_float32_matmul_precision(matmul_precision)
    select_device(device)


def grad_mode() -> str:
    """The gradient mode here and now; it must be the same for all arms, warming up and timing alike."""
    if torch.is_inference_mode_enabled():
        return "inference"
    return "grad" if torch.is_grad_enabled() else "no_grad"


def cpus_allowed() -> int | None:
    """How many CPUs this process may run on, after torch was imported; None where the system does not say."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None


def make_stopwatch(command: SetUp) -> Stopwatch:
    """The stopwatch for the command's device; cold caches are for operators only, a served model is resident."""
    device = command.device
    is_cold = command.cache_mode == "cold" and all(workload.operator for workload in command.workloads)
    return Stopwatch(
        synchronize=make_synchronize(device),
        flush=make_flush(device, last_level_cache_bytes(device)) if is_cold else None,
        gpu=make_gpu_timer(device),
    )
