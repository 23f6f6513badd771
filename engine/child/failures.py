"""An exception in a measured child -> what kind of failure it is and one readable sentence. The traceback goes to the log."""

from __future__ import annotations

import re
from collections.abc import Iterator

from engine.errors import UserError
from engine.messages import Failed
from engine.spec import Workload

OUT_OF_MEMORY_TYPES = ("MemoryError", "OutOfMemoryError", "_ArrayMemoryError")
OUT_OF_MEMORY_WORDS = (
    "not enough memory",
    "can't allocate memory",
    "out of memory",
    "cannot allocate memory",
    "hiperroroutofmemory",
)
NO_COMPILER_TYPES = ("InvalidCxxCompiler", "TritonMissing", "GPUTooOldForTriton")
NO_COMPILER_WORDS = (
    "no working c++ compiler found",
    "cannot find a working triton installation",
    "triton is not installed",
)
COMPILER_OUTPUT = "Output:"
COMPILER_ERROR = re.compile(r"\berror\b\s*(\w+\s*)?:", re.IGNORECASE)
"""Torch quotes a compiler that failed under this line, after a command of several screens (`torch._inductor.exc`)."""
ASKED_FOR = re.compile(r"tried to allocate ([\d.,]+ ?\w+)", re.IGNORECASE)


def describe_failure(error: BaseException, stage: str, workloads: tuple[Workload, ...]) -> Failed:
    """The event that ends a child which could not go on."""
    chain = list(_causes(error))
    if any(_is_out_of_memory(cause) for cause in chain):
        return Failed(stage=stage, failure_kind="out_of_memory", message=_out_of_memory(chain, workloads))
    if any(_is_missing_compiler(cause) for cause in chain):
        return Failed(stage=stage, failure_kind="unavailable", message=f"No working compiler: {_first_line(chain[-1])}")
    message = str(error) if isinstance(error, UserError) else f"{type(error).__name__}: {_first_line(error)}"
    return Failed(stage=stage, failure_kind="error", message=message)


def size_of(workload: Workload) -> str:
    """A workload's size in words: "batch 8, length 128, float32"."""
    if workload.model is not None:
        return f"batch {workload.batch_size:,}, length {workload.sequence_length:,}, {workload.dtype}"
    return f"{workload.elements:,} elements, {workload.dtype}"


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error and what it was raised from, outermost first."""
    current: BaseException | None = error
    while current is not None:
        yield current
        current = current.__cause__ or current.__context__


def _is_out_of_memory(error: BaseException) -> bool:
    text = str(error).lower()
    return type(error).__name__ in OUT_OF_MEMORY_TYPES or any(words in text for words in OUT_OF_MEMORY_WORDS)


def _is_missing_compiler(error: BaseException) -> bool:
    text = str(error).lower()
    return type(error).__name__ in NO_COMPILER_TYPES or any(words in text for words in NO_COMPILER_WORDS)


def _out_of_memory(chain: list[BaseException], workloads: tuple[Workload, ...]) -> str:
    sizes = "; ".join(size_of(workload) for workload in workloads)
    asked = next((match[1] for cause in chain if (match := ASKED_FOR.search(str(cause)))), None)
    more = f" (one allocation of {asked} failed)" if asked else ""
    return f"Out of memory at {sizes}{more}. Choose a smaller size."


def _first_line(error: BaseException) -> str:
    """What a foreign compiler complained of first, where its output is quoted; else the message's own first line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    quoted = lines[lines.index(COMPILER_OUTPUT) + 1 :] if COMPILER_OUTPUT in lines else []
    complaint = next((line for line in quoted if COMPILER_ERROR.search(line)), None)
    return complaint or next(iter(lines), "no message")
