"""What a measured child says when something is wrong, and what it reads off the system: words and numbers, without torch."""

from pathlib import Path

import pytest

from engine.child import processor
from engine.child.compile_check import explain
from engine.child.failures import describe_failure
from engine.child.nvidia import name_throttle_reasons
from engine.errors import InvalidSpec
from engine.spec import Workload

POINT = Workload(model="m", batch_size=64, sequence_length=512)


def raised(error: BaseException, cause: BaseException | None = None) -> BaseException:
    """The error as it arrives at the top of the child."""
    try:
        raise error from cause
    except type(error) as caught:
        return caught


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        RuntimeError("[enforce fail at alloc_cpu.cpp:131] . DefaultCPUAllocator: can't allocate memory: 9 bytes."),
        RuntimeError("not enough memory: DefaultCPUAllocator: not enough memory: you tried to allocate 9 bytes."),
        type("OutOfMemoryError", (RuntimeError,), {})("CUDA out of memory. Tried to allocate 20.00 GiB. GPU 0 has ..."),
        raised(ValueError("backend failed"), MemoryError()),
    ],
    ids=["python", "cpu allocator", "windows allocator", "cuda", "wrapped"],
)  # fmt: skip
def test_lack_of_memory_is_recognised_and_names_the_size(error: BaseException) -> None:
    failed = describe_failure(error, "first_call", (POINT,))
    assert failed.failure_kind == "out_of_memory"
    assert "batch 64, length 512, float32" in failed.message
    assert failed.stage == "first_call"


def test_the_allocation_that_failed_is_named() -> None:
    error = RuntimeError("CUDA out of memory. Tried to allocate 20.00 GiB. GPU 0 has a total capacity of 8 GiB")
    assert "20.00 GiB" in describe_failure(error, "warmup", (POINT,)).message


def test_a_missing_compiler_is_unavailable_and_no_error() -> None:
    missing = type("InvalidCxxCompiler", (RuntimeError,), {})
    error = raised(RuntimeError("backend='inductor' raised"), missing("No working C++ compiler found in (None, 'c++')"))
    failed = describe_failure(error, "first_call", (POINT,))
    assert failed.failure_kind == "unavailable"
    assert failed.message.startswith("No working compiler: No working C++ compiler found")


def test_wrong_input_is_told_in_its_own_words() -> None:
    failed = describe_failure(InvalidSpec("sequence_length is 600; at most 512."), "load", (POINT,))
    assert (failed.failure_kind, failed.message) == ("error", "sequence_length is 600; at most 512.")


def test_any_other_exception_is_named_with_its_first_line() -> None:
    failed = describe_failure(AssertionError("strides differ\nand much more"), "first_call", (POINT,))
    assert (failed.failure_kind, failed.message) == ("error", "AssertionError: strides differ")


COMMAND_LINES = (
    "InductorError: CppCompileError: C++ compile error\n\nCommand:\ng++ -DERROR=1 /tmp/a/b.main.cpp -o x.so\n\n"
)


@pytest.mark.parametrize(
    ("output", "line"),
    [
        (
            "In file included from /tmp/a/b.main.cpp:1:\n/tmp/a/b.main.cpp:7:10: fatal error: omp.h: No such file\n 7 | #",
            "/tmp/a/b.main.cpp:7:10: fatal error: omp.h: No such file",
        ),
        ("b.cpp: In function 'void kernel()':\nb.cpp:9:1: error: 'x' was not declared", "b.cpp:9:1: error: 'x' was not declared"),
        ("c++: internal compiler error: Killed", "c++: internal compiler error: Killed"),
        ("nothing that says why", "InductorError: CppCompileError: C++ compile error"),
    ],
)  # fmt: skip
def test_of_a_failed_compiler_its_first_complaint_is_named(output: str, line: str) -> None:
    """Guard: the part after "Output:"; the command before it names no fault."""
    failed = describe_failure(RuntimeError(f"{COMMAND_LINES}Output:\n{output}\n"), "first_call", (POINT,))
    assert failed.message == f"RuntimeError: {line}"


def test_the_compile_check_quotes_the_line_that_says_why() -> None:
    errors = (
        "Traceback (most recent call last):\n  File ...\n"
        "torch._inductor.exc.InductorError: InvalidCxxCompiler: No working C++ compiler found in (None, '/nonexistent')\n\n"
        "Set TORCHDYNAMO_VERBOSE=1 for the internal stack trace\n"
    )
    assert explain(errors) == "No working C++ compiler found in (None, '/nonexistent')"
    assert explain("segmentation fault\n") == "segmentation fault"
    assert explain("") == ""


def test_throttle_reasons_are_named_and_idle_is_none_of_them() -> None:
    assert name_throttle_reasons(0x1) == ()
    assert name_throttle_reasons(0x4 | 0x40) == ("power cap", "thermal (hardware)")


@pytest.mark.parametrize(
    ("files", "cores"),
    [
        ({"cpu.max": "150000 100000"}, 1.5),
        ({"cpu.max": "max 100000"}, None),
        ({"cpu/cpu.cfs_quota_us": "50000", "cpu/cpu.cfs_period_us": "100000"}, 0.5),
        ({"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, None),
        ({}, None),
    ],
)
def test_a_containers_share_of_the_processor_is_read(
    tmp_path: Path, files: dict[str, str], cores: float | None
) -> None:
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text + "\n")
    assert processor.quota_cores(tmp_path) == cores
