"""Where something is measured: devices, what the machine has and lacks, and the settings around one run.

Re-exported by `engine.result`. No clocks and no load here: those are `Conditions` of a moment.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from engine.spec import digest_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """One device torch can run on. `key` is what torch calls it (`cpu`, `cuda:0`), `identity` names the physical one (UUID)."""

    key: str
    name: str
    backend: Literal["cpu", "cuda", "hip", "mps", "xpu"]
    identity: str
    memory_bytes: int | None = None
    multiprocessors: int | None = None
    capability: str | None = None
    driver: str | None = None
    last_level_cache_bytes: int | None = None
    cache_bytes: Mapping[str, int] = field(default_factory=dict)
    supports_bfloat16: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Capability:
    """Whether this machine has something a variant needs (`cxx`, `triton`, `onnxruntime`, ...), and how that was seen."""

    is_present: bool
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """What `python -m engine.child --describe` prints: devices, versions, capabilities. No clocks, no load."""

    hostname: str
    system: str
    cpu_model: str
    physical_cores: int
    usable_cores: int
    memory_bytes: int
    devices: tuple[Device, ...]
    versions: Mapping[str, str | None]
    capabilities: Mapping[str, Capability]
    cpu_governor: str | None = None
    cpu_quota_cores: float | None = None
    is_virtual: bool | None = None

    def device(self, key: str) -> Device | None:
        """The device called `key`, or None."""
        return next((device for device in self.devices if device.key == key), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """The surroundings of one run: identity decides whether a stored result may stand in for a new one.

    `variables` are the environment variables that matter to torch. What a child was set to (attention implementation,
    compiler settings that differ from their defaults) is among the facts of its measurement.
    """

    machine: Machine
    device: Device
    threads: int
    matmul_precision: str
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def fingerprint(self) -> str:
        """16 hex digits over device, driver, versions, threads, precision, variables; never over clocks or load."""
        return digest_of(
            {
                "device": [
                    self.device.backend,
                    self.device.name,
                    self.device.identity,
                    self.device.capability,
                    self.device.driver,
                ],
                "cpu": [self.machine.cpu_model, self.machine.physical_cores, self.machine.usable_cores],
                "versions": dict(self.machine.versions),
                "threads": self.threads,
                "matmul_precision": self.matmul_precision,
                "variables": dict(self.variables),
            }
        )
