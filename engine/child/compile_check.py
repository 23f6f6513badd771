"""Does generated code work here? Answered by really compiling one line, in a process of its own with a time limit.

Being installed says little: the compiler may lack its headers, the cache folder may not be writable, there may be no user.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from contextlib import suppress

import psutil

from engine.result import Capability

TIME_LIMIT_S = 120.0
"""One line takes 5-10 s on a slow machine with an empty cache."""
EXCEPTION_NAMES = re.compile(r"^(?:[\w.]*(?:Error|Exception|Compiler|Failed|Missing): )+")
ONE_LINE = """
import sys, torch
x = torch.arange(64.0, device=sys.argv[1])
compiled = torch.compile(lambda x: x * 2 + 1, fullgraph=True)
with torch.inference_mode():
    assert torch.equal(compiled(x), x * 2 + 1), "the compiled line gave another answer than eager"
"""


class CompileCheck:
    """Starts compiling at once; `result()` waits for the answer."""

    def __init__(self, device: str, time_limit_s: float = TIME_LIMIT_S) -> None:
        self._started = time.monotonic()
        self._time_limit_s = time_limit_s
        self._folder = tempfile.TemporaryDirectory(prefix="latency-lab-compile-")
        caches = {"TORCHINDUCTOR_CACHE_DIR": self._folder.name, "TRITON_CACHE_DIR": self._folder.name}
        self._process = subprocess.Popen(
            [sys.executable, "-c", ONE_LINE, device],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            # One compiler thread: a pool of them takes longer to start than one line to compile.
            env={**os.environ, **caches, "TORCHINDUCTOR_COMPILE_THREADS": "1"},
        )

    @property
    def pid(self) -> int:
        """Process id, which is also the id of its process group."""
        return self._process.pid

    def result(self) -> Capability:
        """Whether it worked, with how long it took or the last line of what went wrong."""
        try:
            _, errors = self._process.communicate(timeout=self._time_limit_s)
        except subprocess.TimeoutExpired:
            self._kill()
            self._process.communicate()
            return Capability(
                is_present=False, detail=f"compiling one line took longer than {self._time_limit_s:.0f} s"
            )
        finally:
            self._folder.cleanup()
        if self._process.returncode == 0:
            return Capability(is_present=True, detail=f"compiled one line in {time.monotonic() - self._started:.1f} s")
        return Capability(is_present=False, detail=explain(errors) or f"it ended with {self._process.returncode}")

    def _kill(self) -> None:
        # In the describing child's own process group, so that both end together when that child is killed.
        process = psutil.Process(self._process.pid)
        for each in (*process.children(recursive=True), process):
            with suppress(psutil.NoSuchProcess):
                each.kill()


def explain(errors: str) -> str:
    """The line that says what went wrong, the last one that names an exception, without those names."""
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    named = [line for line in lines if EXCEPTION_NAMES.match(line)]
    return EXCEPTION_NAMES.sub("", (named or lines or [""])[-1])
