"""The surroundings of one run: this machine, one of its devices, and the settings that change what torch does."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping

from engine.errors import InvalidSpec
from engine.result import Device, Environment, Machine
from engine.spec import Experiment

_PREFIXES = (
    "TORCH",
    "PYTORCH",
    "INDUCTOR",
    "CUDA_",
    "NVIDIA_TF32",
    "CUBLAS",
    "CUDNN",
    "TRITON",
    "OMP_",
    "GOMP_",
    "KMP_",
    "MKL",
)
_NAMES = ("CXX", "CC", "CFLAGS", "CXXFLAGS", "LD_PRELOAD", "MALLOC_ARENA_MAX")
_PLACES = ("_HOME", "_DIR", "_PATH", "_ROOT", "_CACHE")
"""Where things lie on this machine changes no time, and a result file that is passed on should not tell it."""


def environment_of(machine: Machine, experiment: Experiment) -> Environment:
    """What `experiment` will be measured in on `machine`; raises `InvalidSpec` for a device it does not have."""
    return Environment(
        machine=machine,
        device=_find_device(machine, experiment.device),
        threads=experiment.threads or default_threads(machine),
        matmul_precision=experiment.matmul_precision,
        variables=variables_that_matter(os.environ),
    )


def default_threads(machine: Machine) -> int:
    """All physical cores the process may use, an allowance of a container included (METHOD 1.4)."""
    quota = math.ceil(machine.cpu_quota_cores) if machine.cpu_quota_cores else machine.usable_cores
    return max(1, min(machine.physical_cores, machine.usable_cores, quota))


def variables_that_matter(variables: Mapping[str, str]) -> dict[str, str]:
    """The environment variables that change what torch or its compilers do (METHOD 1.8), sorted by name."""
    return {name: value for name, value in sorted(variables.items()) if _matters(name)}


def _matters(name: str) -> bool:
    return name in _NAMES or (name.startswith(_PREFIXES) and not name.endswith(_PLACES))


def _find_device(machine: Machine, key: str) -> Device:
    device = machine.device(key)
    if device is None:
        known = ", ".join(device.key for device in machine.devices)
        raise InvalidSpec(f"Device {key!r} is not on this machine; it has {known}. Choose one of those.")
    return device
