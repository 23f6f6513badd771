"""Lengths and requests that people give, streams within a budget, and what comes of a run over many lengths."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from engine import results_csv
from engine.arms import balanced_order, plan, requests_of
from engine.catalog import CLAIMS, find_technique, find_variant
from engine.catalog.dynamic_shapes import TWELVE_LENGTHS, padded_length
from engine.cli.lengths import choose_lengths, choose_requests
from engine.comparison import ClaimWord, claim_verdict, compare_run
from engine.comparison.peak_memory import peak_memory_words
from engine.dynamic_shapes.lengths import longest_of, read_lengths, read_request_file, read_requests
from engine.dynamic_shapes.requests import (
    CPU_BUDGET_S,
    describe,
    distinct_shapes,
    padded_shapes,
    realistic_lengths,
    warn_of_shapes,
    within_budget,
)
from engine.dynamic_shapes.story import caveat, recorded_graphs, sentence
from engine.dynamic_shapes.stream import soonest, streams
from engine.dynamic_shapes.table import (
    graphs_by_order,
    lengths_table,
    orders_table,
    serves_lengths,
    stalls_by_order,
    streams_table,
)
from engine.errors import InvalidSpec, UnreadableFile, UserError
from engine.estimate import COLD_COMPILE_S, estimate_seconds, model_call_s
from engine.exports import html_report
from engine.reproduce import command
from engine.result import Failure
from engine.spec import PROTOCOLS, Experiment
from engine.verdict import Verdict
from tests.hand_made import MACHINE
from tests.many_lengths import ARTICLE, BUCKETS, COMPILE_S, DEFAULT, EAGER, STATIC, call_s, many_lengths_run, point

CLAIM = next(claim for claim in CLAIMS if claim.key == "no-recompile")


@pytest.mark.parametrize("text", ["11, 24,60", "11 24 60", " 11;24;60\n", "11\n24\n60\n", "11.0, 24, 60, 24"])
def test_lengths_are_read_however_they_are_set_apart(text: str) -> None:
    assert read_lengths(text, 512) == (11, 24, 60)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("11, twelve", "Length 2: 'twelve' is no length; write a whole number of tokens from 1 to 512."),
        ("11, 0", "Length 2: the length is 0; this model takes 1 to 512 tokens."),
        ("513", "Length 1: the length is 513; this model takes 1 to 512 tokens."),
        ("1.5", "'1.5' is no length"),
        ("-3", "'-3' is no length"),
        ("", "'' is no length"),
        (", ".join(map(str, range(1, 66))), "65 lengths given; at most 64"),
    ],
)
def test_what_is_no_length_is_named_with_its_place(text: str, said: str) -> None:
    with pytest.raises(InvalidSpec) as refused:
        read_lengths(text, 512)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    "text",
    [
        "12\n48\n17",
        "tokens\n12\n48\n17\n",
        "length,note\n12,a\n48,b\n17,",
        "tokens,seconds\n12,1\n48,2\n17,3",
        "12\n\n48\n17",
        "12;x\n48;y\n17;z",
        "12.0\n48.0\n17",
    ],
)
def test_requests_are_the_first_column_in_its_order(text: str) -> None:
    assert read_requests(text, 512) == (12, 48, 17)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("12\nlong\n17", "Row 2: 'long' is no length"),
        ("tokens\n12\n\n0", "Row 4: the length is 0; this model takes 1 to 512 tokens."),
        ("12\n600", "Row 2: the length is 600; this model takes 1 to 512 tokens."),
        ('12\n"12,ms"', "Row 2: '12,ms' is no length"),
        ("48\n12,5", "Row 2: '12,5' holds more than one number; write one whole number of tokens per row"),
        ("12;24;60", "Row 1: '12,24,60' holds more than one number"),
        ("5\n" * 10_001, "Row 10,001 is one too many: 10,001 requests given, at most 10,000"),
        ("tokens\n", "No request lengths are given"),
        ("", "No request lengths are given"),
    ],
)
def test_a_request_that_is_no_length_is_refused_with_its_row(text: str, said: str) -> None:
    with pytest.raises(InvalidSpec) as refused:
        read_requests(text, 512)
    assert said in str(refused.value)


def test_a_request_file_may_come_from_a_spreadsheet_and_may_not_be_a_picture() -> None:
    assert read_request_file("r.csv", "tokens\r\n12\r\n48\r\n".encode("utf-16"), 512) == (12, 48)
    with pytest.raises(UnreadableFile, match="PNG"):
        read_request_file("r.csv", b"\x89PNG\r\n\x1a\n", 512)


def test_without_a_known_maximum_any_length_a_workload_may_have_is_taken() -> None:
    assert longest_of("distilbert-base-uncased") == 512
    assert longest_of("somebody/some-model") is None
    assert read_requests("8192") == (8192,)
    with pytest.raises(InvalidSpec, match="1 to 8,192"):
        read_requests("8193")


def test_a_local_folder_says_how_many_tokens_its_model_takes(tmp_path) -> None:
    (tmp_path / "config.json").write_text('{"max_position_embeddings": 64}')
    assert longest_of(str(tmp_path)) == 64


def test_realistic_lengths_are_the_same_for_the_same_seed_and_never_longer_than_asked() -> None:
    lengths = realistic_lengths(60)
    assert lengths == realistic_lengths(60)
    assert lengths != realistic_lengths(60, seed=1)
    assert (len(lengths), min(lengths) >= 3, max(lengths)) == (1000, True, 60)
    assert sorted(realistic_lengths(512))[500] in range(22, 27)


def test_a_cpu_answers_what_fits_its_budget_and_a_gpu_everything() -> None:
    lengths = realistic_lengths(60)
    stream = within_budget(lengths, 1, "cpu")
    assert stream.lengths == lengths[: len(stream.lengths)]
    used_s = sum(model_call_s(1, length) for length in stream.lengths) + COLD_COMPILE_S
    assert CPU_BUDGET_S - 0.1 < used_s <= CPU_BUDGET_S
    assert f"the first of 1,000, scaled to about {CPU_BUDGET_S:.0f} s per variant" in describe(stream)
    assert within_budget(lengths, 1, "cuda:0").lengths == lengths
    assert len(within_budget(lengths, 64, "cpu").lengths) < len(stream.lengths) / 10
    assert len(within_budget((8192,), 4096, "cpu").lengths) == 1


def test_twelve_sizes_are_twelve_shapes_a_warning_and_one_shape_when_padded() -> None:
    """R8."""
    lengths = range(16, 28)
    assert (distinct_shapes(lengths), padded_shapes(lengths)) == (12, 1)
    assert "12 distinct shapes, more than 8" in (warn_of_shapes(lengths) or "")
    assert "Padded to buckets they are 1." in (warn_of_shapes(lengths) or "")
    assert warn_of_shapes(range(16, 24)) is None


@pytest.mark.parametrize(
    ("length", "longest", "padded"),
    [(1, 512, 32), (32, 512, 32), (33, 512, 64), (40, 48, 48), (600, None, 600), (300, 384, 384)],
)
def test_a_bucket_is_never_longer_than_the_model_takes(length: int, longest: int | None, padded: int) -> None:
    assert padded_length(length, longest) == padded


def test_the_second_process_set_meets_the_lengths_in_reverse() -> None:
    """R12: [16, 512] and [512, 16]."""
    points = [point(16), point(512)]
    assert balanced_order(7, 0, points) == (points[0], points[1])
    assert balanced_order(7, 1, points) == (points[1], points[0])
    many = [point(length) for length in range(8, 20)]
    assert balanced_order(7, 3, many) == tuple(reversed(balanced_order(7, 2, many)))
    assert balanced_order(7, 2, many) not in (tuple(many), tuple(reversed(many)))


def test_only_the_first_process_set_of_variants_that_serve_many_lengths_answers_requests() -> None:
    experiment = Experiment(
        workloads=(point(11), point(24)), variants=(DEFAULT, "torch-compile/default"), request_lengths=(5, 9)
    )
    arms = {arm.variant: arm for group in plan(experiment).groups for arm in group.arms}
    assert requests_of(arms[DEFAULT], 0, experiment) == (5, 9)
    assert requests_of(arms[EAGER], 0, experiment) == (5, 9)
    assert requests_of(arms[DEFAULT], 1, experiment) == ()
    assert requests_of(arms["torch-compile/default"], 0, experiment) == ()


def test_the_estimate_knows_requests_and_graphs_for_every_length() -> None:
    lengths = tuple(map(point, (11, 24, 60)))
    quick = PROTOCOLS["quick"]
    one, per_length = (
        Experiment(workloads=lengths, variants=(variant,), protocol=quick) for variant in (DEFAULT, STATIC)
    )
    assert estimate_seconds(per_length) - estimate_seconds(one) == pytest.approx(COLD_COMPILE_S)  # 3 graphs, and 2
    assert estimate_seconds(replace(one, request_lengths=(24,) * 100)) > estimate_seconds(one) + 3 * 100 * 0.03


def test_every_process_set_tells_its_order_and_the_graphs_after_each_length() -> None:
    rows = [row for row in compare_run(many_lengths_run()) if not row.is_twin]
    assert serves_lengths(rows)
    table = orders_table(rows)
    first, second = (
        table[(table["variant"] == "torch.compile, every length") & (table["set"] == number)].iloc[0]
        for number in (1, 2)
    )
    assert (first["lengths as met"], second["lengths as met"]) == ("11 → 24 → 60", "60 → 24 → 11")
    assert first["graphs after each"] == "1 → 2 → 2"
    assert first["stall of each first call"] == "8.00 s → 8.00 s → 0 s"
    assert (first["cache"], second["cache"]) == ("cold", "warm")
    assert "Eager, every length" not in set(table["variant"])
    graphs = graphs_by_order(rows)
    assert graphs["dynamic=False"].tolist() == ["1 → 2 → 3"] * 5
    assert graphs["compile cache"].tolist() == ["cold", *["warm"] * 4]
    assert stalls_by_order(rows)["torch.compile, every length"].tolist() == ["8.00 s → 8.00 s → 0 s"] * 5


def test_cuda_graphs_are_counted_against_the_lengths() -> None:
    """R8."""
    run = many_lengths_run(range(16, 28), requests=(), protocol="quick", facts={DEFAULT: {"cudagraph_nodes": 12}})
    assert recorded_graphs(run) == ["torch.compile, every length: 12 CUDA graphs recorded for 12 lengths."]


def test_variants_of_different_groups_share_the_row_of_their_turn() -> None:
    run = many_lengths_run()
    moved = tuple(replace(each, process=each.process + 5) if each.variant == STATIC else each for each in run.outcomes)
    graphs = graphs_by_order([row for row in compare_run(replace(run, outcomes=moved)) if not row.is_twin])
    assert len(graphs) == 5 and graphs["dynamic=False"].tolist() == ["1 → 2 → 3"] * 5


def test_latency_is_told_by_length_and_by_the_length_seen_first() -> None:
    """R12."""
    rows = [
        row for row in compare_run(many_lengths_run((16, 512), requests=(), protocol="standard")) if not row.is_twin
    ]
    table = lengths_table(rows)
    static = table[table["variant"] == "dynamic=False"]
    assert {(row.length, row[3]) for row in static.itertuples(index=True)} == {
        (16, 16),
        (16, 512),
        (512, 16),
        (512, 512),
    }
    assert static["process sets"].sum() == 2 * 5


def test_a_run_at_one_length_has_no_story_of_many() -> None:
    assert not serves_lengths(compare_run(many_lengths_run((11,), requests=())))


def test_a_stream_is_told_with_its_stalls_and_when_they_pay_back() -> None:
    run = many_lengths_run()
    found = {row.variant: row for row in streams(run, compare_run(run))}
    requests = run.experiment.request_lengths
    assert found[EAGER].total_s == pytest.approx(sum(call_s(EAGER, length) for length in requests))
    assert (found[DEFAULT].stalls, found[STATIC].stalls, found[BUCKETS].stalls) == (2, 4, 2)
    assert found[DEFAULT].stall_s == pytest.approx(2 * COMPILE_S, rel=0.01)
    saving_s = sum(call_s(EAGER, length) for length in requests) / 8 - sum(call_s(DEFAULT, n) for n in requests[2:]) / 6
    assert found[DEFAULT].pays_back_after == pytest.approx(found[DEFAULT].stall_s / saving_s)
    assert found[EAGER].pays_back_after is None


def test_eager_is_said_to_be_first_when_stalls_cost_more_than_they_save() -> None:
    run = many_lengths_run()
    rows = compare_run(run)
    said = sentence(rows, streams(run, rows))
    assert said.startswith(
        "Nothing was through with 8 requests before eager: 335 ms. Next came max-autotune-no-cudagraphs"
    )
    assert "in 2 stalls); the stalls pay back after about" in said


def test_the_fastest_variant_is_named_when_the_stream_is_long_enough() -> None:
    run = many_lengths_run(requests=(11, 24, 30, 60) * 2000, protocol="quick")
    rows = compare_run(run)
    found = streams(run, rows)
    assert (soonest(found) or found[0]).variant == STATIC
    assert sentence(rows, found).startswith("dynamic=False was through with 8,000 requests first")


def test_totals_that_differ_by_less_than_chance_are_not_ranked() -> None:
    run = many_lengths_run(requests=(11,) * 2000, protocol="quick")
    slow = tuple(
        replace(each, request_s=(each.request_s[0] * 1.3,) * 2000) if each.variant == f"{EAGER}@twin" else each
        for each in run.outcomes
    )
    run = replace(run, outcomes=slow)
    rows = compare_run(run)
    found = streams(run, rows)
    assert "took about as long for 2,000 requests" in sentence(rows, found)
    assert "differed by 30.0 %" in caveat(found)


def test_a_stream_that_fell_back_to_eager_names_no_winner() -> None:
    facts = {STATIC: {"request_limit_hit": True}}
    run = many_lengths_run(requests=(11, 24, 30, 60) * 2000, protocol="quick", facts=facts)
    found = streams(run, compare_run(run))
    assert next(row for row in found if row.variant == STATIC).problem == "partly eager: recompile limit reached"
    assert (soonest(found) or found[0]).variant == ARTICLE


def test_a_stream_that_was_not_answered_keeps_its_row_with_the_reason() -> None:
    run = many_lengths_run(protocol="quick", facts={DEFAULT: {"requests_failed": "The process was killed."}})
    run = replace(
        run, outcomes=tuple(replace(each, request_s=()) if each.variant == DEFAULT else each for each in run.outcomes)
    )
    table = streams_table(streams(run, compare_run(run))).set_index("variant")
    assert table.loc["torch.compile, every length", "note"] == "The process was killed."
    assert table.loc["torch.compile, every length", "total"] == "-"


def test_an_unavailable_variant_keeps_its_place_in_the_stream() -> None:
    run = many_lengths_run(variants=(EAGER, DEFAULT))
    missing = Failure(
        variant="dynamic-shapes/reduce-overhead", process=0, workloads=run.experiment.workloads, stage="start",
        kind="unavailable", message="this device has no CUDA",
    )  # fmt: skip
    run = replace(run, outcomes=(*run.outcomes, missing))
    row = streams(run, compare_run(run))[-1]
    assert (row.total_s, row.problem) == (None, "not available here: this device has no CUDA")


def test_nine_lengths_with_a_graph_each_did_not_run_partly_eager() -> None:
    """R9."""
    facts = {STATIC: {"recompile_limit_hit": True, "frames_seen": 9, "frames_compiled": 8}}
    run = many_lengths_run(tuple(range(11, 20)), requests=(), protocol="quick", facts=facts)
    rows = [row for row in compare_run(run) if row.variant == STATIC]
    assert {row.verdict for row in rows} == {Verdict.DID_NOT_RUN}
    assert "partly eager: recompile limit reached" in rows[0].reason
    assert rows[0].speedup is None


def test_the_articles_mode_says_that_it_tunes_nothing_on_a_cpu() -> None:
    """Its row stands, and is the default's work again. Guards: the badge; what was tuned is recorded at all."""
    untuned = {"candidates_tried": 0, "autotuned_operations": 0, "autotune_operations": []}
    rows = compare_run(many_lengths_run(facts={ARTICLE: untuned}))
    badges = {badge.text: badge.meaning for row in rows for badge in row.badges if row.variant == ARTICLE}
    assert "Freezing makes them constants" in badges["0 candidates tuned on this device: same as default"]
    assert not [
        badge for row in rows for badge in row.badges if badge.key == "nothing_tuned" and row.variant != ARTICLE
    ]


def test_a_cuda_graph_is_proven_length_by_length() -> None:
    """Launches at one length prove nothing about another. Guards: `_narrowed` in the checks, a profile of each length."""
    replayed = {
        "device": "cuda:0", "cudagraph_skips": 0, "cudagraph_nodes": 2, "cudagraph_nodes_before_timing": 2,
        "graph_launches_per_call": [1.0, 0.0, 1.0], "kernel_launches_per_call": [1.0, 80.0, 1.0],
    }  # fmt: skip
    run = many_lengths_run(requests=(), protocol="quick", facts={STATIC: replayed})
    recorded = "dynamic-shapes/reduce-overhead"
    outcomes = (replace(each, variant=recorded) if each.variant == STATIC else each for each in run.outcomes)
    run = replace(run, outcomes=tuple(outcomes))
    rows = {row.workload.sequence_length: row for row in compare_run(run) if row.variant == recorded}
    assert [length for length, row in rows.items() if row.verdict is Verdict.DID_NOT_RUN] == [24]
    assert "no graph was launched" in rows[24].reason


def test_the_claim_holds_when_nothing_is_compiled_after_the_second_length() -> None:
    judged = claim_verdict(CLAIM, compare_run(many_lengths_run()))
    assert judged.word is ClaimWord.HOLDS
    assert judged.reason.startswith("2 graphs for 3 lengths: it compiled once more at the second length, then no more")


def test_the_claim_fails_when_a_later_length_compiles_again() -> None:
    claim = replace(CLAIM, variant=STATIC)
    judged = claim_verdict(claim, compare_run(many_lengths_run()))
    assert judged.word is ClaimWord.DOES_NOT_HOLD
    assert judged.reason == "it compiled again at 60 tokens in process set 1"


@pytest.mark.parametrize("lengths", [(11, 24), (1, 11, 24)])
def test_two_lengths_do_not_decide_the_claim_and_a_length_of_one_does_not_count(lengths: tuple[int, ...]) -> None:
    judged = claim_verdict(CLAIM, compare_run(many_lengths_run(lengths, requests=())))
    assert judged.word is ClaimWord.NOT_TESTABLE


def test_the_claim_waits_for_a_run_of_its_variant() -> None:
    assert claim_verdict(CLAIM, compare_run(many_lengths_run(variants=(EAGER, DEFAULT)))).word is ClaimWord.NOT_TESTABLE


def test_reduce_overhead_may_overwrite_its_outputs_and_must_replay() -> None:
    assert {"graph_replayed", "overwrites_outputs"} <= set(find_variant("dynamic-shapes/reduce-overhead").proofs)


def test_the_command_to_repeat_a_row_names_every_length_and_the_same_requests() -> None:
    run = many_lengths_run()
    row = next(row for row in compare_run(run) if row.variant == DEFAULT)
    lengths = "--sequence-length 11 --sequence-length 24 --sequence-length 60"
    own = command(run, row)
    assert (
        f"{lengths} --requests FILE  # FILE is yours to write: the 8 requests of this run were a list of its own" in own
    )
    assert [own.count(f"--variant {key} ") for key in (DEFAULT, STATIC, ARTICLE, BUCKETS, EAGER)] == [1, 1, 1, 1, 0]
    usual = within_budget(realistic_lengths(60), 1, "cpu").lengths
    for requests, said in (
        (usual, lengths),
        (usual[:40], f"{lengths} --request-count 40"),
        ((), f"{lengths} --request-count 0"),
    ):
        asked = replace(run, experiment=replace(run.experiment, request_lengths=requests))
        assert command(asked, row).endswith(said)
        assert command(asked, row).count("--sequence-length") == 3


def test_the_report_tells_of_all_lengths_before_each_of_them() -> None:
    report = html_report(many_lengths_run())
    story_at, first_length_at = (
        report.index("Nothing was through with 8 requests"),
        report.index("11 tokens · float32</h2>"),
    )
    assert story_at < first_length_at
    assert "Time until 8 requests were answered" in report and "1 → 2 → 3" in report


def test_a_model_from_a_file_is_served_at_one_length_and_answers_no_stream() -> None:
    own = "/models/mine.py:build"
    several = Experiment(workloads=(point(11, own), point(24, own)), variants=(DEFAULT,), request_lengths=(5, 9))
    made = plan(several, MACHINE)
    assert made.groups == ()
    assert "built for one length" in made.unavailable[0].message
    one = replace(several, workloads=(point(11, own),))
    (group,) = plan(one, MACHINE).groups
    assert [requests_of(arm, 0, one) for arm in group.arms] == [(), (), ()]


def test_options_of_the_command_line_choose_lengths_and_requests(tmp_path: Path) -> None:
    dynamic, others = find_technique("dynamic-shapes").variants, find_technique("torch-compile").variants
    assert choose_lengths(dynamic, None, False, "cpu") == (11, 24, 60)
    assert len(choose_lengths(dynamic, None, False, "cuda:0")) == 12
    assert choose_lengths((*dynamic, *others), None, False, "cpu") == (11,)
    assert choose_lengths(dynamic, [7, 9], False, "cpu") == (7, 9)
    assert choose_lengths(dynamic, None, True, "cpu") == TWELVE_LENGTHS
    points = [point(11), point(60)]
    assert choose_requests(others, points, None, None, "cpu").lengths == ()
    assert choose_requests(dynamic, points, None, 0, "cpu").lengths == ()
    assert choose_requests(dynamic, points, None, 5, "cpu").lengths == realistic_lengths(60, 5)
    (tmp_path / "r.csv").write_text("tokens\n12\n48\n")
    assert choose_requests(dynamic, points, tmp_path / "r.csv", None, "cpu").lengths == (12, 48)


def test_requests_that_cannot_be_are_refused_on_the_command_line(tmp_path: Path) -> None:
    dynamic, others = find_technique("dynamic-shapes").variants, find_technique("torch-compile").variants
    (tmp_path / "r.csv").write_text("tokens\n12\n513\n")
    for variants, file, count, said in (
        (dynamic, tmp_path / "r.csv", None, "Row 3: the length is 513; this model takes 1 to 512 tokens"),
        (dynamic, tmp_path / "none.csv", None, "cannot be read"),
        (others, tmp_path / "r.csv", None, "Add --technique dynamic-shapes"),
        (dynamic, None, 10_001, "--request-count is 10,001; allowed are 0 to 10,000"),
    ):
        with pytest.raises(UserError, match=re.escape(said)):
            choose_requests(variants, [point(11)], file, count, "cpu")


def test_a_stream_survives_the_result_file() -> None:
    run = many_lengths_run(protocol="quick")
    (read,) = results_csv.read(results_csv.to_bytes([run]))
    assert read == run


def test_a_stream_is_compared_with_eagers_of_its_own_group() -> None:
    run = many_lengths_run(variants=(EAGER, DEFAULT), requests=(24,) * 100, protocol="quick")
    eager, twin, default = run.outcomes
    slow = replace(eager, process=1, request_s=tuple(2 * seconds for seconds in eager.request_s))
    run = replace(run, outcomes=(eager, twin, slow, replace(default, process=1)))
    found = {row.variant: row for row in streams(run, compare_run(run))}
    assert found[DEFAULT].eager_s == pytest.approx(2 * (found[EAGER].total_s or 0.0))


def test_a_variant_at_three_lengths_is_one_variant_in_the_words_about_memory() -> None:
    rows = [row for row in compare_run(many_lengths_run()) if row.variant == "dynamic-shapes/default"]
    changes = [
        (0.1 * place, replace(row, memory={"peak_process_bytes": 1.0})) for place, row in enumerate(rows, start=1)
    ]
    assert len(changes) == 3 and " of 1 variant: from 10.0 % more" in peak_memory_words(changes)
