"""What pages and reports say in tables and lines: captions, costs, evidence, the command to measure again, the leading row."""

from dataclasses import replace

import pytest

from engine import captions, cost_table, side_by_side
from engine.comparison import ComparisonRow, compare_run
from engine.evidence_table import evidence_table, meanings
from engine.exports import html_report
from engine.headline import leading_row
from engine.reproduce import command
from engine.result import Run
from engine.spec import Workload
from engine.stats import BreakEven, Percentile
from engine.terms import TERMS
from engine.verdict import Verdict
from tests.pages.made_runs import COMPILED, EAGER, POINT, made_run, with_failure
from tests.unit.hand_made import standard_run


def rows_of(run: Run) -> list[ComparisonRow]:
    return [row for row in compare_run(run) if not row.is_twin]


def test_changed_compiler_settings_are_evidence() -> None:
    run = made_run()
    told = {"inductor_settings": ["freezing = True", "triton.cudagraphs = True"]}
    outcomes = [
        replace(each, facts={**each.facts, **told}) if each.variant == "torch-compile/default" else each
        for each in run.outcomes
    ]
    run = replace(run, outcomes=tuple(outcomes))
    table = evidence_table(run, rows_of(run)).set_index("check")
    assert table.loc["Changed compiler settings", "torch.compile"] == "freezing = True; triton.cudagraphs = True"
    assert table.loc["Changed compiler settings", "Eager"] == "-"


def test_a_caption_names_model_shape_device_version_protocol_and_time() -> None:
    assert captions.of_chart(made_run(), POINT) == (
        "distilbert-base-uncased · batch 8 · 11 tokens · float32 · Hand-made CPU, 2 cores · torch 2.13.0 · "
        "standard protocol · measured 30 Nov 2026, 09:03 UTC"
    )
    operator = Workload(operator="addcmul", elements=2**20, operations=3)
    assert captions.of_workload(operator).endswith(" · 1,048,576 elements · 3 operations · float32")
    assert captions.measured(replace(made_run(), status="queued")) == "not measured yet"


@pytest.mark.parametrize(("text", "shown"), [(None, "-"), ("", "-"), ("yesterday", "yesterday")])
def test_a_moment_that_is_none_is_shown_as_it_stands(text: str | None, shown: str) -> None:
    assert captions.moment(text) == shown


def test_the_fastest_judged_row_leads_and_a_failed_one_only_where_there_is_no_other() -> None:
    eager, compiled = rows_of(made_run())
    slower = replace(compiled, variant="other", speedup=replace(compiled.speedup, estimate=1.1))
    assert leading_row([eager, slower, compiled]) is compiled
    assert leading_row([eager, compiled], "baseline") is eager
    failed = replace(compiled, verdict=Verdict.FAILED, speedup=None)
    assert leading_row([eager, failed, slower]) is slower
    assert leading_row([eager, failed]) is failed
    assert leading_row([], "torch-compile") is None


def test_where_no_number_is_a_result_the_fastest_number_leads_before_what_is_not_available() -> None:
    """On the precision page of a CPU, TF32 comes first and is not available; the unstable bfloat16 row has something to say."""
    _, compiled = rows_of(made_run())
    row = replace(compiled, technique="precision", verdict=Verdict.UNSTABLE)
    slow, fast = (replace(row, speedup=replace(compiled.speedup, estimate=factor)) for factor in (3.2, 4.9))
    absent = replace(row, variant="precision/tf32", verdict=Verdict.NOT_AVAILABLE, speedup=None)
    assert leading_row([absent, slow, fast], "precision") is fast
    assert leading_row([absent], "precision") is absent


def test_an_established_difference_leads_before_a_larger_number_that_may_be_chance() -> None:
    _, compiled = rows_of(made_run())
    assert compiled.speedup is not None
    larger = replace(compiled, verdict=Verdict.INCONCLUSIVE, speedup=replace(compiled.speedup, estimate=1.9))
    assert leading_row([larger, compiled]) is compiled
    slower = replace(compiled, verdict=Verdict.SLOWER, speedup=replace(compiled.speedup, estimate=0.8))
    assert leading_row([slower, larger]) is larger


def test_the_precision_asked_for_leads_before_a_faster_one_that_is_other_work() -> None:
    _, compiled = rows_of(made_run())
    assert compiled.speedup is not None
    half = replace(compiled, precision="bfloat16", speedup=replace(compiled.speedup, estimate=4.9))
    assert leading_row([half, compiled]) is compiled
    doubtful = replace(compiled, verdict=Verdict.INCONCLUSIVE)
    assert leading_row([half, doubtful]) is half, "nothing at the same precision is shown to be faster"
    quick = [replace(row, verdict=Verdict.NO_VERDICT) for row in (half, compiled)]
    assert leading_row(quick) is quick[1]


def test_costs_are_words_and_numbers_and_what_nobody_knows_is_left_out() -> None:
    table = cost_table.cost_table(rows_of(made_run())).set_index("cost")
    assert list(table.columns) == ["Eager", "torch.compile"]
    assert table.loc["Set-up, empty compile cache", "torch.compile"] == "9.30 s"
    assert table.loc["Pays back, empty cache", "torch.compile"] == "after 1,479 calls (1,466 to 1,492)"
    assert table.loc["Peak process memory, set-up included", "Eager"] == "-"
    assert table.loc["99th percentile", "Eager"].endswith("(needs 200 more calls)")
    assert "Autotune time, of that" not in table.index
    assert table.loc["Change while timing", "Eager"].endswith("%")
    assert set(table.index) <= set(cost_table.MEANINGS)


@pytest.mark.parametrize(
    ("even", "words"),
    [
        (None, "-"),
        (BreakEven(None), "never, on this evidence"),
        (BreakEven(600_000.0), "after 600,000 calls"),
        (BreakEven(1000.0, 900.0, 1200.0), "after 1,000 calls (900 to 1,200)"),
    ],
)
def test_break_even_is_a_range_a_number_never_or_unknown(even: BreakEven | None, words: str) -> None:
    assert cost_table.break_even(even) == words


def test_a_percentile_says_how_many_samples_it_still_needs() -> None:
    assert cost_table.percentile(Percentile(0.01, None, None, 120, 200)) == "10.0 ms (needs 80 more calls)"
    assert cost_table.percentile(Percentile(0.01, 0.009, 0.012, 200, 200)) == "10.0 ms"
    assert cost_table.percentile(None, "mean of 8 calls") == "mean of 8 calls"


def test_what_the_stopwatch_itself_costs_stands_among_the_costs() -> None:
    """Guard: METHOD 1.1, measured in every run and shown."""
    rows = [row for row in compare_run(standard_run()) if not row.is_twin]
    table = cost_table.cost_table(rows).set_index("cost")
    assert list(table.loc["Timing nothing"]) == ["100 ns", "100 ns"]
    assert set(table.index) <= set(cost_table.MEANINGS)
    assert "Timing nothing" in html_report(standard_run())


def test_a_percentile_is_early_below_its_samples_and_no_other_cell_is() -> None:
    """Guard: METHOD 1.6, greyed until the sample count is reached; 800 calls carry p95 and not p99."""
    assert cost_table.early_percentiles(rows_of(made_run())) == [
        ("99th percentile", "Eager"),
        ("99th percentile", "torch.compile"),
    ]


def test_evidence_has_proofs_first_and_one_column_per_variant() -> None:
    run = made_run()
    assert len(meanings(run, rows_of(run))) == len(evidence_table(run, rows_of(run)))
    table = evidence_table(run, rows_of(run)).set_index("check")
    assert list(table.index[:2]) == ["The technique really ran", "The outputs are right"]
    assert table.loc["The technique really ran", "torch.compile"].startswith("yes: 1 graph compiled")
    assert table.loc["Generated kernels", "torch.compile"] == "37"
    assert table.loc["Recompile limit reached", "Eager"] == "no"
    assert table.loc["Why the graph broke", "Eager"] == "none"


def test_evidence_that_differs_between_process_sets_shows_every_value() -> None:
    run = made_run()
    first, *others = run.outcomes
    odd = replace(first, facts={**first.facts, "graphs": None, "attention": "eager"})
    table = evidence_table(replace(run, outcomes=(odd, *others)), rows_of(run)).set_index("check")
    assert table.loc["Attention", "Eager"] == "eager / sdpa"
    assert table.loc["Graphs", "Eager"] == "- / 0"


def test_the_command_measures_the_same_row_again() -> None:
    run = made_run(point=replace(POINT, model="a model; rm -rf /"))
    assert command(run, rows_of(run)[1]) == (
        "python -m engine run --variant torch-compile/default --device cpu --protocol standard "
        "--model 'a model; rm -rf /' --batch-size 8 --sequence-length 11 --dtype float32"
    )


def test_the_command_repeats_every_variant_beside_which_the_row_was_measured() -> None:
    """Guard: an interval is corrected for the number of variants, so fewer would give another one."""
    run = made_run()
    wanted = (EAGER, COMPILED, "max-autotune/freezing", "kernel-fusion/addcmul")
    several = replace(run, experiment=replace(run.experiment, variants=wanted))
    line = command(several, rows_of(run)[1])
    assert "--variant torch-compile/default --variant max-autotune/freezing --device cpu" in line
    assert EAGER not in line and "kernel-fusion" not in line
    alone = replace(run, experiment=replace(run.experiment, variants=(EAGER,)))
    assert f"--variant {EAGER} --device" in command(alone, rows_of(run)[0])


def test_runs_side_by_side_keep_their_own_baseline_and_say_which_run_they_are_from() -> None:
    run = with_failure(made_run(label="night run"), "no C++ compiler")
    rows = side_by_side.labelled(run, compare_run(run))
    table = side_by_side.side_by_side(rows)
    assert list(table["what"]) == ["Eager, night\u00a0run", "torch.compile, night\u00a0run"]
    assert list(table["speed-up"]) == ["baseline", "-"]
    assert "no C++ compiler" in table["why"][1]


def test_a_word_is_explained_once() -> None:
    words = [term.word.lower() for term in TERMS]
    assert {"arm", "variant", "rmse", "cosine", "rank correlation", "share of the floor"} <= set(words)
    assert len(words) == len(set(words))
    assert all(term.meaning.endswith(".") for term in TERMS)
