"""What a variant needs and whether this device of this machine has it, in words."""

from __future__ import annotations

from engine.catalog.types import Variant
from engine.result import Device, Machine

_RUNTIMES = "not installed: pip install -r requirements-runtimes.txt"
REQUIREMENTS: dict[str, str] = {
    "cuda": "this device has no CUDA",
    "cpu": "this variant runs on a CPU only",
    "tuning": "this mode tunes no kernels on a CPU: it would be the plain variant again",
    "compiler": "no working compiler for generated code",
    "bfloat16": "this device has no bfloat16 instructions",
    "tf32": "this device has no TF32",
    "onnxruntime": _RUNTIMES,
    "onnxruntime_cuda": "ONNX Runtime's CUDA provider is not installed: pip install onnxruntime-gpu",
    "openvino": _RUNTIMES,
}
"""Every requirement a variant may name, and what is said where it is not met."""

NEVER_ON_A_CPU = frozenset({"cuda", "tuning", "tf32", "onnxruntime_cuda"})
"""Requirements that no CPU meets, known before the machine is."""


def why_unavailable(variant: Variant, machine: Machine, device: str) -> str | None:
    """Why this variant cannot run on `device` of `machine`, in words; None when it can."""
    found = machine.device(device)
    if found is None:
        return f"this machine has no device {device}"
    return next((_told(need, machine, found) for need in variant.requires if not _has(need, machine, found)), None)


def _has(requirement: str, machine: Machine, device: Device) -> bool:
    """Properties of the device; anything else is a capability of the machine."""
    is_cuda = device.backend in ("cuda", "hip")
    of_device = {
        "cuda": is_cuda,
        "tuning": is_cuda,
        "cpu": device.backend == "cpu",
        "bfloat16": bool(device.supports_bfloat16),
        # NVIDIA GPUs from compute capability 8.0 on.
        "tf32": device.backend == "cuda" and int((device.capability or "0").split(".")[0]) >= 8,
    }
    if requirement in of_device:
        return of_device[requirement]
    capability = machine.capabilities.get(_capability(requirement, device))
    return capability is not None and capability.is_present


def _capability(requirement: str, device: Device) -> str:
    """Generated code is C++ on a CPU and Triton on a GPU."""
    return ("cxx" if device.backend == "cpu" else "triton") if requirement == "compiler" else requirement


def _told(requirement: str, machine: Machine, device: Device) -> str:
    """The reason; what the compiler said is part of it."""
    reason = REQUIREMENTS.get(requirement, f"this machine lacks {requirement}")
    capability = machine.capabilities.get(_capability(requirement, device))
    return f"{reason}: {capability.detail}" if requirement == "compiler" and capability else reason
