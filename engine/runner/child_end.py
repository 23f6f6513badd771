"""What a child's end means: exit code or signal, and the end of its log, as a failure kind and a sentence to act on."""

from __future__ import annotations

import signal
from pathlib import Path

from engine.result import FailureKind

LOG_TAIL_BYTES = 4000
LOG_TAIL_LINES = 20
SMALLER = "Choose a smaller batch size or sequence length, or free memory."
_OUT_OF_MEMORY_WORDS = ("std::bad_alloc", "Cannot allocate memory", "OutOfMemoryError", "MemoryError")
_SIGNALS: dict[int, str] = {
    signal.SIGSEGV: "crashed in native code (segmentation fault)",
    signal.SIGBUS: "crashed in native code (bus error)",
    signal.SIGABRT: "crashed in native code (aborted)",
    signal.SIGFPE: "crashed in native code (arithmetic error)",
    signal.SIGILL: "met an instruction this processor does not have",
    signal.SIGTERM: "was told to end from outside (SIGTERM)",
}


def explain_end(exit_code: int, log_tail: str, kills_by_kernel: int | None) -> tuple[FailureKind, str]:
    """Kind and sentence for a child that ended before it had answered.

    `kills_by_kernel` counts the processes the kernel killed for lack of memory while the child lived, None if unknown.
    """
    if exit_code == -signal.SIGKILL:
        return _explain_kill(kills_by_kernel)
    if any(word in log_tail for word in _OUT_OF_MEMORY_WORDS):
        return "out_of_memory", f"The measured process ran out of memory. {SMALLER}"
    if exit_code < 0:
        what = _SIGNALS.get(-exit_code, f"was ended by signal {-exit_code} ({signal.strsignal(-exit_code)})")
        return "crashed", f"The measured process {what}. The log's last lines may name the operator."
    if exit_code == 0:
        return "crashed", "The measured process ended before it had answered, without an error. Its log may say why."
    return "crashed", f"The measured process ended with exit code {exit_code}. Its log says why."


def _explain_kill(kills_by_kernel: int | None) -> tuple[FailureKind, str]:
    if kills_by_kernel:
        return "out_of_memory", f"The system ran out of memory and killed the measured process. {SMALLER}"
    guess = "" if kills_by_kernel == 0 else ", or by the system because memory ran out"
    return "crashed", f"The measured process was killed from outside (SIGKILL){guess}. Run it again."


def read_kernel_kills() -> int | None:
    """How many processes the kernel has killed for lack of memory since boot; None where it does not say (Linux does)."""
    try:
        lines = Path("/proc/vmstat").read_text().splitlines()
    except OSError:
        return None
    counts = dict(line.split() for line in lines)
    return int(counts["oom_kill"]) if "oom_kill" in counts else None


def read_tail(path: Path) -> str:
    """The last lines of a log; a log of gigabytes is not read for them."""
    with path.open("rb") as log:
        log.seek(max(0, path.stat().st_size - LOG_TAIL_BYTES))
        lines = log.read().decode(errors="replace").splitlines()
    return "\n".join(lines[-LOG_TAIL_LINES:])
