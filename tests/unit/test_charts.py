"""Charts on hand-made runs: what is drawn, in which order, with which words, and how little travels to the browser."""

import math
from dataclasses import replace

import plotly.graph_objects as go
import pytest

from engine.catalog import TECHNIQUES, Technique
from engine.charts import calls_curve, latency_boxes, latency_ecdf, speedup_bars, theme, total_time
from engine.comparison import ComparisonRow, compare_run
from engine.frames import samples_frame
from engine.result import Run
from engine.stats import Interval
from engine.verdict import Verdict
from tests.pages.made_runs import COMPILED, EAGER, made_run, with_failure

VARIANTS_SHOWN = [EAGER, COMPILED]
HOSTILE = "<b>x</b> $e^2$ <a href='http://evil.example'>"


def rows_of(run: Run) -> list[ComparisonRow]:
    return [row for row in compare_run(run) if not row.is_twin]


def all_charts(run: Run) -> dict[str, go.Figure]:
    rows, samples = rows_of(run), samples_frame([run])
    return {
        "speedup": speedup_bars.speedup_bars(rows, "where and when"),
        "boxes": latency_boxes.latency_boxes(samples, VARIANTS_SHOWN, "where and when"),
        "ecdf": latency_ecdf.latency_ecdf(samples, VARIANTS_SHOWN, "where and when"),
        "calls": calls_curve.calls_curve(samples, VARIANTS_SHOWN, "where and when"),
        "total": total_time.total_time(rows, "where and when"),
    }


def words(figure: go.Figure) -> list[str]:
    return [annotation.text for annotation in figure.layout.annotations]


def saturation(colour: str) -> float:
    channels = [int(colour[start : start + 2], 16) for start in (1, 3, 5)]
    return (max(channels) - min(channels)) / 255


def row_labels(figure: go.Figure) -> list[str]:
    return list(figure.layout.yaxis.ticktext)


@pytest.mark.parametrize("name", ["speedup", "boxes", "ecdf", "calls", "total"])
def test_a_chart_carries_its_template_title_caption_and_says_which_direction_is_better(name: str) -> None:
    figure = all_charts(made_run())[name]
    assert figure.layout.template.layout.font.family == theme.FONT
    assert figure.layout.title.text.startswith("<b>")
    assert "where" in figure.layout.title.subtitle.text
    titles = f"{figure.layout.xaxis.title.text} {figure.layout.yaxis.title.text}"
    assert "is better" in titles


@pytest.mark.parametrize("name", ["speedup", "boxes", "ecdf", "calls", "total"])
def test_a_chart_sends_no_samples(name: str) -> None:
    run = made_run()
    drawn = all_charts(run)[name].to_json()
    assert len(drawn) < 40_000
    steady = [time for outcome in run.outcomes for block in outcome.blocks for time in block.latency_s]
    assert sum(repr(time) in drawn for time in steady) == 0


def test_rows_keep_the_order_they_are_given_in() -> None:
    rows = rows_of(made_run())
    assert row_labels(speedup_bars.speedup_bars(rows)) == ["Eager", "torch.compile"]
    assert row_labels(speedup_bars.speedup_bars(rows[::-1])) == ["torch.compile", "Eager"]
    assert speedup_bars.speedup_bars(rows).layout.yaxis.range[0] > speedup_bars.speedup_bars(rows).layout.yaxis.range[1]


def test_a_slowdown_is_drawn_below_one_and_called_slower() -> None:
    figure = speedup_bars.speedup_bars(rows_of(made_run(speedup=0.71, eager_s=10e-6, limits=None)))
    bar = [trace for trace in figure.data if trace.type == "bar"][1]
    assert math.isclose(bar.x[0], 0.71, rel_tol=0.01)
    assert bar.x[0] < 1
    assert "0.71x" in words(figure)[1] and "slower" in words(figure)[1]
    assert speedup_bars.WORD_COLOURS["red"] in words(figure)[1]


def test_whiskers_are_the_interval_and_dots_the_process_sets() -> None:
    row = rows_of(made_run())[1]
    figure = speedup_bars.speedup_bars([row])
    bar, dots = figure.data[0], figure.data[1]
    assert math.isclose(bar.x[0] + bar.error_x.array[0], row.speedup.high)
    assert math.isclose(bar.x[0] - bar.error_x.arrayminus[0], row.speedup.low)
    assert tuple(dots.x) == row.process_ratios and len(dots.x) == 5
    assert dots.y[0] > bar.y[0] + speedup_bars.BAR_WIDTH / 2


def test_a_quick_run_has_a_dot_and_no_bar_and_no_verdict_word() -> None:
    row = rows_of(made_run(protocol="quick"))[1]
    figure = speedup_bars.speedup_bars([row])
    assert [trace.type for trace in figure.data if trace.x] == ["scatter"]
    assert "no verdict" in words(figure)[0]
    assert "faster" not in words(figure)[0]
    assert "no interval" in figure.layout.title.text


def test_a_row_without_a_number_keeps_its_place_with_the_reason_right_of_the_line() -> None:
    rows = rows_of(with_failure(made_run(), "no C++ compiler"))
    figure = speedup_bars.speedup_bars(rows)
    assert row_labels(figure) == ["Eager", "torch.compile"]
    assert len([trace for trace in figure.data if trace.type == "bar"]) == 1
    reason = figure.layout.annotations[1]
    assert "failed: no C++ compiler" in reason.text
    assert reason.x == 1.0 and reason.xanchor == "left"


def test_a_wrong_result_is_struck_through_and_hollow() -> None:
    row = replace(rows_of(made_run())[1], verdict=Verdict.WRONG_RESULT, reason="differs")
    figure = speedup_bars.speedup_bars([row])
    assert "<s>" in words(figure)[0]
    assert "rgba" in figure.data[0].marker.color


def test_the_floor_is_marked_where_it_is_in_sight_and_told_where_it_is_not() -> None:
    row = rows_of(made_run())[1]
    near = replace(row, floor_s=row.baseline_median_s / 1.9)
    figure = speedup_bars.speedup_bars([near])
    assert math.isclose(figure.data[-1].x[0], 1.9)
    assert figure.data[-1].y[0] == speedup_bars.DOTS_BELOW, "under the bar, not across its words"
    assert "upright mark: physical floor" in figure.layout.xaxis.title.text
    far = replace(row, floor_s=row.baseline_median_s / 40)
    assert "physical floor at 40.0x" in speedup_bars.speedup_bars([far]).layout.xaxis.title.text


def test_boxes_start_at_zero_keep_a_place_for_what_was_not_measured_and_name_medians() -> None:
    run = with_failure(made_run(), "no C++ compiler")
    figure = latency_boxes.latency_boxes(samples_frame([run]), VARIANTS_SHOWN)
    assert row_labels(figure) == ["Eager", "torch.compile"]
    assert figure.layout.xaxis.range[0] == 0
    assert "21.9 ms" in words(figure)[0]
    assert words(figure)[1] == "not measured"


@pytest.mark.parametrize(
    ("protocol", "calls_per_sample", "ends", "said"),
    [
        ("standard", 1, (0.05, 0.95), None),
        ("quick", 1, (0.0, 1.0), "whiskers: fastest and slowest call, of fewer than 200"),
        ("standard", 4, (0.25, 0.75), "no whiskers where a sample is the mean of several calls"),
    ],
)
def test_whiskers_reach_to_percentiles_only_where_so_many_single_calls_tell_them(
    protocol: str, calls_per_sample: int, ends: tuple[float, float], said: str | None
) -> None:
    """Guard: METHOD 1.6, p95 from 200 timed calls on, and none from means of several calls."""
    samples = samples_frame([made_run(protocol=protocol)])
    is_steady = samples["phase"] == "steady"
    samples.loc[is_steady, "calls_per_sample"] = calls_per_sample
    figure = latency_boxes.latency_boxes(samples, VARIANTS_SHOWN)
    eager = samples.loc[is_steady & (samples["variant"] == EAGER), "latency_s"]
    box = figure.data[0]
    assert (box.lowerfence[0], box.upperfence[0]) == pytest.approx(tuple(1e3 * eager.quantile(share) for share in ends))
    assert ("p95" in figure.layout.title.text) == (said is None)
    assert figure.layout.xaxis.title.text.partition("<br>")[2] == (said or "")


def test_a_logarithmic_axis_is_said() -> None:
    samples = samples_frame([made_run()])
    assert "logarithmic" not in calls_curve.calls_curve(samples, VARIANTS_SHOWN).layout.yaxis.title.text
    assert "logarithmic" in calls_curve.calls_curve(samples, VARIANTS_SHOWN, log=True).layout.yaxis.title.text
    assert "logarithmic" in latency_ecdf.latency_ecdf(samples, VARIANTS_SHOWN, log=True).layout.xaxis.title.text


def test_the_curve_of_calls_starts_with_the_cold_first_call_and_stays_small() -> None:
    figure = calls_curve.calls_curve(samples_frame([made_run()]), VARIANTS_SHOWN)
    compiled = figure.data[1]
    assert (compiled.x[0], round(compiled.y[0], 1)) == (1, 9.3)
    assert len(compiled.x) <= calls_curve.POINTS
    assert "first call <b>9.30 s</b>" in words(figure)


@pytest.mark.parametrize("count", [1, 39, 160, 161, 100_000])
def test_thinned_calls_keep_the_first_and_the_last(count: int) -> None:
    calls = calls_curve.shown_calls(count)
    assert (calls[0], calls[-1]) == (0, count - 1)
    assert len(calls) <= calls_curve.POINTS
    assert (calls[1:] > calls[:-1]).all()


def test_the_crossing_is_marked_as_a_range_and_is_missing_where_nothing_is_saved() -> None:
    faster = total_time.total_time(rows_of(made_run()))
    assert "after 1,479 calls (1,466 to 1,492)" in words(faster)[0]
    assert faster.layout.xaxis.range[1] > 1492
    slower = total_time.total_time(rows_of(made_run(speedup=0.7)))
    assert words(slower) == []


def test_foreign_labels_are_escaped_everywhere() -> None:
    rows = [replace(row, label=HOSTILE, reason=HOSTILE, speedup=None) for row in rows_of(made_run())]
    for figure in (speedup_bars.speedup_bars(rows, HOSTILE), total_time.total_time(rows, HOSTILE)):
        drawn = figure.to_json()
        assert "<b>x" not in drawn and "\\u003cb\\u003ex" not in drawn
        assert "$e^2$" not in drawn and "<a href" not in drawn


@pytest.mark.parametrize("technique", TECHNIQUES, ids=lambda technique: technique.key)
def test_variants_have_their_techniques_hue_no_two_look_the_same_and_baselines_are_grey(technique: Technique) -> None:
    compared = [variant.key for variant in technique.variants if variant.key != variant.baseline]
    styles = [theme.variant_style(key) for key in compared]
    assert len(set(styles)) == len(styles)
    assert not styles or styles[0].colour == theme.technique_colour(technique.key)
    greys = [
        theme.variant_style(variant.key).colour for variant in technique.variants if variant.key == variant.baseline
    ]
    assert all(saturation(grey) < 0.2 for grey in greys)


def test_techniques_have_the_palettes_colours_and_an_unknown_one_the_tenth() -> None:
    assert {technique.colour for technique in TECHNIQUES} <= set(theme.PALETTE)
    assert theme.technique_colour("from a file") == theme.PALETTE[-1]
    assert len({theme.device_colour(position) for position in range(10)}) == 10


def test_the_dark_variant_changes_the_template_and_nothing_drawn() -> None:
    figure = speedup_bars.speedup_bars(rows_of(made_run()))
    dark = theme.in_dark(figure)
    assert dark.layout.template.layout.paper_bgcolor == "#11161D"
    assert dark.layout.template.layout.font.color == "#E6EBF1"
    assert [trace.to_plotly_json() for trace in dark.data] == [trace.to_plotly_json() for trace in figure.data]


def test_alternative_texts_say_what_the_charts_show() -> None:
    run = made_run()
    rows, samples = rows_of(run), samples_frame([run])
    assert "torch.compile: 1.40x [1.40, 1.41], faster" in speedup_bars.alt_text(rows)
    assert "torch.compile median 15.6 ms" in latency_boxes.alt_text(samples, VARIANTS_SHOWN)
    assert "torch.compile: half of the calls within 15.6 ms" in latency_ecdf.alt_text(samples, VARIANTS_SHOWN)
    assert "torch.compile: first call 9.30 s" in calls_curve.alt_text(samples, VARIANTS_SHOWN)
    assert "torch.compile: set-up 9.30 s, pays back after 1,479 calls" in total_time.alt_text(rows)


def test_an_interval_without_ends_draws_no_whisker() -> None:
    row = replace(rows_of(made_run())[1], speedup=Interval(1.2, None, None, 1))
    assert not [trace for trace in speedup_bars.speedup_bars([row]).data if trace.type == "bar"]
