"""Memory of this process and nobody else's; what this machine can do at best, in plausible ranges."""

import itertools
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from engine.child import limits  # noqa: E402
from engine.child.memory import MemoryMeter, process_peak, reset_process_peak  # noqa: E402
from tests.child.fresh_process import ROOT, run_fresh  # noqa: E402

MIB = 2**20
needs_proc = pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="needs Linux' /proc")


@needs_proc
def test_a_child_does_not_report_its_fat_parents_memory() -> None:
    """M16. Guard: VmHWM in `process_peak`; `ru_maxrss` would report the parent's 500 MB."""
    # torch itself would hide the difference, so the child gets an empty one.
    child = (
        "import resource, sys, types; sys.modules['torch'] = types.ModuleType('torch'); "
        "from engine.child.memory import process_peak; "
        "print(process_peak(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)"
    )
    code = f"""
        import json, subprocess, sys
        ballast = bytearray(500 * 2**20)
        out = subprocess.run([sys.executable, "-c", {child!r}], capture_output=True, text=True, check=True).stdout
        print(json.dumps([int(number) for number in out.split()]))
        """
    ours, max_rss = run_fresh(code)
    assert ours < 100 * MIB
    assert max_rss > 400 * MIB  # the trap is really there


@needs_proc
def test_the_steady_peak_leaves_the_setup_out_and_the_whole_life_keeps_it() -> None:
    """R22. Guard: `reset_process_peak` in `start_steady`."""
    meter = MemoryMeter("cpu")
    ballast = torch.ones(300 * MIB, dtype=torch.uint8)
    del ballast
    meter.start_steady()
    kept = torch.ones(50 * MIB, dtype=torch.uint8)
    steady, life = meter.steady()["peak_process_bytes"], meter.whole_life()["whole_life_peak_process_bytes"]
    assert steady is not None
    assert life is not None
    assert life - steady > 200 * MIB
    assert kept.nbytes < steady


def test_a_peak_that_cannot_be_reset_is_unknown(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Guard: the return value of `reset_process_peak`; the whole-life peak must not be passed off as the steady one."""
    monkeypatch.setattr("engine.child.memory.CLEAR_REFS", tmp_path / "missing" / "clear_refs")
    meter = MemoryMeter("cpu")
    meter.start_steady()
    assert meter.steady() == {"peak_process_bytes": None}


@needs_proc
def test_resetting_the_peak_forgets_a_freed_array() -> None:
    ballast = torch.ones(200 * MIB, dtype=torch.uint8)
    high = process_peak()
    del ballast
    assert reset_process_peak()
    low = process_peak()
    assert high is not None
    assert low is not None
    assert high - low > 150 * MIB


@pytest.mark.slow
def test_limits_of_this_cpu_are_plausible(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "waited_s", lambda: 0.0)  # whatever else this machine does while it is tested
    # Small enough that free memory, which changes from moment to moment, does not decide the size.
    monkeypatch.setattr(limits, "last_level_cache_bytes", lambda device: 32 * MIB)
    found = limits.measure_limits("cpu", ["float32", "int64"])
    assert found.bandwidth_bytes_per_s is not None
    assert 1e8 < found.bandwidth_bytes_per_s < 2e12
    assert found.bandwidth_bytes is not None
    assert 0 <= limits.CACHE_MULTIPLE * 32 * MIB - found.bandwidth_bytes < limits.ARRAY_STEP
    assert set(found.flops_per_s) == {"float32"}
    assert 1e8 < found.flops_per_s["float32"] < 1e14
    assert (found.launch_s, found.graph_launch_s, found.synchronize_s) == (None, None, None)


def test_a_limit_measured_beside_other_work_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Guard: `MAX_WAIT` in `_timed`. A bandwidth too low makes a floor too high, and honest times "impossible"."""
    waits = itertools.count()
    monkeypatch.setattr(limits, "waited_s", lambda: next(waits))
    monkeypatch.setattr(limits, "BUDGET_S", 0.05)
    monkeypatch.setattr(limits, "bandwidth_bytes", lambda device: 12 * limits.ARRAY_STEP)
    monkeypatch.setitem(limits.MATMUL_SIZE, "cpu", 8)
    found = limits.measure_limits("cpu", ["float32"])
    assert found.bandwidth_bytes_per_s is None
    assert dict(found.flops_per_s) == {}


@needs_proc
def test_waiting_for_a_core_is_seen() -> None:
    """Two processes that spin on one core each wait half of the time."""
    code = """
        import json, os, threading, time
        from engine.child.limits import waited_s
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        before, stop_at = waited_s(), time.perf_counter() + 0.5
        def spin():
            while time.perf_counter() < stop_at:
                sum(range(1000))
        child = os.fork()
        spin()
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)
        print(json.dumps(waited_s() - before))
        """
    assert run_fresh(code) > 0.1


def test_bandwidth_is_measured_on_as_much_memory_as_the_smallest_floor_is_made_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Guard: no larger arrays in `_bandwidth`; caches that nobody tells of would help the work and not the limit."""
    touched = limits.ARRAY_STEP * 100
    spans: list[int] = []

    def remember(call, device) -> float:
        tensors = [call.__self__] if hasattr(call, "__self__") else [c.cell_contents for c in call.__closure__]
        starts = [tensor.data_ptr() for tensor in tensors]
        ends = [tensor.data_ptr() + tensor.nbytes for tensor in tensors]
        spans.append(max(ends) - min(starts))
        return 1.0

    monkeypatch.setattr(limits, "_best_s", remember)
    assert limits._bandwidth("cpu", touched) == 2 * touched
    assert spans == [touched] * 4


def test_the_bandwidth_arrays_stay_within_the_free_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Guard: `MEMORY_FRACTION`; a server CPU's last cache can be hundreds of megabytes."""
    monkeypatch.setattr(limits, "last_level_cache_bytes", lambda device: 2**50)
    available = limits.psutil.virtual_memory().available
    assert limits.bandwidth_bytes("cpu") < available / 2


def test_measuring_memory_needs_no_compiler() -> None:
    code = "import sys, engine.child.memory; assert 'torch._inductor' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
