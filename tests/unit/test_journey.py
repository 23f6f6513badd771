"""The route as one experiment, its steps' newest results, and what is advised from them."""

from dataclasses import replace

from engine.advice import advise, pays_back_after_days
from engine.catalog import TECHNIQUES, VARIANTS
from engine.comparison import compare_run
from engine.journey import drive, steps
from engine.spec import PROTOCOLS
from engine.stats import BreakEven
from tests.unit.hand_made import COMPILED, WORKLOAD, standard_run


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
    half = replace(row, variant="precision/bfloat16", technique="precision", precision="bfloat16", median_s=0.02)
    assert advise([row, half]).best == row
    assert advise([row, half]).lower_precision == half
    assert advise([row, replace(half, median_s=0.055)]).lower_precision is None


def test_a_set_up_is_earned_back_after_days_or_never() -> None:
    assert pays_back_after_days(BreakEven(600_000), 100_000) == 6
    assert pays_back_after_days(BreakEven(None), 100_000) is None
