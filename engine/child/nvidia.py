"""What the NVIDIA driver says about a GPU: version, and clocks, temperature, power and throttling at one moment (METHOD 1.8).

Everything is None without a CUDA device, without nvidia-ml-py, or where the driver does not answer.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from engine.result import Conditions

THROTTLE_REASONS = {
    0x2: "application clocks",
    0x4: "power cap",
    0x8: "hardware slowdown",
    0x20: "thermal (software)",
    0x40: "thermal (hardware)",
    0x80: "power brake",
}
"""Bits of the driver's clock event reasons that mean "slower than it could be"; idle and sync boost are left out."""
REASON_READERS = ("nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons")
"""New and old name of the same question."""


def read_conditions(device: str) -> Conditions | None:
    """What the GPU is doing now; None for any other device or where nobody can tell."""
    handle = _handle(device)
    if handle is None:
        return None
    import pynvml

    return Conditions(
        sm_clock_hz=_scaled(lambda: pynvml.nvmlDeviceGetClockInfo(handle, pynvml.NVML_CLOCK_SM), 1e6),
        memory_clock_hz=_scaled(lambda: pynvml.nvmlDeviceGetClockInfo(handle, pynvml.NVML_CLOCK_MEM), 1e6),
        temperature_c=_scaled(lambda: pynvml.nvmlDeviceGetTemperature(handle, pynvml.NVML_TEMPERATURE_GPU), 1.0),
        power_w=_scaled(lambda: pynvml.nvmlDeviceGetPowerUsage(handle), 1e-3),
        throttle_reasons=_throttle_reasons(handle),
    )


def driver_version(device: str) -> str | None:
    """The NVIDIA driver's version."""
    if _handle(device) is None:
        return None
    import pynvml

    version = _ask(pynvml.nvmlSystemGetDriverVersion)
    return version.decode() if isinstance(version, bytes) else version


def name_throttle_reasons(bits: int) -> tuple[str, ...]:
    """The driver's bit mask in words; empty when the GPU runs as fast as it may."""
    return tuple(name for bit, name in THROTTLE_REASONS.items() if bits & bit)


def _throttle_reasons(handle: Any) -> tuple[str, ...] | None:
    import pynvml

    for name in REASON_READERS:
        reader = getattr(pynvml, name, None)
        bits = None if reader is None else _ask(partial(reader, handle))
        if bits is not None:
            return name_throttle_reasons(int(bits))
    return None


def _handle(device: str) -> Any | None:
    if not device.startswith("cuda"):
        return None
    import torch

    try:
        import pynvml
    except ImportError:
        return None
    if torch.version.cuda is None:  # a ROCm device is called cuda too
        return None
    if not _ask(lambda: (pynvml.nvmlInit(), True)):
        return None
    uuid = torch.cuda.get_device_properties(device).uuid
    return _ask(lambda: pynvml.nvmlDeviceGetHandleByUUID(f"GPU-{uuid}"))


def _ask(question: Callable[[], Any]) -> Any | None:
    """The driver's answer, or None when it has none: every reading is optional on some card, driver or container."""
    import pynvml

    try:
        return question()
    except (pynvml.NVMLError, UnicodeDecodeError):
        return None


def _scaled(question: Callable[[], Any], factor: float) -> float | None:
    value = _ask(question)
    return None if value is None else float(value) * factor
