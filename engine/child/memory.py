"""Peak memory of this process, by named kind: while measuring, and over its whole life with set-up (METHOD 1.9).

Linux' `VmHWM` belongs to this process alone; `ru_maxrss` starts at the parent's size and is never used. What cannot be
read is None.
"""

from __future__ import annotations

import os
from pathlib import Path
from types import ModuleType
from typing import Any

import psutil
import torch

STATUS = Path("/proc/self/status")
CLEAR_REFS = Path("/proc/self/clear_refs")
RESET_PEAK = "5"
"""Written to clear_refs, sets VmHWM back to the present size (proc(5))."""


class MemoryMeter:
    """Call `start_steady()` when warm-up is over, `steady()` and `whole_life()` when timing is."""

    def __init__(self, device: str) -> None:
        self.device = device
        self._life_process: int | None = None
        self._life_reserved: int | None = None
        self._is_reset = False

    def start_steady(self) -> None:
        """Remember the peaks of the set-up and start the peaks of the steady phase at the present size."""
        self._life_process, self._life_reserved = self._largest_process(), self._largest_reserved()
        self._is_reset = reset_process_peak()
        accelerator = _accelerator(self.device)
        if accelerator is not None:
            accelerator.reset_peak_memory_stats(self.device)

    def steady(self) -> dict[str, int | None]:
        """Bytes while measuring, under keys of `engine.metrics.MEMORY`."""
        memory = {"peak_process_bytes": process_peak() if self._is_reset else None}
        accelerator = _accelerator(self.device)
        if accelerator is None:
            return memory
        return memory | {
            "peak_allocated_bytes": accelerator.max_memory_allocated(self.device),
            "peak_reserved_bytes": accelerator.max_memory_reserved(self.device),
            "private_pool_bytes": _private_pools(accelerator.memory_stats(self.device)),
            "device_used_bytes": _driver_bytes(self.device),
        }

    def whole_life(self) -> dict[str, int | None]:
        """Bytes over the whole life of this process, set-up included."""
        memory = {"whole_life_peak_process_bytes": self._largest_process()}
        if _accelerator(self.device) is not None:
            memory["whole_life_peak_reserved_bytes"] = self._largest_reserved()
        return memory

    def _largest_process(self) -> int | None:
        return _largest(self._life_process, process_peak())

    def _largest_reserved(self) -> int | None:
        accelerator = _accelerator(self.device)
        now = None if accelerator is None else accelerator.max_memory_reserved(self.device)
        return _largest(self._life_reserved, now)


def process_peak() -> int | None:
    """Highest resident size of this process since it started or since `reset_process_peak`; None where nothing tells."""
    if STATUS.exists():
        for line in STATUS.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
        return None
    # Windows keeps a peak; elsewhere psutil knows only the present size, which is no peak.
    return getattr(psutil.Process().memory_info(), "peak_wset", None)


def reset_process_peak() -> bool:
    """Start the peak at the present size; False where that is not possible and a steady peak stays unknown."""
    try:
        CLEAR_REFS.write_text(RESET_PEAK)
    except OSError:
        return False
    return True


def _largest(*sizes: int | None) -> int | None:
    return max((size for size in sizes if size is not None), default=None)


def _accelerator(device: str) -> ModuleType | None:
    """The torch module that counts memory on `device` (`torch.cuda`, `torch.xpu`); None on the CPU and where none counts."""
    if device.startswith("cpu"):
        return None
    module: ModuleType = torch.get_device_module(device)
    return module if hasattr(module, "max_memory_reserved") else None


def _private_pools(statistics: dict[str, Any]) -> int | None:
    """Memory CUDA graphs reserved for themselves; None when this torch does not list private pools."""
    pools = [
        int(size)
        for name, size in statistics.items()
        if name.startswith("reserved_bytes_by_private_pools.") and name.endswith(".all.current")
    ]
    return sum(pools) if pools else None


def _driver_bytes(device: str) -> int | None:
    """What the NVIDIA driver says this process holds; None without NVML, and in containers that hide process ids."""
    try:
        import pynvml
    except ImportError:
        return None
    try:
        pynvml.nvmlInit()
        handle = pynvml.nvmlDeviceGetHandleByUUID(f"GPU-{torch.cuda.get_device_properties(device).uuid}")
        processes = pynvml.nvmlDeviceGetComputeRunningProcesses(handle)
    except (AttributeError, RuntimeError, pynvml.NVMLError):
        return None
    return next((process.usedGpuMemory for process in processes if process.pid == os.getpid()), None)
