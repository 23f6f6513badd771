"""Pitfalls: reported against right, in both directions, with and without an interval; nothing is invented where one lacks."""

from dataclasses import replace

import pytest

from engine import formatting, results_csv
from engine.advice import advise
from engine.catalog import MEASURED, PITFALLS, TECHNIQUES, VARIANTS
from engine.catalog.pitfalls import COMPILED, HALF_EAGER, REMEMBERING, run_by
from engine.catalog.types import TWIN_SUFFIX
from engine.charts import pitfall_errors
from engine.comparison import compare_run
from engine.estimate import estimate_seconds
from engine.pitfalls import Lesson, error_text, experiment, headline, lessons, numbers, right_text, sentence
from engine.slides import run_slides
from engine.spec import PROTOCOLS
from engine.stats import Interval
from tests.made_pitfalls import POINT, made_pitfalls, without

RATIO, LATENCY = PITFALLS[0], next(each for each in PITFALLS if not each.is_ratio)


def lesson(key, run=None):
    return next(each for each in lessons(run or made_pitfalls()) if each.pitfall.key == key)


def test_there_are_ten_in_the_methods_order_and_each_is_run_by_and_judged_by_something_measured():
    assert len(PITFALLS) == len({pitfall.key for pitfall in PITFALLS}) == 10
    for pitfall in PITFALLS:
        assert pitfall.run_by in VARIANTS and pitfall.right.removesuffix(TWIN_SUFFIX) in VARIANTS
        assert pitfall.over is None or pitfall.over in VARIANTS
        compile(pitfall.code, pitfall.key, "exec")


def test_the_pitfalls_are_no_step_of_the_journey():
    assert [each.key for each in MEASURED if each not in TECHNIQUES] == ["pitfalls"]


def test_a_script_is_run_once_and_only_loops_whose_spread_is_the_lesson_are_repeated():
    assert [each.key for each in run_by(COMPILED, is_first=True)] == ["first-call", "one-process"]
    assert [each.key for each in run_by(COMPILED, is_first=False)] == ["one-process"]
    assert [each.key for each in run_by(REMEMBERING, is_first=False)] == ["a-then-b"]


@pytest.mark.parametrize(
    ("key", "reported", "right", "factor"),
    [
        ("first-call", 0.2, 1.25, 0.16),
        ("wall-clock", 0.0213, 0.020, 0.939),
        ("mean", 0.022, 0.020, 0.909),
        ("a-then-b", 1.0526, 1.0, 1.0526),
        ("constant-input", 100.0, 1.0, 100.0),
        ("work-left", 0.6e-3, 0.3e-3, 0.5),
        ("gradients", 0.025, 0.020, 0.8),
        ("unfair-baseline", 2.5, 1.5, 1.667),
    ],
)
def test_the_factor_says_how_many_times_as_fast_it_seemed_as_it_is(key, reported, right, factor):
    found = lesson(key)
    assert found.reported == pytest.approx(reported, rel=1e-3)
    assert found.right.estimate == pytest.approx(right, rel=0.03)
    assert found.factor == pytest.approx(factor, rel=0.03)
    assert found.right.low < found.right.estimate < found.right.high
    how_much = formatting.speedup(max(found.factor, 1 / found.factor))
    assert error_text(found) == f"looks {how_much} too {'fast' if factor > 1 else 'slow'}"


def test_an_error_inside_the_interval_is_not_called_one():
    found = lesson("one-process")
    assert found.reported == pytest.approx(1.25) and len(found.reports) == 5
    assert error_text(found) == "no error seen in this run"
    assert not found.is_seen


def test_the_unfair_baseline_is_judged_over_the_fair_one():
    """Over float32 eager the right number would be 2.5x and the mistake invisible."""
    run = made_pitfalls()
    assert lesson("unfair-baseline", run).right.estimate == pytest.approx(1.5, rel=0.02)
    gone = replace(run, outcomes=tuple(each for each in run.outcomes if each.variant != HALF_EAGER))
    assert lesson("unfair-baseline", gone).right is None
    assert lesson("unfair-baseline", gone).why == "not measured in this run"


def test_one_process_set_gives_numbers_without_an_interval():
    found = lesson("first-call", made_pitfalls(protocol="quick"))
    assert found.whisker is None and found.is_seen
    assert "[" not in right_text(found)
    assert numbers(found)["speed-up"][1].endswith("(one process set: no interval)")
    assert pitfall_errors.title([found]).endswith("one process set: no intervals")


@pytest.mark.parametrize("key", ["one-process", "a-then-b"])
def test_one_process_set_cannot_tell_what_only_several_can(key):
    found = lesson(key, made_pitfalls(protocol="quick"))
    assert found.reported is not None and found.right is None
    assert found.why == "one process set cannot tell, the standard protocol can"


def test_a_latency_is_judged_by_the_rounds_of_the_process_that_ran_the_loop():
    """Processes differ by more than some of these mistakes change: another process's latency would hide or invent one."""
    assert all(pitfall.right == pitfall.run_by for pitfall in PITFALLS if not pitfall.is_ratio)


def test_what_is_not_available_or_failed_says_why_and_shows_no_number():
    assert lesson("no-synchronise").why == "not available here: this device has no CUDA"
    broken = without(made_pitfalls(), COMPILED, "g++ was not found")
    assert lesson("first-call", broken).why == "failed: g++ was not found"
    assert lesson("first-call", broken).right is None and lesson("first-call", broken).factor is None
    assert sentence(lesson("first-call", broken)) == "The first call counted: failed: g++ was not found"
    assert "changed the number" in headline(lessons(broken))


def test_without_a_run_all_ten_keep_their_place():
    assert [each.why for each in lessons(None)] == ["not measured here yet"] * 10
    assert headline(lessons(None)) == "None of the ten could be measured in this run."


def test_a_negative_time_is_an_error_without_a_factor():
    found = Lesson(pitfall=LATENCY, reports=(-0.01,), right=Interval(0.02, 0.019, 0.021, 5))
    assert found.factor is None and found.is_seen and error_text(found) == "a negative time"
    assert found.factors == ()


def test_the_whisker_of_a_latency_is_turned_round_with_its_factor():
    """A longer time is a slower one: both ends are on the scale of speed."""
    found = Lesson(pitfall=LATENCY, reports=(0.02,), right=Interval(0.02, 0.016, 0.025, 5))
    assert found.whisker == pytest.approx((0.8, 1.25))
    ratio = Lesson(pitfall=RATIO, reports=(1.0,), right=Interval(1.0, 0.8, 1.1, 5))
    assert ratio.whisker == pytest.approx((0.8, 1.1))


def test_the_headline_names_the_largest_error():
    text = headline(lessons(made_pitfalls()))
    assert text.startswith(
        '8 of the 9 mistakes measured here changed the number; the largest: "The same input every time" looks'
    )
    assert "too fast (100x instead of 1.00x" in text


def test_the_lessons_survive_the_result_csv(tmp_path):
    run = made_pitfalls()
    results_csv.write([run], tmp_path / "ten.csv")
    (read,) = results_csv.read(tmp_path / "ten.csv")
    assert [sentence(each) for each in lessons(read)] == [sentence(each) for each in lessons(run)]


def test_the_table_names_what_is_compared():
    assert list(numbers(lesson("first-call"))) == ["number", "speed-up"]
    assert next(iter(numbers(lesson("mean"))["time per call"])) == "22.0 ms"


def test_the_chart_keeps_rows_in_place_and_ends_in_an_arrow_where_a_mistake_is_out_of_sight():
    found = lessons(made_pitfalls())
    figure = pitfall_errors.pitfall_errors(found, "#6B4E3D")
    assert len(figure.layout.annotations) == 10
    symbols = [trace.marker.symbol for trace in figure.data if trace.marker.symbol]
    assert symbols.count("triangle-right-open") == 1
    assert symbols.count("diamond") == 9
    largest = max(x for trace in figure.data for x in trace.x)
    assert largest == pitfall_errors.IN_SIGHT
    assert "No synchronise: not available here" in pitfall_errors.alt_text(found)


def test_the_run_is_estimated_at_minutes():
    quick, standard = (estimate_seconds(experiment(POINT, "cpu", PROTOCOLS[name])) for name in ("quick", "standard"))
    assert 120 < quick < 300
    assert 400 < standard < 720


def test_nobody_is_advised_to_use_a_pitfall():
    rows = [row for row in compare_run(made_pitfalls()) if row.workload == POINT]
    assert any(row.verdict.value == "faster" for row in rows)
    advice = advise(rows)
    assert advice.best is None and advice.lower_precision is None and advice.avoid == ()


def test_slides_begin_with_what_the_mistakes_came_to():
    run = made_pitfalls()
    first = run_slides(run, compare_run(run), "pitfalls")[0]
    assert first.sentence == headline(lessons(run))
    figure, spoken = first.draw()
    assert len(figure.layout.annotations) == 10 and "The first call counted" in spoken
