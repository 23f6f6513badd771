"""What this machine is: devices, versions, capabilities. No clocks and no load; those belong to each measurement."""

from __future__ import annotations

import importlib.util
import os
import platform
import socket
import sys
from collections.abc import Iterator
from importlib import metadata

import psutil
import torch

from engine.child import processor
from engine.child.compile_check import CompileCheck
from engine.child.nvidia import driver_version
from engine.result import Capability, Device, Machine
from engine.serial import to_json

PACKAGES = ("torch", "transformers", "numpy", "triton", "onnxruntime", "onnxruntime-gpu", "openvino", "safetensors")
RUNTIMES = ("onnxruntime", "openvino")


def print_machine() -> None:
    """Write `describe()` as JSON to stdout; whatever libraries print meanwhile goes to stderr."""
    stdout = os.dup(1)
    os.dup2(2, 1)
    line = to_json(describe()) + "\n"
    with os.fdopen(stdout, "w") as output:
        output.write(line)


def describe() -> Machine:
    """This machine. Takes as long as compiling one line does, up to the check's time limit."""
    accelerators = list(_accelerators())
    checks = {"cxx": CompileCheck("cpu")}
    if accelerators:
        checks["triton"] = CompileCheck(accelerators[0].key)
    devices = (_cpu_device(), *accelerators)
    runtimes = {name: _installed(name) for name in RUNTIMES} | {"onnxruntime_cuda": _onnxruntime_cuda()}
    if "triton" not in checks:
        runtimes["triton"] = Capability(is_present=False, detail="this machine has no GPU to generate code for")
    return Machine(
        hostname=socket.gethostname(),
        system=f"{platform.system()} {platform.release()}",
        cpu_model=processor.model_name(),
        physical_cores=psutil.cpu_count(logical=False) or psutil.cpu_count() or 1,
        usable_cores=processor.usable_cores(),
        memory_bytes=psutil.virtual_memory().total,
        devices=devices,
        versions=_versions(),
        capabilities={**runtimes, **{name: check.result() for name, check in checks.items()}},
        cpu_governor=processor.governor(),
        cpu_quota_cores=processor.quota_cores(),
        is_virtual=processor.is_virtual(),
    )


def _versions() -> dict[str, str | None]:
    versions: dict[str, str | None] = {"python": platform.python_version()}
    versions |= {name: _version_of(name) for name in PACKAGES}
    # The build torch itself names, with its suffix (+cpu, +cu130), which the package index does not always tell.
    versions["torch"] = str(torch.__version__)
    versions["torch_git"] = torch.version.git_version
    versions["cuda"] = torch.version.cuda
    versions["hip"] = torch.version.hip
    cudnn = torch.backends.cudnn.version() if torch.cuda.is_available() else None  # type: ignore[no-untyped-call]
    versions["cudnn"] = None if cudnn is None else str(cudnn)
    return versions


def _version_of(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _installed(name: str) -> Capability:
    is_present = importlib.util.find_spec(name) is not None
    version = _version_of(name) or "version unknown"
    return Capability(is_present=is_present, detail=f"{name} {version}" if is_present else f"{name} is not installed")


def _onnxruntime_cuda() -> Capability:
    """Whether the installed ONNX Runtime has its CUDA provider; importing it is the only way to know."""
    if importlib.util.find_spec("onnxruntime") is None:
        return Capability(is_present=False, detail="onnxruntime is not installed")
    providers = importlib.import_module("onnxruntime").get_available_providers()
    return Capability(is_present="CUDAExecutionProvider" in providers, detail=f"providers: {', '.join(providers)}")


def _cpu_device() -> Device:
    caches = processor.cache_sizes()
    return Device(
        key="cpu",
        name=processor.model_name(),
        backend="cpu",
        identity=f"{socket.gethostname()}/cpu",
        memory_bytes=psutil.virtual_memory().total,
        capability=torch.backends.cpu.get_cpu_capability(),
        last_level_cache_bytes=max(caches.values(), default=None),
        cache_bytes=caches,
        supports_bfloat16=processor.has_bfloat16(),
    )


def _accelerators() -> Iterator[Device]:
    if torch.cuda.is_available():
        yield from (_cuda_device(index) for index in range(torch.cuda.device_count()))
    if torch.xpu.is_available():
        yield from (_xpu_device(index) for index in range(torch.xpu.device_count()))
    if torch.backends.mps.is_available():
        yield _mps_device()


def _cuda_device(index: int) -> Device:
    """A CUDA device, or a ROCm one, which torch calls cuda too."""
    key = f"cuda:{index}"
    properties = torch.cuda.get_device_properties(index)
    return Device(
        key=key,
        name=properties.name,
        backend="hip" if torch.version.hip else "cuda",
        identity=f"GPU-{properties.uuid}",
        memory_bytes=properties.total_memory,
        multiprocessors=properties.multi_processor_count,
        capability=f"{properties.major}.{properties.minor}",
        driver=driver_version(key),
        last_level_cache_bytes=properties.L2_cache_size,
        cache_bytes={"L2": properties.L2_cache_size},
        supports_bfloat16=torch.cuda.is_bf16_supported(including_emulation=False),
    )


def _xpu_device(index: int) -> Device:
    properties = torch.xpu.get_device_properties(index)
    return Device(
        key=f"xpu:{index}",
        name=properties.name,
        backend="xpu",
        identity=str(getattr(properties, "uuid", f"{socket.gethostname()}/xpu:{index}")),
        memory_bytes=properties.total_memory,
        multiprocessors=getattr(properties, "gpu_subslice_count", None),
        driver=getattr(properties, "driver_version", None),
        last_level_cache_bytes=getattr(properties, "last_level_cache_size", None),
        supports_bfloat16=torch.xpu.is_bf16_supported(),
    )


def _mps_device() -> Device:
    return Device(
        key="mps",
        name=f"Apple GPU of {processor.model_name()}",
        backend="mps",
        identity=f"{socket.gethostname()}/mps",
        memory_bytes=torch.mps.recommended_max_memory(),
        driver=f"macOS {platform.mac_ver()[0]}" if sys.platform == "darwin" else None,
        supports_bfloat16=torch.backends.mps.is_macos_or_newer(14, 0),
    )
