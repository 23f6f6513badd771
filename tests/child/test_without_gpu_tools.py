"""A CUDA child where CUPTI or nvidia-ml-py is missing: what nobody can tell is unknown, and nothing ends because of it."""

import sys
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("torch")

from engine.child.memory import _driver_bytes
from engine.child.nvidia import read_conditions
from engine.child.profiling import DEVICE_COUNTS, PROFILED_CALLS, _device_counts
from engine.proof.cudagraphs import graph_replayed
from engine.proof.fusion import fewer_kernels
from engine.result import Measurement
from engine.spec import Workload
from tests.unit.test_memory_rules import seen

ADDCMUL = Workload(operator="addcmul", elements=8)


def event(name: str, device: str = "CPU", start: float = 0.0, end: float = 0.0, is_range: bool = False) -> Any:
    """A profiler's event; times in microseconds, as torch has them."""
    return SimpleNamespace(
        name=name,
        device_type=SimpleNamespace(name=device),
        time_range=SimpleNamespace(start=start, end=end),
        is_user_annotation=is_range,
    )


def each_call(*events: Any) -> list[Any]:
    return [*events * PROFILED_CALLS, event("cudaDeviceSynchronize")]


def on_cuda(facts: dict[str, Any]) -> Measurement:
    return seen(ADDCMUL, device="cuda:0", operators_per_call=0.0, cudagraph_skips=0, **facts)


def test_without_a_single_event_of_the_gpu_its_counts_are_unknown() -> None:
    """Guard: `_is_of_device`. 0 kernels would prove every fusion, and refute every CUDA graph."""
    counts = _device_counts([event("aten::mm"), event("cudagraph step"), event("cumsum")])
    assert counts == dict.fromkeys(DEVICE_COUNTS)
    assert fewer_kernels(on_cuda(counts)).passed is None
    assert graph_replayed(on_cuda(counts)).passed is None
    assert graph_replayed(on_cuda({**counts, "cudagraph_nodes": 1})).passed is True


def test_with_a_runtime_that_is_seen_a_count_of_zero_is_known() -> None:
    counts = _device_counts(each_call(event("aten::mm")))
    assert counts["kernels_per_call"] == 0 and counts["kernel_names"] == {}
    assert counts["graph_launches_per_call"] == 0
    assert counts["gpu_busy_s_per_call"] is None
    assert graph_replayed(on_cuda(counts)).passed is False


def test_work_that_overlaps_keeps_the_gpu_busy_once_and_a_named_range_is_no_work() -> None:
    """Two streams and a copy: 0-10, 5-20 inside a range of compiled code of 0-100, then 30-40 with 32-35 inside it."""
    counts = _device_counts(
        [
            event("gemm", "CUDA", 5, 20),
            event("relu", "CUDA", 0, 10),
            event("## Call CompiledFxGraph abc ##", "CUDA", 0, 100, is_range=True),
            event("Memcpy DtoH (Device -> Pageable)", "CUDA", 30, 40),
            event("relu", "CUDA", 32, 35),
        ]
    )
    assert counts["gpu_busy_s_per_call"] * PROFILED_CALLS == pytest.approx(30e-6)
    assert counts["kernels_per_call"] * PROFILED_CALLS == 3


def test_kernels_launches_and_copies_are_told_apart() -> None:
    counts = _device_counts(
        each_call(
            event("cudaGraphLaunch"),
            event("cudaLaunchKernelExC"),
            event("cudaMalloc"),
            event("triton_poi_fused", "CUDA"),
            event("Memcpy DtoD (Device -> Device)", "CUDA"),
        )
    )
    assert counts == {
        "kernels_per_call": 1,
        "kernel_names": {"triton_poi_fused": 1},
        "gpu_busy_s_per_call": 0,
        "kernel_launches_per_call": 1,
        "graph_launches_per_call": 1,
        "device_allocations_per_call": 1,
    }


def test_without_nvidia_ml_py_the_drivers_figures_are_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Guard: the import in a `try` of its own; naming `pynvml.NVMLError` without the module ended every CUDA child."""
    monkeypatch.setitem(sys.modules, "pynvml", None)
    assert _driver_bytes("cuda:0") is None
    assert read_conditions("cuda:0") is None
