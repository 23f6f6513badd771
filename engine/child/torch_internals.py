"""Torch's private counters and logs, each reached through one function that returns None where this torch lacks it.

Private names move between torch versions (2.11 on some GPU machines, 2.13 here): "unknown" is an honest answer, an
exception or a 0 is not. Nothing here judges or combines; `engine.child.evidence` does.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

METRICS_LIMIT = 4096
"""Torch keeps 64 compilation metrics by default, fewer than one dynamic-shapes run makes."""


def find(path: str) -> Any | None:
    """The object at `module.sub:attribute.sub`, importing the module; None when either does not exist in this torch."""
    module_name, _, attributes = path.partition(":")
    try:
        found: Any = importlib.import_module(module_name)
        for attribute in filter(None, attributes.split(".")):
            found = getattr(found, attribute)
    except (ImportError, AttributeError):
        return None
    return found


def is_dynamo_loaded() -> bool:
    """Whether anything in this process imported TorchDynamo; nothing can have been compiled before."""
    return "torch._dynamo" in sys.modules


def reset_compiler() -> None:
    """Forget every compiled graph, counter and metric of this process, and keep more metrics than torch does."""
    for path in (
        "torch._dynamo:reset",
        "torch._dynamo.utils:counters.clear",
        "torch._dynamo.utils:clear_compilation_metrics",
        "torch._inductor.metrics:reset",
    ):
        reset = find(path)
        if reset is not None:
            reset()
    set_limit = find("torch._dynamo.utils:set_compilation_metrics_limit")
    if set_limit is not None:
        set_limit(METRICS_LIMIT)


def fresh_compile_cache() -> AbstractContextManager[Any]:
    """An empty compile cache for the time of a `with`, on disk and in memory; the usual one where this torch has none."""
    fresh = find("torch._inductor.utils:fresh_cache") or find("torch._inductor.utils:fresh_inductor_cache")
    return nullcontext() if fresh is None else fresh()


def counters(group: str) -> dict[str, int] | None:
    """A copy of one group of TorchDynamo's counters: `frames`, `stats`, `graph_break`, `inductor`, ..."""
    everything = find("torch._dynamo.utils:counters")
    # Indexing would create the group: torch's counters are a defaultdict.
    return None if everything is None else dict(everything.get(group, {}))


def counter(group: str, name: str) -> int | None:
    """One counter; 0 when it exists but never counted."""
    values = counters(group)
    return None if values is None else int(values.get(name, 0))


def compilation_metrics() -> list[Any] | None:
    """Torch's own record of each compilation, oldest first."""
    read = find("torch._dynamo.utils:get_compilation_metrics")
    return None if read is None else list(read())


def metrics_sum(field: str) -> float | None:
    """Sum of one numeric field over all compilations; None when no compilation carries it."""
    values = [getattr(metric, field, None) for metric in compilation_metrics() or ()]
    known = [float(value) for value in values if value is not None]
    return sum(known) if known else None


def generated_kernels() -> int | None:
    """Kernels TorchInductor generated; restored from the cache when a graph came from there."""
    count = find("torch._inductor.metrics:generated_kernel_count")
    return None if count is None else int(count)


def on_compile_start(notify: Callable[[str], None]) -> bool:
    """Call `notify("DYNAMO" | "CUDAGRAPH_RECORDING" | ...)` whenever torch starts to compile or record."""
    register = find("torch._dynamo.callback:on_compile_start")
    if register is None:
        return False
    register(lambda arguments: notify(str(getattr(arguments.callback_trigger, "name", "DYNAMO"))))
    return True


def changed_inductor_settings() -> list[str] | None:
    """Every process-wide inductor setting that is not at torch's default now, as "name = value"; loads inductor.

    A default that torch reads from an environment variable counts as default: the variables are recorded by themselves.
    """
    read, entries = find("torch._inductor.config:get_config_copy"), find("torch._inductor.config:_config")
    if read is None or entries is None:
        return None
    defaults = {name: getattr(entry, "default", None) for name, entry in entries.items()}
    return sorted(f"{name} = {value}" for name, value in read().items() if value != defaults.get(name, value))


def cudagraph_manager(device_index: int) -> Any | None:
    """The CUDA graph trees of this thread, or None: none were made, or this torch has another interface."""
    get = find("torch._inductor.cudagraph_trees:get_manager")
    if get is None:
        return None
    try:
        return get(device_index, create_if_none_exists=False)
    except TypeError:
        return None


def multiprocessors() -> int | None:
    """How many the current CUDA device has; None without one."""
    cuda = find("torch:cuda")
    if cuda is None or not cuda.is_available():
        return None
    return int(cuda.get_device_properties(cuda.current_device()).multi_processor_count)


def shut_down_compile_workers() -> None:
    """End the processes that compiled for this one: they would stay, and take processor time, for a minute."""
    # Looking the function up would import inductor into a process that never compiled.
    is_loaded = "torch._inductor.async_compile" in sys.modules
    shut_down = find("torch._inductor.async_compile:shutdown_compile_workers") if is_loaded else None
    if shut_down is not None:
        shut_down()


def allocated_bytes(profiler: Any) -> list[int] | None:
    """Size of every allocation a profiler with `profile_memory=True` saw; None where this torch does not list them."""
    results = getattr(getattr(profiler, "profiler", None), "kineto_results", None)
    if results is None:
        return None
    sizes = [event.nbytes() for event in results.events() if event.name() == "[memory]"]
    return [size for size in sizes if size > 0]


def cuda_segments() -> list[dict[str, Any]] | None:
    """What CUDA's caching allocator holds from the driver; None where this torch does not tell."""
    read = find("torch.cuda:memory_snapshot")
    return None if read is None else list(read())
