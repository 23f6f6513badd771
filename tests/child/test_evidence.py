"""Evidence from real torch: every way a compiled variant can silently not happen leaves a trace, and its rule finds it.

Guards are named in the docstrings; each test was seen failing with its guard removed.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from engine.child.evidence import Evidence  # noqa: E402
from engine.child.profiling import profile_calls  # noqa: E402
from engine.proof import RULES  # noqa: E402
from engine.proof.caches import judge_cache  # noqa: E402
from tests.child.fresh_process import run_fresh  # noqa: E402
from tests.hand_made import measurement  # noqa: E402

pytestmark = [
    pytest.mark.beside,
    pytest.mark.slow,
    # torch's own import of its compiler
    pytest.mark.filterwarnings("ignore:.torch.jit.script_method. is deprecated:DeprecationWarning"),
]

LENGTHS = [torch.ones(length, 4) for length in range(3, 14)]


class Doubling(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2 + 1


class Printing(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x * 2
        print("half way")
        return y + 1


@pytest.fixture(autouse=True)
def compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A compile cache of its own for every test, and nothing left compiled for the next."""
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "inductor"))
    yield
    torch._dynamo.reset()


def observe(make: Callable[[], Callable[[Any], Any]], warmup: Sequence[Any], timed: Sequence[Any]) -> Evidence:
    evidence = Evidence("cpu", compiles=True)
    evidence.begin()
    call = make()
    with torch.inference_mode():
        for inputs in warmup:
            call(inputs)
        evidence.mark()
        for inputs in timed:
            call(inputs)
    return evidence


def verdict_of(rule: str, evidence: Evidence) -> bool | None:
    return RULES[rule]([replace(measurement(), facts=evidence.facts())]).passed


def test_a_compiled_module_passes_every_rule() -> None:
    evidence = observe(lambda: torch.compile(Doubling(), backend="eager"), LENGTHS[:1], LENGTHS[:1] * 3)
    assert evidence.facts()["frames_compiled"] >= 1
    assert evidence.graphs() == 1
    for rule in ("compiled", "no_recompile_while_timing", "no_eager_fallback"):
        assert verdict_of(rule, evidence) is True
    assert verdict_of("nothing_compiled", evidence) is False
    assert (evidence.compile_s() or 0) > 0


def test_a_new_length_while_timing_is_a_recompile() -> None:
    """M2. Guard: the compile callbacks registered in `Evidence.begin`, counted from `mark`."""
    evidence = observe(lambda: torch.compile(Doubling(), backend="eager"), LENGTHS[:1], LENGTHS[1:2])
    assert evidence.facts()["recompiles_while_timing"] == 1
    assert "size mismatch" in evidence.facts()["recompile_reasons"][-1]
    assert verdict_of("no_recompile_while_timing", evidence) is False


def test_a_print_in_forward_breaks_the_graph(capsys: pytest.CaptureFixture[str]) -> None:
    """M3. Guard: `graph_breaks` in `no_eager_fallback`, read from TorchDynamo's counters."""
    evidence = observe(lambda: torch.compile(Printing(), backend="eager"), LENGTHS[:1], LENGTHS[:1])
    facts = evidence.facts()
    assert (facts["graph_breaks"], facts["graphs"]) == (1, 2)
    assert "`print`" in facts["graph_break_reasons"][0]
    assert verdict_of("no_eager_fallback", evidence) is False
    assert "half way" in capsys.readouterr().out


def test_calling_forward_of_a_compiled_module_compiles_nothing() -> None:
    """M4. Guard: `frames_compiled` in the rule `compiled`."""

    def bypassed() -> Callable[[Any], Any]:
        module = Doubling()
        module.compile(backend="eager")
        return module.forward

    evidence = observe(bypassed, LENGTHS[:1], LENGTHS[:1])
    assert evidence.facts()["frames_compiled"] == 0
    assert verdict_of("compiled", evidence) is False


def test_the_ninth_length_runs_eagerly() -> None:
    """M5. Guard: `recompile_limit_hit`, read from what TorchDynamo calls unimplemented."""
    evidence = observe(lambda: torch.compile(Doubling(), backend="eager", dynamic=False), LENGTHS[:8], LENGTHS[8:9])
    facts = evidence.facts()
    assert (facts["graphs"], facts["frames_seen"], facts["frames_compiled"]) == (8, 9, 8)
    assert facts["recompile_limit_hit"] is True
    assert verdict_of("no_eager_fallback", evidence) is False


def test_falling_back_to_eager_while_timing_is_noticed_without_any_compile_event() -> None:
    """M5. Guard: the frames in `no_eager_fallback`; the ninth length fires no callback, and torch may word the limit anew."""
    evidence = observe(lambda: torch.compile(Doubling(), backend="eager", dynamic=False), LENGTHS[:8], LENGTHS[8:9])
    facts = {**evidence.facts(), "recompile_limit_hit": None}
    assert facts["recompiles_while_timing"] == 0
    finding = RULES["no_eager_fallback"]([replace(measurement(), facts=facts)])
    assert finding.passed is False and "1 of 9 frames ran without the compiler" in finding.reason


def test_dynamic_shapes_serve_nine_lengths_with_at_most_two_graphs() -> None:
    evidence = observe(lambda: torch.compile(Doubling(), backend="eager", dynamic=True), LENGTHS[:9], [])
    assert evidence.facts()["graphs"] <= 2
    assert evidence.facts()["recompile_limit_hit"] is False


def test_a_suppressed_compiler_error_is_not_compiled() -> None:
    """R27. Guard: `frames_compiled` counts only frames that came through, whatever `suppress_errors` hides."""

    def broken(graph: Any, inputs: Any) -> Any:
        raise RuntimeError("no compiler")

    # A plain monkeypatch of a torch setting would delete it on undo.
    with torch._dynamo.config.patch(suppress_errors=True):
        evidence = observe(lambda: torch.compile(Doubling(), backend=broken), LENGTHS[:1], LENGTHS[:1])
    assert (evidence.facts()["frames_seen"], evidence.facts()["frames_compiled"]) == (1, 0)
    assert verdict_of("compiled", evidence) is False


def test_without_a_compiler_and_with_errors_suppressed_nothing_counts_as_compiled(tmp_path: Path) -> None:
    """R27, as in an image without g++. Guard: as above."""
    facts = run_fresh(
        """
        import json, torch, torch._dynamo
        from engine.child.evidence import Evidence
        torch._dynamo.config.suppress_errors = True
        evidence = Evidence("cpu", compiles=True)
        evidence.begin()
        with torch.inference_mode():
            torch.compile(torch.nn.GELU())(torch.ones(8))
        print(json.dumps(evidence.facts()))
        """,
        CXX="/nonexistent",
        TORCHINDUCTOR_CACHE_DIR=str(tmp_path),
    )
    assert RULES["compiled"]([replace(measurement(), facts=facts)]).passed is False


def test_reduce_overhead_on_a_cpu_counts_one_skip() -> None:
    """M6. Guard: `graph_replayed`; torch itself gives neither a log line nor a reason."""
    evidence = observe(lambda: torch.compile(torch.nn.Linear(4, 4), mode="reduce-overhead"), LENGTHS[:1], LENGTHS[:1])
    facts = evidence.facts()
    assert facts["cudagraph_skips"] == 1
    assert facts["cudagraph_nodes"] is None
    assert verdict_of("graph_replayed", evidence) is False


def test_an_eager_arm_never_loads_the_compiler() -> None:
    """Guard: the module checks in `Evidence`. An eager process stays as a user's would."""
    seen = run_fresh(
        """
        import json, sys, torch
        from engine.child.evidence import Evidence
        evidence = Evidence("cpu", compiles=False)
        evidence.begin()
        torch.ones(3) * 2
        evidence.mark()
        facts = evidence.facts()
        print(json.dumps([facts, "torch._inductor" in sys.modules]))
        """
    )
    assert seen[0]["frames_seen"] == 0
    assert seen[1] is False


def test_an_eager_arm_that_compiles_after_all_is_seen() -> None:
    """Guard: `Evidence.begin` resets and reads the counters of a compiler that something else has loaded."""
    evidence = Evidence("cpu", compiles=False)
    evidence.begin()
    torch.compile(Doubling(), backend="eager")(LENGTHS[0])
    assert verdict_of("nothing_compiled", evidence) is False


def test_cold_and_warm_caches_are_told_apart_by_counters(tmp_path: Path) -> None:
    """R29. Guards: `_caches`, `judge_cache`. The second process finds what the first one left, unless caches are switched off."""
    code = """
        import json, torch
        from engine.child.evidence import Evidence
        evidence = Evidence("cpu", compiles=True)
        evidence.begin()
        with torch.inference_mode():
            torch.compile(torch.nn.GELU())(torch.ones(64))
        print(json.dumps(evidence.facts()))
        """
    cold, warm = (run_fresh(code, TORCHINDUCTOR_CACHE_DIR=str(tmp_path)) for _ in range(2))
    assert cold["fxgraph_cache_misses"] > 0
    assert cold["fxgraph_cache_hits"] == 0
    assert cold["autograd_cache_misses"] > 0
    assert warm["fxgraph_cache_hits"] > 0
    assert warm["autograd_cache_hits"] > 0
    assert cold["generated_kernels"] == warm["generated_kernels"] == 1
    switched_off = run_fresh(code, TORCHINDUCTOR_CACHE_DIR=str(tmp_path), TORCHINDUCTOR_FORCE_DISABLE_CACHES="1")
    named = [("cold", cold), ("warm", warm), ("warm", switched_off), ("warm", cold), ("cold", warm)]
    measured = [replace(measurement(), facts=facts, compile_cache=state) for state, facts in named]
    assert [judge_cache(each).passed for each in measured] == [True, True, False, False, False]


def test_compiler_settings_that_are_not_torchs_own_are_recorded_by_name() -> None:
    """Guard: `changed_inductor_settings`; a result must say what its compiler was told."""
    evidence = observe(lambda: torch.compile(Doubling(), backend="eager"), LENGTHS[:1], LENGTHS[:1])
    as_torch_ships = evidence.facts()["inductor_settings"]
    with torch._inductor.config.patch({"freezing": True, "triton.cudagraphs": True}):
        changed = evidence.facts()["inductor_settings"]
    assert set(changed) - set(as_torch_ships) == {"freezing = True", "triton.cudagraphs = True"}


def test_a_missing_private_interface_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Guard: `torch_internals.find`. Unknown is None, never 0 and never an exception."""
    monkeypatch.delattr("torch._dynamo.utils.get_compilation_metrics")
    monkeypatch.delattr("torch._dynamo.callback.on_compile_start")
    evidence = observe(lambda: torch.compile(Doubling(), backend="eager"), LENGTHS[:1], LENGTHS[1:2])
    facts = evidence.facts()
    assert facts["recompile_reasons"] is None
    assert evidence.compile_s() is None
    # Without callbacks the number of graphs still tells.
    assert facts["recompiles_while_timing"] == 1


def test_operators_per_call_are_counted_at_the_outer_level() -> None:
    """M12: an operator left out shows. `linear` calls `addmm` inside; it counts once. Guard: `_is_outer_operator`."""
    layer = torch.nn.Linear(4, 4)
    three_steps = profile_calls(lambda: layer(LENGTHS[0]) + 0.5 * LENGTHS[0], "cpu")
    two_steps = profile_calls(lambda: layer(LENGTHS[0]) + LENGTHS[0], "cpu")
    assert three_steps["operators_per_call"] == 3
    assert two_steps["operators_per_call"] == 2


def test_advice_on_many_sizes_is_no_reason_to_skip_a_cuda_graph() -> None:
    """Torch's own function writes it to the log that names the reasons. Guard: `MANY_SIZES`."""
    from torch._inductor import cudagraph_utils

    from engine.child.cudagraph_evidence import CudaGraphEvidence

    evidence = CudaGraphEvidence("cuda:0")
    evidence.begin()
    cudagraph_utils.maybe_warning_due_to_dynamic_shape({(size,): print for size in range(60)}, (61,))
    cudagraph_utils.log_cudagraph_skip_and_bump_counter("skipping cudagraphs due to cpu device (x)")
    assert evidence._reasons() == ["skipping cudagraphs due to cpu device (x)"]


def test_an_eager_child_on_cuda_carries_no_compiler_either() -> None:
    """Guard: `compiles` in `mark`; counting recorded graphs would import the compiler's graph trees."""
    loaded = run_fresh("""
        import json, sys
        from engine.child.evidence import Evidence
        evidence = Evidence("cuda:0", compiles=False)
        evidence.begin()
        evidence.mark()
        evidence.facts()
        print(json.dumps("torch._inductor" in sys.modules))
    """)
    assert loaded is False
