"""What may be divided by what, with which interval, and what is said of it: exact cases on hand-made readings."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from scipy.stats import ttest_ind

from engine.charts import compare_bars, compare_curves, compare_heatmap, compare_latencies
from engine.charts.latency_boxes import EXTREMES, NONE, NOTES
from engine.device_comparison import DeviceArm, Mean, over_device, over_own_baseline, summarise
from engine.device_comparison.ratios import welch
from engine.device_comparison.report import html_report
from engine.device_comparison.summary import common_points, technique_sentences
from engine.device_comparison.view import View
from engine.imports.readings import from_rows, merge
from engine.verdict import Verdict

HOSTILE = "<img src=x onerror=alert(1)> $x^2$ **b**"


def reading(device: str, technique: str, seconds: float | None, **more: Any) -> dict[str, Any]:
    """One sample of one technique on one device."""
    row = {"device": device, "technique": technique, "variant": technique, "measure": "latency", "unit": "seconds"}
    return row | {"statistic": "sample", "latency_s": seconds} | more


def arms(*rows: dict[str, Any]) -> list[DeviceArm]:
    return summarise(from_rows(rows, "test.csv"))


def view(*rows: dict[str, Any], baseline: str | None = "eager", **prices: float) -> View:
    made = arms(*rows)
    return View(arms=made, reference=made[0].device, baseline=baseline, prices=prices)


@pytest.mark.parametrize(
    ("mine", "theirs", "badge"),
    [
        ({"protocol": "quick"}, {"protocol": "standard"}, "protocol quick against standard"),
        ({"cache_state": "warm"}, {}, "compile cache warm against not stated"),
        ({"torch": "2.2"}, {"torch": "2.13"}, "torch 2.2 against 2.13"),
        ({"statistic": "mean"}, {"statistic": "median"}, "figure mean against median"),
        ({"dtype": "float16"}, {}, "dtype float16 against not stated"),
        ({"weights": "random"}, {}, "weights random against not stated"),
    ],
)
def test_a_difference_in_circumstances_is_a_badge_with_both_values(mine: dict, theirs: dict, badge: str) -> None:
    ratios, unmatched = over_device(arms(reading("A", "eager", 1.0, **mine), reading("B", "eager", 2.0, **theirs)), "B")
    (one,) = [one for one in ratios if not one.is_reference]
    unstated = [] if "dtype" in mine else ["dtype not stated", "matmul precision not stated"]
    assert (one.speedup, [str(each) for each in one.differences]) == (2.0, [badge, *unstated])
    assert unmatched == []


@pytest.mark.parametrize("column", ["model", "dtype"])
def test_different_work_withholds_the_ratio_and_names_both(column: str) -> None:
    mine, theirs = {"model": ("bert", "distilbert"), "dtype": ("float16", "float32")}[column]
    made = arms(reading("A", "eager", 1.0, **{column: mine}), reading("B", "eager", 2.0, **{column: theirs}))
    (one,) = [one for one in over_device(made, "B")[0] if not one.is_reference]
    assert (one.speedup, one.verdict, one.reason) == (
        None,
        Verdict.NOT_COMPARABLE,
        f"{mine} against {theirs}: not the same work",
    )


def test_a_missing_baseline_is_said_and_a_failed_one_is_no_baseline() -> None:
    made = arms(
        reading("A", "compile", 1.0),
        reading("B", "eager", None, status="failed", reason="OOM"),
        reading("B", "compile", 1.0),
    )
    alone, failed, other = over_own_baseline(made, "eager")
    assert (alone.speedup, alone.reason) == (None, "eager was not measured here")
    assert failed.verdict is Verdict.FAILED
    assert (other.speedup, other.reason) == (None, "the other side failed: OOM")


def test_welchs_interval_is_that_of_scipys_t_test() -> None:
    theirs, mine = [math.log(value) for value in (2.0, 2.1, 1.9, 2.05)], [math.log(value) for value in (1.0, 1.1, 1.05)]
    interval = welch(theirs, mine, comparisons=1, is_rate=False)
    low, high = ttest_ind(theirs, mine, equal_var=False).confidence_interval(0.95)
    assert (interval.low, interval.high) == (pytest.approx(math.exp(low)), pytest.approx(math.exp(high)))
    assert interval.estimate == pytest.approx(math.exp(sum(theirs) / 4 - sum(mine) / 3))
    assert welch(theirs, mine[:2], comparisons=1, is_rate=False) is None


def test_geometric_means_use_only_points_that_all_devices_have() -> None:
    rows = [reading(device, "eager", seconds, batch_size=batch) for device, batch, seconds in (
        ("A", 1, 1.0), ("A", 8, 1.0), ("A", 32, 1.0), ("B", 1, 2.0), ("B", 8, 8.0), ("B", 64, 99.0),
    )]  # fmt: skip
    shown = view(*rows)
    doubts = "2 ratios without a verdict"
    assert shown.sentences[0] == f"B is 0.25x as fast as A (geometric mean over 2 common configurations; {doubts})."
    assert [str(arm.point) for arm in shown.unmatched] == ["batch 64", "batch 32"]
    assert shown.sentences[-1] == "2 rows exist on one side only and are not counted."


def test_a_device_measured_twice_is_told_apart_by_what_differs() -> None:
    made = arms(reading("A", "eager", 1.0, torch="2.2"), reading("A", "eager", 2.0, torch="2.13"))
    assert [arm.device for arm in made] == ["A (torch 2.2)", "A (torch 2.13)"]


def test_cost_follows_price_and_latency_and_the_cheapest_fast_enough_needs_a_known_p95() -> None:
    shown = view(
        reading("A", "eager", 0.010, statistic="median"), reading("A", "eager", 0.012, statistic="p95"),
        reading("B", "eager", 0.040, statistic="median"), reading("B", "eager", 0.044, statistic="p95"),
        reading("C", "eager", 0.001), A=3.6, B=0.36, C=0.01,
    )  # fmt: skip
    costs = {cost.arm.device: cost.per_million_calls for cost in shown.priced}
    assert costs == {"A": pytest.approx(10.0), "B": pytest.approx(4.0), "C": pytest.approx(0.01 / 3.6)}
    for limit_s, devices in ((0.050, ["B"]), (0.020, ["A"]), (0.001, [])):
        assert [cost.arm.device for cost in shown.cheapest(shown.points[0], limit_s)] == devices


def test_the_cheapest_is_ranked_within_one_point_and_dtype() -> None:
    """A price per call of a small shape, or of half precision, is no better price for a large one in float32."""
    work = {"batch_size": 8, "dtype": "float32"}
    shown = view(
        reading("A", "eager", 4.0, **work), reading("B", "eager", 2.0, **work),
        reading("B", "eager", 1.0, **work | {"dtype": "float16"}), reading("A", "eager", 0.1, **work | {"batch_size": 1}),
        A=1.0, B=1.0,
    )  # fmt: skip
    found = [(cost.arm.device, cost.arm.dtype) for cost in shown.cheapest(shown.points[0])]
    assert found == [("B", "float16"), ("B", "float32")]


def test_some_failed_rows_make_a_value_doubtful() -> None:
    made = arms(
        reading("A", "eager", 1.0),
        reading("A", "eager", None, status="failed", reason="OOM"),
        reading("B", "eager", 1.0),
    )
    (one,) = [one for one in over_device(made, "B")[0] if not one.is_reference]
    assert (one.verdict, one.reason) == (Verdict.UNSTABLE, "some rows failed: OOM")


def test_a_bar_without_a_number_keeps_its_place_and_says_why() -> None:
    rows = [reading(device, name, 1.0) for device in "AB" for name in ("eager", "compile")]
    shown = view(*rows[:3], reading("B", "compile", None, status="failed", reason="out of memory"))
    figure = compare_bars.compare_bars(shown.at(shown.points[0], "own"), "own", shown.devices)
    assert [trace.name for trace in figure.data] == ["A", "B"]
    assert list(figure.data[1].x) == [1.0, None]
    assert "out of memory" in " ".join(note.text for note in figure.layout.annotations)


@pytest.mark.parametrize(("samples", "left", "right", "says"), [(199, 1.0, 199.0, True), (200, 10.95, 190.05, False)])
def test_whiskers_are_percentiles_only_where_so_many_samples_tell_them(
    samples: int, left: float, right: float, says: bool
) -> None:
    made = arms(*(reading("A", "eager", float(number)) for number in range(1, samples + 1)))
    figure = compare_latencies.compare_latencies(made, ["A"])
    box = figure.data[0]
    assert (box.lowerfence[0], box.upperfence[0]) == pytest.approx((left, right))
    assert (NOTES[EXTREMES] in figure.layout.xaxis.title.text) is says


def test_means_of_several_calls_tell_no_percentile() -> None:
    """200 block means hide the slow call that p95 and "cheapest below" are about."""
    rows = [reading("A", "eager", float(number), calls_per_sample=7) for number in range(1, 201)]
    shown = view(*rows, A=3.6)
    (arm,) = shown.arms
    assert (arm.value, arm.p95, arm.evidence) == (100.5, None, "n = 200 means of 7 calls")
    assert shown.cheapest(shown.points[0], 1e6) == []
    figure = compare_latencies.compare_latencies(shown.arms, ["A"])
    box = figure.data[0]
    assert (box.lowerfence[0], box.upperfence[0]) == (box.q1[0], box.q3[0])
    assert NOTES[NONE] in figure.layout.xaxis.title.text
    assert "p95" not in figure.layout.title.text


def test_charts_and_report_escape_hostile_text_everywhere() -> None:
    rows = [
        reading(f"{HOSTILE} {place}", HOSTILE, 1.0, batch_size=batch, setting=HOSTILE)
        for place in "AB"
        for batch in (1, 2)
    ]
    shown = view(*rows, reading(f"{HOSTILE} A", "eager", 2.0, batch_size=1, setting=HOSTILE))
    point = shown.points[0]
    figures = [
        compare_bars.compare_bars(shown.at(point, axis), axis, shown.devices, str(point)) for axis in compare_bars.AXES
    ]
    figures += [compare_latencies.compare_latencies(shown.arms, shown.devices, str(point))]
    figures += [compare_heatmap.compare_heatmap(shown.means, shown.devices)]
    figures += [
        compare_curves.compare_curves([a for a in shown.arms if a.variant == HOSTILE], "batch_size", shown.devices)
    ]
    drawn = [figure.to_json() for figure in figures]
    assert all("$x^2$" not in text for text in drawn)
    for text in (*drawn, html_report(shown, HOSTILE).partition("</head>")[2]):
        assert "<img" not in text
        assert "\\u003cimg" not in text


def test_curves_are_offered_only_along_what_was_swept() -> None:
    one = arms(reading("A", "eager", 1.0, batch_size=1), reading("A", "compile", 1.0, batch_size=8))
    assert compare_curves.swept(one) == {}
    two = arms(
        reading("A", "eager", 1.0, batch_size=1), reading("A", "eager", 2.0, batch_size=8), reading("A", "compile", 1.0)
    )
    assert compare_curves.swept(two) == {"batch_size": ["eager"]}


def in_processes(device: str, technique: str, *seconds: float, **more: Any) -> list[dict[str, Any]]:
    """Two equal samples in each of some processes."""
    return [reading(device, technique, s, process=place, **more) for place, s in enumerate(seconds) for _ in range(2)]


@pytest.mark.parametrize(
    ("mine", "theirs", "badges"),
    [
        ({}, {}, ["dtype not stated", "matmul precision not stated"]),
        ({"dtype": "float32"}, {"dtype": "float32"}, ["matmul precision not stated"]),
        ({"dtype": "float16"}, {"dtype": "float16"}, []),
        ({"dtype": "float32", "precision": "high"}, {"dtype": "float32", "precision": "high"}, []),
    ],
)
def test_what_neither_side_states_is_a_badge_too(mine: dict, theirs: dict, badges: list[str]) -> None:
    made = arms(reading("A", "eager", 1.0, **mine), reading("B", "eager", 2.0, **theirs))
    (one,) = [one for one in over_device(made, "B")[0] if not one.is_reference]
    assert [str(each) for each in one.differences] == badges
    same_file = arms(reading("A", "eager", 1.0), reading("A", "compile", 2.0))
    assert all(one.differences == () for one in over_own_baseline(same_file, "eager"))


def test_a_device_without_a_stated_condition_is_told_apart_in_words() -> None:
    made = arms(reading("A", "eager", 1.0, cache_state="cold"), reading("A", "eager", 2.0))
    assert [arm.device for arm in made] == ["A (cache state cold)", "A (cache state not stated)"]


def test_files_that_differ_in_their_ending_only_are_told_apart() -> None:
    rows = [reading("bench", "eager", seconds) for seconds in (1.0, 2.0)]
    frames = [from_rows([row], file) for row, file in zip(rows, ("bench.json", "bench.csv"), strict=True)]
    made = summarise(merge(frames))
    assert [(arm.device, arm.value) for arm in made] == [("bench (bench.json)", 1.0), ("bench (bench.csv)", 2.0)]


def test_an_arm_that_one_of_two_devices_has_too_is_counted() -> None:
    shown = view(
        reading("A", "eager", 1.0, batch_size=1), reading("A", "eager", 1.0, batch_size=8), reading("A", "eager", 1.0),
        reading("B", "eager", 2.0, batch_size=1), reading("C", "eager", 4.0, batch_size=8),
    )  # fmt: skip
    assert [str(arm.point) for arm in shown.unmatched] == ["all rows"]
    one_ratio = "over one common configuration (1 ratio without a verdict)"
    assert shown.sentences[0] == (
        f"B is 0.50x as fast as A {one_ratio} and C is 0.25x as fast as A {one_ratio}; "
        "no configuration is common to all."
    )


def test_a_point_that_only_another_device_has_keeps_its_bar_and_says_so() -> None:
    shown = view(
        reading("A", "eager", 1.0, batch_size=1),
        *(reading(device, "eager", 1.0, batch_size=8) for device in "BC"),
        reading("B", "eager", 1.0, batch_size=64),
    )
    by_batch = {point.batch_size: shown.at(point, "device") for point in shown.points}
    assert [(one.arm.device, one.reason) for one in by_batch[8]] == [("B", "not on A"), ("C", "not on A")]
    assert [(one.arm.device, one.reason) for one in by_batch[64]] == [("B", "only on this device")]
    figure = compare_bars.compare_bars(by_batch[64], "device", shown.devices)
    assert "only on this device" in " ".join(note.text for note in figure.layout.annotations).replace("\u00a0", " ")


def test_only_what_is_established_as_faster_is_named_as_a_speedup() -> None:
    rows = [*in_processes("A", "eager", 2.0, 2.01, 1.99), *in_processes("A", "compile", 1.0, 1.01, 0.99)]
    shown = view(*rows, reading("B", "eager", 1.0), reading("B", "compile", 0.5))
    assert technique_sentences(shown.own, shown.devices) == [
        "Largest speed-up over the device's own baseline: compile on A (2.00x); "
        "no technique is established as faster on B."
    ]
    slower = view(reading("A", "eager", 1.0), reading("A", "compile", 1 / 0.85))
    assert technique_sentences(slower.own, slower.devices) == ["No technique is established as faster on A."]


def test_a_speedup_established_at_some_points_says_at_how_many() -> None:
    rows = [*in_processes("A", "eager", 2.0, 2.01, 1.99), *in_processes("A", "compile", 1.0, 1.01, 0.99)]
    shown = view(*rows, *(reading("A", name, 1.0, batch_size=8) for name in ("eager", "compile")))
    (said,) = technique_sentences(shown.own, shown.devices)
    assert said.endswith("compile on A (2.00x, established for 1 of 2 configurations).")


def test_a_device_ratio_says_that_it_rests_on_an_unstable_row() -> None:
    shown = view(reading("A", "eager", 1.0, status="unstable", reason="it drifts"), reading("B", "eager", 2.0))
    assert shown.sentences[0] == (
        "B is 0.50x as fast as A (geometric mean over one common configuration; 1 ratio unstable)."
    )


@pytest.mark.parametrize(
    ("mine", "theirs", "reason"),
    [
        (1, 1, "one process per side: no verdict"),
        (2, 2, "2 processes per side, 3 are needed: no verdict"),
        (1, 5, "1 against 5 processes, 3 per side are needed: no verdict"),
        (0, 5, "the processes are not stated: no verdict"),
    ],
)
def test_a_missing_verdict_says_how_many_processes_there_were(mine: int, theirs: int, reason: str) -> None:
    left = in_processes("A", "eager", *[1.0] * mine) or [reading("A", "eager", 1.0)] * 2
    made = arms(*left, *in_processes("B", "eager", *[2.0] * theirs))
    (one,) = [one for one in over_device(made, "B")[0] if not one.is_reference]
    assert one.reason == reason


def test_the_heat_map_says_over_how_many_points_each_technique_is_averaged() -> None:
    many, few = (Mean(device="A", variant="compile", speedup=1.0, points=points) for points in (5, 2))
    assert common_points([many, many]) == "geometric mean over 5 common points"
    assert common_points([many, few]) == "geometric mean over 2 to 5 common points, by technique"
    assert common_points([replace(few, points=1)]) == "at the one common point"


def test_the_first_call_is_each_arms_own_however_its_file_counts() -> None:
    from_zero = [reading("A", "eager", 9.0 - call, phase="first_call", call=call) for call in (0, 1)]
    from_one = [reading("B", "eager", 19.0 - call, phase="first_call", call=call) for call in (1, 2)]
    steady = [reading(device, "eager", 1.0, phase="steady", call=0) for device in "AB"]
    assert [arm.first_call_s for arm in arms(*from_zero, *from_one, *steady)] == [9.0, 18.0]
