"""The route as one experiment, its steps' newest results, and what is advised from them."""

from dataclasses import replace

import pytest

from engine.advice import advise, pays_back_after_days
from engine.arms import plan
from engine.catalog import CLAIMS, TECHNIQUES, VARIANTS, why_unavailable
from engine.comparison import ClaimWord, claim_verdict, compare_run, newest_verdict
from engine.estimate import estimate_seconds
from engine.journey import drive, drive_points, leader, route_rows, rows_beside, steps, suite
from engine.result import Capability, Failure
from engine.spec import PROTOCOLS, Workload
from engine.stats import BreakEven
from tests.hand_made import MACHINE
from tests.many_lengths import many_lengths_run
from tests.pages.made_sweeps import made_fusion, made_preallocation
from tests.unit.hand_made import COMPILED, WORKLOAD, standard_run

PREALLOCATION = next(technique for technique in TECHNIQUES if technique.key == "preallocation")
COMPLETE = replace(
    MACHINE,
    memory_bytes=2**34,
    devices=tuple(replace(device, supports_bfloat16=True) for device in MACHINE.devices),
    capabilities={name: Capability(is_present=True, detail="") for name in ("cxx", "onnxruntime", "openvino")},
)
"""A CPU that has everything a CPU can have."""


def test_the_drive_measures_one_point_and_every_step_that_stands_for_its_technique() -> None:
    experiment = drive(WORKLOAD, "cpu", PROTOCOLS["quick"])
    assert experiment.workloads[0] == WORKLOAD
    driven = {VARIANTS[key].technique for key in experiment.variants}
    assert driven == {t.key for t in TECHNIQUES if any(v.in_drive for v in t.variants)}


def test_every_technique_is_a_step_and_one_that_was_never_measured_has_no_row() -> None:
    run = standard_run()
    found = steps([(run, compare_run(run))], WORKLOAD)
    assert [step.technique for step in found] == list(TECHNIQUES)
    rows = {step.technique.key: step.row for step in found}
    assert rows["torch-compile"] is not None and rows["torch-compile"].variant == COMPILED
    assert rows["max-autotune"] is None


def test_a_step_shows_the_newest_run_that_measured_it_at_this_point() -> None:
    newer, older = standard_run(compiled_s=0.03, id="newer"), standard_run(id="older")
    elsewhere = replace(WORKLOAD, batch_size=8)
    results = [(run, compare_run(run)) for run in (newer, older)]
    assert {step.run.id for step in steps(results, WORKLOAD) if step.run} == {"newer"}
    assert all(step.row is None for step in steps(results, elsewhere))


def test_the_fastest_variant_that_passed_is_advised() -> None:
    found = advise(compare_run(standard_run()))
    assert found.best is not None and found.best.variant == COMPILED
    assert found.lower_precision is None and found.avoid == ()


def test_nothing_is_advised_where_nothing_is_faster_and_a_slowdown_is_to_be_avoided() -> None:
    found = advise(compare_run(standard_run(compiled_s=0.08)))
    assert found.best is None
    assert [(row.variant, reason) for row, reason in found.avoid] == [(COMPILED, "slower here: 0.75x")]


def test_half_precision_is_advised_apart_and_only_where_it_is_faster_still() -> None:
    (row,) = [row for row in compare_run(standard_run()) if row.variant == COMPILED]
    assert row.speedup is not None
    twice, less = (replace(row.speedup, estimate=row.speedup.estimate * factor) for factor in (2, 0.9))
    half = replace(row, variant="precision/bfloat16", technique="precision", precision="bfloat16", speedup=twice)
    assert advise([row, half]).best == row
    assert advise([row, half]).lower_precision == half
    assert advise([row, replace(half, speedup=less)]).lower_precision is None


def test_for_changing_lengths_nothing_is_advised_that_compiles_for_each_of_them_but_padding() -> None:
    """Guard: dynamic=False is fast at the lengths it has seen, and runs eagerly after eight of them."""
    (row,) = [row for row in compare_run(standard_run()) if row.variant == COMPILED]
    assert row.speedup is not None
    rows = {
        name: replace(
            row,
            variant=f"dynamic-shapes/{name}",
            technique="dynamic-shapes",
            speedup=replace(row.speedup, estimate=factor),
        )
        for name, factor in (
            ("dynamic-false", 4.0),
            ("no-cudagraphs-static", 3.0),
            ("buckets", 2.0),
            ("default", 1.5),
        )
    }
    assert advise(list(rows.values())).when_shapes_vary == rows["buckets"]
    assert advise([rows["dynamic-false"], rows["default"]]).when_shapes_vary == rows["default"]
    assert advise([rows["dynamic-false"], rows["no-cudagraphs-static"]]).when_shapes_vary is None


def test_after_a_suite_the_second_choice_for_changing_lengths_comes_from_the_other_run() -> None:
    models, lengths = standard_run(id="models"), many_lengths_run((11, 24, 60))
    results = [(run, compare_run(run)) for run in (models, lengths)]
    found = steps(results, WORKLOAD)
    lead = leader(found)
    assert lead is not None
    rows = rows_beside(lead, found, results)
    assert {row.run_id for row in rows} == {"models", "lengths"}
    assert {row.workload for row in rows} == {WORKLOAD} and not any(row.is_twin for row in rows)
    assert len({row.variant for row in rows}) == len(rows)
    second = advise(rows).when_shapes_vary
    assert second is not None and second.run_id == "lengths"
    alone = steps(results[:1], WORKLOAD)
    assert {row.run_id for row in rows_beside(lead, alone, results)} == {"models"}


def test_of_two_runs_the_larger_gain_is_advised_not_the_shorter_time() -> None:
    """Guard: latencies of two runs differ by what the machine did meanwhile; each gain is over eager of its own run."""
    slow_day = compare_run(standard_run(id="slow", eager_s=0.12, twin_s=0.12, compiled_s=0.06))
    fast_day = [
        replace(row, variant="max-autotune/freezing") for row in compare_run(standard_run(id="fast", compiled_s=0.05))
    ]
    best = advise([*slow_day, *fast_day]).best
    assert best is not None and best.run_id == "slow"


def test_a_set_up_is_earned_back_after_days_or_never() -> None:
    assert pays_back_after_days(BreakEven(600_000), 100_000) == 6
    assert pays_back_after_days(BreakEven(None), 100_000) is None


def test_operators_and_models_are_steps_of_one_drive_each_kind_with_its_baseline() -> None:
    experiment = drive(WORKLOAD, "cpu", PROTOCOLS["quick"])
    groups = plan(experiment, COMPLETE).groups
    baselines = {group.arms[0].variant for group in groups}
    assert {"baseline/eager", "preallocation/fresh", "kernel-fusion/separate"} <= baselines
    assert all({bool(point.model) for point in group.workloads} in ({True}, {False}) for group in groups)


@pytest.mark.parametrize(("protocol", "minutes"), [("quick", 6), ("standard", 20)])
def test_the_drive_is_expected_to_end_in_its_time_on_a_cpu_that_has_everything(protocol: str, minutes: float) -> None:
    assert estimate_seconds(drive(WORKLOAD, "cpu", PROTOCOLS[protocol]), COMPLETE) < 60 * minutes


def test_the_estimate_leaves_out_what_no_cpu_can_run_before_the_machine_is_known() -> None:
    wanted = drive(WORKLOAD, "cpu", PROTOCOLS["standard"])
    limits_s = 60
    assert abs(estimate_seconds(wanted) - estimate_seconds(wanted, COMPLETE)) < limits_s


def test_a_step_about_operators_shows_the_articles_example_and_where_the_technique_pays() -> None:
    run = made_preallocation()
    (step,) = [step for step in steps([(run, compare_run(run))], WORKLOAD) if step.technique.key == "preallocation"]
    assert [(row.variant, row.workload) for row in step.rows] == [
        ("preallocation/copyto", drive_points(PREALLOCATION)[0]),
        ("preallocation/out", drive_points(PREALLOCATION)[1]),
    ]
    assert [row.label for row in route_rows([step])] == [
        "np.copyto into a buffer, 3,000 elements",
        "Into a buffer (out=), 16,777,216 elements",
    ]


def test_a_step_shows_the_variant_that_this_device_could_run_even_without_a_verdict() -> None:
    freezing, elsewhere = "max-autotune/freezing", "max-autotune/no-cudagraphs"
    run = standard_run(protocol="quick")
    renamed = [replace(each, variant=freezing) if each.variant == COMPILED else each for each in run.outcomes]
    missing = Failure(
        variant=elsewhere, process=0, workloads=(WORKLOAD,), stage="start", kind="unavailable", message="this device has no CUDA"
    )  # fmt: skip
    experiment = replace(run.experiment, variants=(elsewhere, freezing))
    run = replace(run, experiment=experiment, outcomes=(missing, *(each for each in renamed if each.process == 0)))
    (step,) = [step for step in steps([(run, compare_run(run))], WORKLOAD) if step.technique.key == "max-autotune"]
    assert [row.variant for row in step.rows] == [freezing]


def test_the_route_speaks_of_the_model_however_fast_an_operator_is() -> None:
    runs = [made_fusion(), standard_run()]
    lead = leader(steps([(run, compare_run(run)) for run in runs], WORKLOAD))
    assert lead is not None and lead.variant == COMPILED


def test_a_step_that_a_cancelled_run_never_reached_shows_the_run_before() -> None:
    whole = standard_run(id="whole")
    missed = [
        Failure(
            variant=COMPILED, process=0, workloads=(WORKLOAD,), stage="start", kind="cancelled", message="cancelled"
        )
    ]
    kept = [outcome for outcome in whole.outcomes if outcome.variant != COMPILED]
    cancelled = replace(whole, id="cancelled", status="cancelled", outcomes=(*kept, *missed))
    results = [(run, compare_run(run)) for run in (cancelled, whole)]
    found = {step.technique.key: step.run for step in steps(results, WORKLOAD)}
    assert found["torch-compile"] == whole and found["baseline"] == cancelled
    lead = leader(steps(results, WORKLOAD))
    beside = rows_beside(lead, steps(results, WORKLOAD), results)
    assert {row.variant: row.run_id for row in beside}[COMPILED] == "whole", (
        "advice rests on the verdict the page leads with"
    )
    alone = {step.technique.key: step for step in steps(results[:1], WORKLOAD)}
    assert alone["torch-compile"].run == cancelled


def stages(**settings: object):
    lengths = [replace(WORKLOAD, sequence_length=length) for length in (11, 24, 60)]
    return suite([WORKLOAD], lengths, protocol=PROTOCOLS["standard"], machine=COMPLETE, **settings)  # type: ignore[arg-type]


def test_the_suite_measures_every_variant_once_or_has_its_reason() -> None:
    wanted = {variant.key for technique in TECHNIQUES for variant in technique.variants}
    plans = [plan(stage.experiment, COMPLETE) for stage in stages()]
    measured = [{arm.variant for group in each.groups for arm in group.arms} for each in plans]
    missing = {failure.variant for each in plans for failure in each.unavailable}
    assert set().union(*measured, missing) >= wanted
    here = {key for key in wanted if why_unavailable(VARIANTS[key], COMPLETE, "cpu") is None}
    assert here <= set().union(*measured)
    assert sorted(key for stage in stages() for key in stage.experiment.variants) == sorted(wanted)


def test_variants_of_the_model_share_one_experiment_and_only_many_lengths_answer_requests() -> None:
    found = {stage.title: stage.experiment for stage in stages(requests=(5, 9))}
    assert [title for title, experiment in found.items() if experiment.request_lengths] == ["Many lengths"]
    assert {key for key in found["The model"].variants if key.startswith("baseline/")} == {"baseline/eager"}
    assert {VARIANTS[key].technique for key in found["The model"].variants} >= {
        "torch-compile",
        "precision",
        "runtimes",
    }


def test_the_suite_measures_the_drives_points_so_that_the_landing_page_can_show_it() -> None:
    points = {point for stage in stages() for point in stage.experiment.workloads}
    assert set(drive(WORKLOAD, "cpu", PROTOCOLS["standard"]).workloads) <= points


def test_a_standard_suite_is_expected_to_end_in_about_an_hour() -> None:
    assert sum(estimate_seconds(stage.experiment, COMPLETE) for stage in stages(requests=(24,) * 450)) < 70 * 60


def claim(key: str):
    return next(claim for claim in CLAIMS if claim.key == key)


def test_each_claim_is_judged_by_the_newest_run_that_could_decide() -> None:
    drive_alone, sweep = standard_run(id="new", compiled_s=0.06 / 1.91), made_preallocation()
    results = [(run, compare_run(run)) for run in (drive_alone, sweep)]
    judged = {each.key: newest_verdict(each, results) for each in CLAIMS}
    assert (judged["compile-1.91x"][0].word, judged["compile-1.91x"][1]) == (ClaimWord.HOLDS, drive_alone)
    assert (judged["preallocation-4.9x"][0].word, judged["preallocation-4.9x"][1]) == (ClaimWord.DOES_NOT_HOLD, sweep)
    assert (judged["fragmentation-21.3"][0].word, judged["fragmentation-21.3"][1]) == (ClaimWord.NOT_TESTABLE, None)
    together = [row for _, rows in results for row in rows]
    assert {each.key: claim_verdict(each, together) for each in CLAIMS} == {
        key: pair[0] for key, pair in judged.items()
    }
    older = standard_run(id="old")
    assert newest_verdict(claim("compile-1.91x"), [(older, compare_run(older)), *results])[1] == older


@pytest.mark.parametrize(
    ("peak", "word", "told"),
    [
        (500, ClaimWord.HOLDS, "37.5 % less"),
        (790, ClaimWord.DOES_NOT_HOLD, "1.25 % less"),
        (960, ClaimWord.DOES_NOT_HOLD, "20.0 % more"),
    ],
)
def test_saved_memory_is_judged_against_the_baselines_peak(peak: int, word: ClaimWord, told: str) -> None:
    run = standard_run()
    outcomes = [
        replace(outcome, memory={"peak_process_bytes": (peak if outcome.variant == COMPILED else 800) * 2**20})
        for outcome in run.outcomes
    ]
    judged = claim_verdict(claim("memory-20-70"), compare_run(replace(run, outcomes=tuple(outcomes))))
    assert judged.word is word
    assert judged.reason.startswith(f"peak process memory {told} (torch.compile)")
    assert "source not found" in judged.reason


def test_one_difference_between_two_processes_is_no_saved_memory() -> None:
    """A quick run has one process set and no interval; half the memory in it may be chance."""
    run = standard_run()
    outcomes = tuple(
        replace(outcome, memory={"peak_process_bytes": 400 if outcome.variant == COMPILED else 800})
        for outcome in run.outcomes
        if outcome.process == 0
    )
    judged = claim_verdict(claim("memory-20-70"), compare_run(replace(run, outcomes=outcomes)))
    assert judged.word is ClaimWord.NOT_TESTABLE and "enough process sets" in judged.reason


def test_half_precision_is_no_memory_technique() -> None:
    (row,) = [row for row in compare_run(standard_run()) if row.variant == COMPILED]
    eager = replace(row, variant=row.baseline, is_baseline=True, memory={"peak_process_bytes": 2.0})
    half = replace(row, memory={"peak_process_bytes": 1.0})
    assert claim_verdict(claim("memory-20-70"), [half, eager]).word is ClaimWord.HOLDS
    lower = replace(half, precision="bfloat16")
    assert claim_verdict(claim("memory-20-70"), [lower, eager]).word is ClaimWord.NOT_TESTABLE


def test_a_drive_names_each_length_of_the_command_that_repeats_it() -> None:
    from engine.reproduce import command

    run = replace(standard_run(), experiment=drive(WORKLOAD, "cpu", PROTOCOLS["standard"]))
    (row,) = [row for row in compare_run(run) if row.variant == "dynamic-shapes/no-cudagraphs"]
    assert "None" not in command(run, row)
    assert Workload(operator="addcmul", elements=2**23) in run.experiment.workloads
