"""From hand-made runs to rows: which number, which verdict, which reason; what must be shown and what must not."""

import math
from dataclasses import replace
from typing import Any

import pytest

from engine.catalog import CLAIMS, VARIANTS
from engine.comparison import ClaimWord, ComparisonRow, claim_verdict, compare_run, comparison_frame, sentence, short
from engine.comparison.checks import MATCHED_FACTS
from engine.errors import UnknownKey
from engine.result import Conditions, Failure, Measurement, PointSetUp, Run
from engine.spec import Experiment, Workload
from engine.verdict import Check, Verdict
from tests.unit.hand_made import (
    COMPILED,
    CORRECT,
    EAGER,
    QUIET,
    TWIN,
    WORKLOAD,
    blocks,
    measurement,
    run_of,
    standard_run,
    wobble,
)


def row_of(run: Run, variant: str = COMPILED, baseline: str | None = None) -> ComparisonRow:
    (row,) = (row for row in compare_run(run, baseline) if row.variant == variant)
    return row


def check_of(row: ComparisonRow, key: str) -> Check:
    return next(check for check in row.checks if check.key == key)


def changed(run: Run, variant: str, **fields: Any) -> Run:
    """The run with these fields of one variant's measurements replaced; a function gets the measurement's old value."""

    def change(outcome: Any) -> Any:
        if outcome.variant != variant or not isinstance(outcome, Measurement):
            return outcome
        new = {name: value(getattr(outcome, name)) if callable(value) else value for name, value in fields.items()}
        return replace(outcome, **new)

    return replace(run, outcomes=tuple(map(change, run.outcomes)))


def with_facts(run: Run, variant: str, **facts: Any) -> Run:
    return changed(run, variant, facts=lambda old: old | facts)


def test_rows_come_in_the_order_baseline_twin_variants_and_the_numbers_are_exact() -> None:
    baseline, twin, compiled = compare_run(standard_run())
    assert [baseline.variant, twin.variant, compiled.variant] == [EAGER, TWIN, COMPILED]
    assert [baseline.verdict, twin.verdict, compiled.verdict] == [
        Verdict.BASELINE,
        Verdict.NO_DIFFERENCE,
        Verdict.FASTER,
    ]
    assert compiled.speedup is not None
    assert compiled.speedup.estimate == pytest.approx(1.2, rel=1e-3)
    assert (compiled.processes, compiled.rounds, compiled.samples) == (5, 8, 120)
    assert (compiled.median_s, compiled.baseline_median_s) == (pytest.approx(0.05), pytest.approx(0.06))
    assert len(compiled.process_ratios) == 5


def test_the_twins_interval_does_not_depend_on_how_many_techniques_are_measured_beside_it() -> None:
    """Corrected for ten variants, a check on the machine of +-1.6 % would become +-3.4 %, "unstable". Guard: `comparisons_of`."""
    uneven = iter((0.0600, 0.0603, 0.0598, 0.0601, 0.0597) * 2)
    few = standard_run()
    for variant in (TWIN, COMPILED):
        few = changed(few, variant, blocks=lambda old: blocks(wobble(next(uneven), 0)))
    more = [key for key in ("max-autotune/freezing", "max-autotune/documented") if key in VARIANTS]
    copies = [replace(each, variant=key) for each in few.outcomes if each.variant == COMPILED for key in more]
    experiment = replace(few.experiment, variants=(*few.experiment.variants, *more))
    many = replace(few, experiment=experiment, outcomes=(*few.outcomes, *copies))
    assert len(more) == 2
    assert row_of(many, TWIN).speedup == row_of(few, TWIN).speedup
    wider, narrower = row_of(many).speedup, row_of(few).speedup
    assert wider is not None and narrower is not None and (wider.half_width or 0) > (narrower.half_width or 0)


def test_first_calls_of_30_and_19_seconds_are_set_up_and_not_latency() -> None:
    """R1: the headline is 1.2x and 49 s stand beside it, never 0.003x."""
    eager = measurement(EAGER, 0, [[0.06] * 3] * 6)
    compiled = measurement(COMPILED, 0, [[0.05] * 3] * 6, first_calls_s=(30.0, 19.0, 0.05))
    row = row_of(run_of(eager, compiled, protocol="quick"))
    assert row.speedup is not None and short(row) == "1.20x (no verdict)"
    assert row.setup_cold_s == pytest.approx(48.9)
    assert row.first_calls_s == (30.0, 19.0, 0.05)


def test_a_slowdown_is_shown_as_one_with_its_likely_cause() -> None:
    """R3: 10 us eager, 14 us compiled."""
    row = row_of(standard_run(eager_s=10e-6, twin_s=10e-6, compiled_s=14e-6))
    assert short(row) == "0.71x (slower)"
    assert row.speedup is not None and row.speedup.estimate == pytest.approx(10 / 14, rel=1e-3)
    assert "overhead-bound" in row.reason and "larger batch" in row.reason
    assert row.break_even_cold is not None and row.break_even_cold.is_never


def test_one_process_set_gives_numbers_and_no_verdict_word() -> None:
    outcomes = [measurement(EAGER, 0, wobble(0.06, 0)), measurement(COMPILED, 0, wobble(0.03, 1))]
    row = row_of(run_of(*outcomes, protocol="quick"))
    assert row.verdict is Verdict.NO_VERDICT and row.reason == "one process set: no verdict"
    assert row.speedup is not None and row.speedup.low is None
    assert row.break_even_cold is None
    assert sentence(row) == "torch.compile came to 2.00x of Eager's speed; one process set: no verdict."


def test_a_set_up_pays_back_after_its_seconds_over_the_saving_with_a_cold_and_a_warm_cache() -> None:
    run = changed(
        standard_run(),
        COMPILED,
        points=lambda points: (replace(points[0], first_calls_s=(20.0,)),),
    )
    warm = [m for m in run.outcomes if m.process > 0 and m.variant == COMPILED]
    run = replace(
        run,
        outcomes=tuple(
            replace(m, points=(replace(m.points[0], first_calls_s=(5.0,)),)) if m in warm else m for m in run.outcomes
        ),
    )  # type: ignore[union-attr]
    row = row_of(run)
    assert (row.setup_cold_s, row.setup_warm_s) == (pytest.approx(19.95), pytest.approx(4.95))
    assert row.break_even_cold is not None and row.break_even_warm is not None
    assert row.break_even_cold.calls == pytest.approx(1995, rel=0.01)
    assert row.break_even_warm.calls == pytest.approx(495, rel=0.01)


def test_a_warm_compile_cache_is_not_passed_off_as_a_cold_one() -> None:
    """R29: the second run finds the first one's cache and says so."""
    cold, warm = row_of(standard_run()), row_of(changed(standard_run(), COMPILED, compile_cache="warm"))
    assert cold.setup_cold_s is not None and cold.first_compile_cache == "cold"
    assert warm.setup_cold_s is None and warm.setup_warm_s is not None
    assert "warm_cache" in {badge.key for badge in warm.badges} - {badge.key for badge in cold.badges}


def test_steady_and_whole_life_memory_stay_apart_and_unknown_is_missing() -> None:
    """R22: warm-up peak 900, steady peak 300."""
    memory = {"peak_process_bytes": 300, "whole_life_peak_process_bytes": 900, "device_used_bytes": None}
    row = row_of(changed(standard_run(), COMPILED, memory=memory))
    assert row.memory == {
        "device_used_bytes": None,
        "peak_process_bytes": 300,
        "whole_life_peak_process_bytes": 900,
    }


def test_a_speedup_bought_with_another_matmul_precision_carries_a_badge() -> None:
    """R23: the same rows at `highest` and at `high`."""
    plain = standard_run()
    high = replace(plain, experiment=replace(plain.experiment, matmul_precision="high"))
    assert row_of(plain).badges == ()
    assert [badge.key for badge in row_of(high).badges] == ["matmul_precision"]


def test_a_variant_of_another_precision_class_carries_a_badge(monkeypatch: pytest.MonkeyPatch) -> None:
    """R23."""
    monkeypatch.setitem(VARIANTS, COMPILED, replace(VARIANTS[COMPILED], precision="bfloat16"))
    row = row_of(standard_run())
    assert row.precision == "bfloat16"
    assert [badge.text for badge in row.badges] == ["bfloat16, baseline float32"]


@pytest.mark.parametrize(
    ("facts", "badge"),
    [
        ({"model_note": "random weights: timing valid, outputs meaningless"}, "random_weights"),
        ({"cudagraph_skips": 1}, "cuda_graphs_skipped"),
        ({"fxgraph_cache_bypasses": 1}, "cache_bypassed"),
        ({"recompile_limit_hit": True}, "partly_eager"),
        ({"frames_seen": 3}, "partly_eager"),
    ],
)
def test_what_a_reader_must_know_is_a_badge(facts: dict[str, Any], badge: str) -> None:
    assert badge in {found.key for found in row_of(with_facts(standard_run(), COMPILED, **facts)).badges}


def test_a_ratio_that_rises_by_fifteen_percent_over_the_rounds_is_unstable() -> None:
    """R24: 1.00 rising to 1.15 in one arm while the baseline stays."""
    rising = [[0.05 * (1 + 0.15 * r / 19)] * 5 for r in range(20)]
    outcomes = [
        measurement(variant, process, rising if variant == COMPILED else wobble(0.06, process, rounds=20))
        for process in range(5)
        for variant in (EAGER, TWIN, COMPILED)
    ]
    row = row_of(run_of(*outcomes))
    assert row.verdict is Verdict.UNSTABLE and "last third over first third" in row.reason
    assert row.raw_change == pytest.approx(0.142, abs=0.01)


def test_a_drift_common_to_both_arms_is_none() -> None:
    drifting = [[0.05 * (1 + 0.15 * r / 19)] * 5 for r in range(20)]
    outcomes = [measurement(v, p, drifting) for p in range(5) for v in (EAGER, TWIN, COMPILED)]
    row = row_of(run_of(*outcomes))
    assert row.verdict is Verdict.NO_DIFFERENCE
    assert row.raw_change == pytest.approx(0.142, abs=0.01)


@pytest.mark.parametrize(
    "facts",
    [
        {"threads": 1},
        {"matmul_precision": "high"},
        {"attention": "eager"},
        {"grad_mode": "grad"},
    ],
)
def test_arms_measured_under_different_settings_are_not_compared(facts: dict[str, Any]) -> None:
    """M14; guard: `checks.same_settings`."""
    run = with_facts(standard_run(), EAGER, matmul_precision="highest")
    row = row_of(with_facts(run, COMPILED, **{"matmul_precision": "highest"} | facts))
    assert row.verdict is Verdict.NOT_COMPARABLE
    assert row.speedup is None and row.process_ratios == ()
    ((key, value),) = facts.items()
    assert key in row.reason and str(value) in row.reason


def test_arms_of_different_dtypes_are_never_divided() -> None:
    """M14: rounds are paired within one workload, and the dtype is part of it."""
    half = replace(WORKLOAD, dtype="bfloat16")
    run = changed(standard_run(), COMPILED, workloads=(half,))
    (row,) = (row for row in compare_run(run) if row.workload == half)
    assert row.verdict is Verdict.NOT_COMPARABLE and row.reason == "baseline: failed: it was not measured"
    assert row.speedup is None


def test_a_reading_of_more_cores_than_there_are_is_none() -> None:
    """Read over no time before the first round, it called quiet runs unstable. Guard: `_possible`."""
    impossible = replace(QUIET, other_cpu_cores=64.7)
    run = with_facts(standard_run(), COMPILED, cpus_allowed=2)
    run = changed(with_facts(run, EAGER, cpus_allowed=2), COMPILED, rounds=lambda old: (impossible, *old[1:]))
    assert row_of(run).verdict is Verdict.FASTER
    assert row_of(changed(run, COMPILED, rounds=(replace(QUIET, other_cpu_cores=1.9),))).verdict is Verdict.UNSTABLE


@pytest.mark.parametrize("load", [{"other_cpu_cores": 0.9}, {"steal_fraction": 0.05}])
def test_a_loaded_machine_is_unstable(load: dict[str, float]) -> None:
    """M15; guard: `checks.is_quiet`."""
    busy = (replace(QUIET, **load),) * 8
    row = row_of(changed(changed(standard_run(), EAGER, rounds=busy), COMPILED, rounds=busy))
    assert row.verdict is Verdict.UNSTABLE and "other processes used" in row.reason


def test_a_machine_whose_load_cannot_be_read_is_unknown_and_not_quiet() -> None:
    unknown = (Conditions(),) * 8
    row = row_of(changed(changed(standard_run(), EAGER, rounds=unknown), COMPILED, rounds=unknown))
    assert check_of(row, "quiet").passed is None
    assert row.verdict is Verdict.FASTER


def test_a_throttling_gpu_is_unstable() -> None:
    hot = Conditions(throttle_reasons=("SW thermal slowdown",))
    run = changed(standard_run(), COMPILED, blocks=lambda old: tuple(replace(block, after=hot) for block in old))
    assert row_of(run).verdict is Verdict.UNSTABLE
    idle = Conditions(throttle_reasons=("GPU idle",))
    run = changed(standard_run(), COMPILED, blocks=lambda old: tuple(replace(block, after=idle) for block in old))
    assert row_of(run).verdict is Verdict.FASTER


def test_arms_at_different_gpu_clocks_are_unstable() -> None:
    def clocked(hertz: float) -> Any:
        conditions = Conditions(sm_clock_hz=hertz, throttle_reasons=())
        return lambda old: tuple(replace(block, after=conditions) for block in old)

    run = changed(changed(standard_run(), EAGER, blocks=clocked(1.98e9)), COMPILED, blocks=clocked(1.80e9))
    assert row_of(run).verdict is Verdict.UNSTABLE


def test_an_arm_that_never_settled_is_unstable_and_keeps_its_data() -> None:
    run = changed(standard_run(), COMPILED, points=lambda old: (replace(old[0], reached_steady_state=False),))
    row = row_of(run)
    assert row.verdict is Verdict.UNSTABLE and "ran out of warm-up time" in row.reason
    assert row.speedup is not None


@pytest.mark.parametrize(
    ("twin_s", "spread"), [(0.061, 0.0), (0.06, 0.08)], ids=["excludes 1.0", "half-width above 3 %"]
)
def test_an_a_a_twin_that_differs_from_its_baseline_makes_the_experiment_unstable(twin_s: float, spread: float) -> None:
    run = standard_run()
    twins = iter(wobble(twin_s * (1 + spread * (process - 2)), process) for process in range(5))
    run = changed(run, TWIN, blocks=lambda old: blocks(next(twins)))
    assert {row.verdict for row in compare_run(run) if not row.is_baseline} == {Verdict.UNSTABLE}
    assert "A/A twin" in row_of(run).reason


def test_a_technique_whose_evidence_fails_did_not_run_and_shows_no_speedup() -> None:
    row = row_of(with_facts(standard_run(), COMPILED, frames_compiled=0))
    assert row.verdict is Verdict.DID_NOT_RUN and row.speedup is None
    assert row.reason


def test_a_wrong_result_comes_before_any_speedup() -> None:
    row = row_of(changed(standard_run(), COMPILED, outputs=(CORRECT, replace(CORRECT, stage="after", rmse=0.1))))
    assert row.verdict is Verdict.WRONG_RESULT
    assert row.break_even_cold is None


def test_a_time_below_95_percent_of_the_floor_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    """M7; guard: `checks.is_possible`."""
    monkeypatch.setattr("engine.comparison.measured.floor_of", lambda *_: 0.051)
    row = row_of(standard_run(compiled_s=0.05))
    assert row.verdict is Verdict.FASTER
    assert row.floor_speedup == pytest.approx(0.06 / 0.051)
    row = row_of(standard_run(compiled_s=0.04))
    assert row.verdict is Verdict.IMPOSSIBLE and row.speedup is None


def test_speedup_is_missing_when_the_baseline_failed() -> None:
    run = standard_run()
    kept = tuple(outcome for outcome in run.outcomes if outcome.variant == COMPILED)
    row = row_of(replace(run, outcomes=(failure(EAGER), *kept)))
    assert row.verdict is Verdict.NOT_COMPARABLE and row.speedup is None
    assert "it ran out of memory" in row.reason
    assert row.median_s == pytest.approx(0.05)


def failure(variant: str, process: int = 0, **fields: Any) -> Failure:
    defaults = Failure(
        variant=variant, process=process, workloads=(WORKLOAD,), stage="first_call", kind="out_of_memory",
        message="it ran out of memory",
    )  # fmt: skip
    return replace(defaults, **fields)


def test_a_variant_that_failed_everywhere_keeps_its_row_and_says_why() -> None:
    """M17; guard: `arms_of` makes arms of failures too."""
    run = standard_run()
    others = tuple(outcome for outcome in run.outcomes if outcome.variant != COMPILED)
    rows = compare_run(replace(run, outcomes=(*others, failure(COMPILED))))
    assert [row.verdict for row in rows] == [Verdict.BASELINE, Verdict.NO_DIFFERENCE, Verdict.FAILED]
    assert rows[2].reason == "it ran out of memory (out of memory at first call)"


def test_a_process_set_that_failed_is_counted_and_the_others_stand() -> None:
    """M17."""
    run = standard_run()
    outcomes = tuple(
        failure(COMPILED, process=4) if (outcome.variant, outcome.process) == (COMPILED, 4) else outcome
        for outcome in run.outcomes
    )
    row = row_of(replace(run, outcomes=outcomes))
    assert row.verdict is Verdict.FASTER and row.processes == 4
    assert [badge.text for badge in row.badges] == ["1 of 5 process sets failed"]
    assert check_of(row, "failures").passed is False


@pytest.mark.parametrize(
    ("kind", "verdict"),
    [("unavailable", Verdict.NOT_AVAILABLE), ("cancelled", Verdict.NOT_MEASURED), ("crashed", Verdict.FAILED)],
)
def test_rows_without_a_measurement_say_which_kind_they_are(kind: Any, verdict: Verdict) -> None:
    run = standard_run()
    others = tuple(outcome for outcome in run.outcomes if outcome.variant != COMPILED)
    assert row_of(replace(run, outcomes=(*others, failure(COMPILED, kind=kind)))).verdict is verdict


def test_a_running_experiment_has_a_row_for_everything_it_will_measure() -> None:
    rows = compare_run(run_of(status="running"))
    assert [(row.variant, row.verdict) for row in rows] == [
        (EAGER, Verdict.NOT_MEASURED),
        (COMPILED, Verdict.NOT_MEASURED),
    ]


def test_any_arm_can_be_the_baseline() -> None:
    run = standard_run()
    row = row_of(run, EAGER, baseline=COMPILED)
    assert row.speedup is not None and row.speedup.estimate == pytest.approx(1 / 1.2, rel=1e-3)
    assert row.verdict is Verdict.SLOWER
    assert row_of(run, COMPILED, baseline=COMPILED).verdict is Verdict.BASELINE
    assert row_of(run, TWIN, baseline=COMPILED).baseline == EAGER


def test_a_baseline_the_run_does_not_have_is_refused_with_the_ones_it_has() -> None:
    with pytest.raises(UnknownKey, match=r"'cuda-graphs/manual'.*baseline/eager, torch-compile/default"):
        compare_run(standard_run(), baseline="cuda-graphs/manual")


def test_variants_of_different_groups_are_compared_through_the_baseline_both_had(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other = replace(VARIANTS[COMPILED], key="torch-compile/other")
    monkeypatch.setitem(VARIANTS, other.key, other)
    first = standard_run().outcomes
    second = [
        measurement(variant, 5 + process, wobble(seconds, process), facts=dict(first[2].facts) if variant == other.key else None)
        for process in range(5)
        for variant, seconds in ((EAGER, 0.066), (other.key, 0.033))
    ]  # fmt: skip
    row = row_of(run_of(*first, *second), other.key, baseline=COMPILED)
    assert row.speedup is not None
    assert row.speedup.estimate == pytest.approx(2.0 / 1.2, rel=1e-3)
    assert row.speedup.processes == 5
    assert row_of(run_of(*first, *second), other.key).speedup.estimate == pytest.approx(2.0, rel=1e-3)  # type: ignore[union-attr]


def test_points_met_in_another_order_by_every_process_set_are_kept_apart() -> None:
    long = Workload(model=WORKLOAD.model, batch_size=1, sequence_length=128)
    seconds = {(EAGER, WORKLOAD): 0.06, (EAGER, long): 0.4, (COMPILED, WORKLOAD): 0.05, (COMPILED, long): 0.1}

    def served(variant: str, process: int) -> Measurement:
        order = (WORKLOAD, long) if process % 2 else (long, WORKLOAD)
        found = [blocks(wobble(seconds[variant, point], process), workload=i) for i, point in enumerate(order)]
        point = PointSetUp(first_calls_s=(1.0,), reached_steady_state=True)
        return measurement(variant, process, [], workloads=order, points=(point, point), blocks=found[0] + found[1])

    experiment = Experiment(workloads=(WORKLOAD, long), variants=(COMPILED,))
    run = run_of(*(served(v, p) for p in range(5) for v in (EAGER, COMPILED)), experiment=experiment)
    found = {row.workload: row.speedup for row in compare_run(run) if row.variant == COMPILED}
    assert found[WORKLOAD].estimate == pytest.approx(1.2, rel=1e-3)  # type: ignore[union-attr]
    assert found[long].estimate == pytest.approx(4.0, rel=1e-3)  # type: ignore[union-attr]


def test_percentiles_need_samples_of_single_calls() -> None:
    run = changed(
        standard_run(), COMPILED, blocks=lambda old: tuple(replace(block, calls_per_sample=7) for block in old)
    )
    row = row_of(run)
    assert row.p95 is None and row.percentile_note == "one sample is the mean of 7 calls: single calls are not known"
    single = row_of(standard_run())
    assert single.p95 is not None and single.p95.missing == 80


def test_gpu_times_tell_whether_launching_or_the_gpu_limits() -> None:
    def timed(host_s: float, gpu_s: float | None) -> Any:
        return lambda old: tuple(replace(b, host_s=(host_s,) * 3, gpu_s=(gpu_s, gpu_s, None)) for b in old)

    run = standard_run()
    assert row_of(changed(run, COMPILED, blocks=timed(0.045, 0.02))).bound == "launch-bound"
    assert row_of(changed(run, COMPILED, blocks=timed(0.01, 0.049))).bound == "GPU-bound"
    assert row_of(changed(run, COMPILED, blocks=timed(0.01, None))).bound is None
    assert row_of(run).bound is None


def test_where_no_call_could_be_queued_the_profilers_gpu_time_stands_and_says_so() -> None:
    """An encoder that reads its mask on the host waits inside the call: every event pair leaked. Guard: `gpu_time`."""

    def timed(gpu_s: float | None) -> Any:
        return lambda old: tuple(replace(b, gpu_s=(gpu_s,) * 3) for b in old)

    run = with_facts(standard_run(), COMPILED, gpu_busy_s_per_call=0.02)
    leaked, queued = (row_of(changed(run, COMPILED, blocks=timed(gpu_s))) for gpu_s in (None, 0.03))
    assert (leaked.gpu_s, leaked.gpu_is_profiled, leaked.bound) == (0.02, True, "launch-bound")
    assert (queued.gpu_s, queued.gpu_is_profiled) == (0.03, False)
    assert [[badge.text for badge in row.badges if badge.key == "gpu_profiled"] for row in (leaked, queued)] == [
        ["GPU time by the profiler"],
        [],
    ]


@pytest.mark.parametrize(
    ("captured", "is_said"), [({"flash": 6.0, "gemm": 36.0}, False), ({"masked": 6.0, "gemm": 36.0, "fill": 3.0}, True)]
)
def test_eager_that_was_captured_with_other_kernels_says_so(captured: dict[str, float], is_said: bool) -> None:
    """transformers sees that a graph is recorded and builds its mask. Guard: `_other_kernels`."""
    replayed = "cuda-graphs/eager-replay"
    run = run_of(measurement(EAGER, 0, wobble(0.06, 0)), measurement(replayed, 0, wobble(0.03, 1)), protocol="quick")
    seen = {EAGER: {"flash": 6.0, "gemm": 36.0}, replayed: captured}
    for variant, names in seen.items():
        run = with_facts(run, variant, kernel_names=names, kernels_per_call=sum(names.values()))
    badges = [badge for row in compare_run(run) for badge in row.badges if badge.key == "other_kernels"]
    assert [badge.text for badge in badges] == ["other kernels than eager"] * is_said
    assert all("45 kernels per call, eager 42" in badge.meaning for badge in badges)


COMPILE_CLAIM = next(claim for claim in CLAIMS if claim.key == "compile-1.91x")


@pytest.mark.parametrize(
    ("compiled_s", "word"),
    [(0.06 / 1.91, ClaimWord.HOLDS), (0.05, ClaimWord.DOES_NOT_HOLD), (0.06, ClaimWord.DOES_NOT_HOLD)],
)
def test_a_claimed_figure_holds_when_it_lies_in_the_interval_measured_here(compiled_s: float, word: ClaimWord) -> None:
    assert claim_verdict(COMPILE_CLAIM, compare_run(standard_run(compiled_s=compiled_s))).word is word


def test_a_claim_is_not_testable_by_one_process_set_another_shape_or_a_technique_that_did_not_run() -> None:
    quick = run_of(measurement(EAGER, 0, wobble(0.06, 0)), measurement(COMPILED, 0, wobble(0.03, 1)), protocol="quick")
    missing = with_facts(standard_run(), COMPILED, frames_compiled=0)
    elsewhere = replace(COMPILE_CLAIM, workload=replace(WORKLOAD, sequence_length=128))
    found = [
        claim_verdict(COMPILE_CLAIM, compare_run(quick)),
        claim_verdict(COMPILE_CLAIM, compare_run(missing)),
        claim_verdict(elsewhere, compare_run(standard_run())),
    ]
    assert [verdict.word for verdict in found] == [ClaimWord.NOT_TESTABLE] * 3


@pytest.mark.parametrize(
    ("compiled_s", "word"), [(0.06, ClaimWord.DOES_NOT_HOLD), (0.06 / 1.8, ClaimWord.NOT_TESTABLE)]
)
def test_an_unstable_measurement_refutes_only_what_its_a_a_twin_cannot_explain(
    compiled_s: float, word: ClaimWord
) -> None:
    """The twin is 5 % off: 1.00x is out of reach of 1.91x even if widened by 10 %, 1.80x is not."""
    twins = iter(wobble(0.06 / 1.05, process) for process in range(5))
    run = changed(standard_run(compiled_s=compiled_s), TWIN, blocks=lambda old: blocks(next(twins)))
    assert row_of(run).verdict is Verdict.UNSTABLE
    found = claim_verdict(COMPILE_CLAIM, compare_run(run))
    assert found.word is word
    assert ("does not reach it" in found.reason) == (word is ClaimWord.DOES_NOT_HOLD)


@pytest.mark.parametrize(("compiled_s", "word"), [(0.06 / 3.0, ClaimWord.HOLDS), (0.06 / 1.08, ClaimWord.NOT_TESTABLE)])
def test_an_unstable_measurement_still_says_faster_where_its_a_a_twin_cannot_explain_it(
    compiled_s: float, word: ClaimWord
) -> None:
    """The twin is 5 % off: 3.00x is faster even if narrowed by 10 %, 1.08x may be nothing. Guard: `_beyond_doubt`."""
    twins = iter(wobble(0.06 / 1.05, process) for process in range(5))
    run = changed(standard_run(compiled_s=compiled_s), TWIN, blocks=lambda old: blocks(next(twins)))
    assert row_of(run).verdict is Verdict.UNSTABLE
    found = claim_verdict(replace(COMPILE_CLAIM, speedup=None), compare_run(run))
    assert found.word is word
    assert ("is faster" in found.reason) == (word is ClaimWord.HOLDS)


def test_settings_that_nobody_told_are_not_taken_for_equal() -> None:
    """Guard: `unknown` in `same_settings`."""
    run = standard_run()
    for variant in (EAGER, TWIN, COMPILED):
        run = with_facts(run, variant, **{**dict.fromkeys(MATCHED_FACTS, "alike"), "cpus_allowed": 2})
    known = check_of(row_of(run), "settings")
    assert known.passed and known.detail.startswith("the same in both arms: threads, cores, gradients, attention")
    silent = check_of(row_of(with_facts(run, COMPILED, attention=None)), "settings")
    assert silent.passed is None and silent.detail.endswith("not known: attention")
    other = check_of(row_of(with_facts(run, COMPILED, attention="another", grad_mode=None)), "settings")
    assert other.passed is False


@pytest.mark.parametrize("key", ["clocks", "steady", "drift"])
def test_what_the_a_a_twin_cannot_show_leaves_a_claim_undecided(key: str) -> None:
    """Lower clocks in one arm make it any factor slower while baseline and twin agree. Guard: `SEEN_BY_THE_TWIN`."""
    rows = [
        replace(
            row,
            verdict=Verdict.UNSTABLE,
            reason=key,
            checks=tuple(replace(check, passed=False if check.key == key else check.passed) for check in row.checks),
        )
        for row in compare_run(standard_run(compiled_s=0.06))
    ]
    assert claim_verdict(COMPILE_CLAIM, rows).word is ClaimWord.NOT_TESTABLE
    assert claim_verdict(replace(COMPILE_CLAIM, speedup=None), rows).word is ClaimWord.NOT_TESTABLE


def test_the_frame_has_one_row_per_arm_and_no_nested_values() -> None:
    frame = comparison_frame(compare_run(standard_run()))
    assert frame["variant"].tolist() == [EAGER, TWIN, COMPILED]
    assert frame["speedup_estimate"].iloc[2] == pytest.approx(1.2, rel=1e-3)
    assert math.isnan(frame["speedup_estimate"].iloc[0])


def test_an_unknown_variant_from_another_version_is_shown_without_being_proven() -> None:
    renamed = tuple(
        replace(outcome, variant="future/one") if outcome.variant == COMPILED else outcome
        for outcome in standard_run().outcomes
    )
    run = run_of(*renamed, experiment=Experiment(workloads=(WORKLOAD,), variants=(EAGER, "future/one")))
    row = row_of(run, "future/one")
    assert row.label == "future/one" and row.verdict is Verdict.FASTER
    assert {badge.key for badge in row.badges} == {"unknown_ran", "unknown_outputs"}
