"""What the system tells about its processor: name, instructions, caches, governor, share of a container. Unknown is None."""

from __future__ import annotations

import os
import platform
from functools import cache
from pathlib import Path

CPUINFO = Path("/proc/cpuinfo")
CPU0 = Path("/sys/devices/system/cpu/cpu0")
CGROUP = Path("/sys/fs/cgroup")
BFLOAT16_FLAGS = {"avx512_bf16", "amx_bf16", "bf16"}
"""x86 AVX-512 and AMX, and Arm. Without them bfloat16 is emulated in float32, which proves nothing about its speed."""


def model_name() -> str:
    """The processor's name as its maker writes it."""
    info = _cpuinfo()
    return info.get("model name") or info.get("Model") or platform.processor() or platform.machine()


def usable_cores() -> int:
    """Logical CPUs this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def has_bfloat16() -> bool | None:
    """Whether the processor has real bfloat16 instructions; None where the system does not list instructions."""
    flags = _flags()
    return bool(flags & BFLOAT16_FLAGS) if flags else None


def is_virtual() -> bool | None:
    """Whether a hypervisor is underneath; x86 says so."""
    flags = _flags()
    return "hypervisor" in flags if flags and platform.machine() in ("x86_64", "AMD64") else None


def cache_sizes() -> dict[str, int]:
    """Bytes by level of the data caches of one core, as in {"L1d": 32768, "L2": ..., "L3": ...}."""
    sizes = {}
    for folder in sorted((CPU0 / "cache").glob("index*")):
        kind, level = _read(folder / "type"), _read(folder / "level")
        size = _read(folder / "size")
        if kind in ("Data", "Unified") and level and size:
            sizes[f"L{level}{'d' if kind == 'Data' else ''}"] = _bytes_of(size)
    return sizes


def governor() -> str | None:
    """The frequency governor, as "performance" or "powersave"."""
    return _read(CPU0 / "cpufreq" / "scaling_governor")


def quota_cores(root: Path = CGROUP) -> float | None:
    """How many cores' worth of time a container may use (cgroup v2, then v1); None without a limit."""
    limit = _read(root / "cpu.max")
    if limit is not None:
        quota, _, period = limit.partition(" ")
        return None if quota == "max" else int(quota) / int(period)
    quota, period = _read(root / "cpu" / "cpu.cfs_quota_us") or "-1", _read(root / "cpu" / "cpu.cfs_period_us") or "0"
    return int(quota) / int(period) if int(quota) > 0 and int(period) > 0 else None


@cache
def _cpuinfo() -> dict[str, str]:
    """The first processor's fields."""
    text = _read(CPUINFO) or ""
    pairs = (line.partition(":") for line in text.split("\n\n", 1)[0].splitlines())
    return {key.strip(): value.strip() for key, _, value in pairs}


def _flags() -> set[str]:
    info = _cpuinfo()
    return set((info.get("flags") or info.get("Features") or "").split())


def _bytes_of(size: str) -> int:
    units = {"K": 2**10, "M": 2**20, "G": 2**30}
    return int(size[:-1]) * units[size[-1]] if size[-1] in units else int(size)


def _read(path: Path) -> str | None:
    try:
        return path.read_text().strip()
    except OSError:
        return None
