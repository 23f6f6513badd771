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


def event(name: str, device: str = "CPU") -> Any:
    return SimpleNamespace(name=name, device_type=SimpleNamespace(name=device))


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
    assert graph_replayed(on_cuda(counts)).passed is False


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
        "kernel_launches_per_call": 1,
        "graph_launches_per_call": 1,
        "device_allocations_per_call": 1,
    }


def test_without_nvidia_ml_py_the_drivers_figures_are_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Guard: the import in a `try` of its own; naming `pynvml.NVMLError` without the module ended every CUDA child."""
    monkeypatch.setitem(sys.modules, "pynvml", None)
    assert _driver_bytes("cuda:0") is None
    assert read_conditions("cuda:0") is None
