"""Points by size: traffic, bounds, what exceeds them and why; sizes that do not fit; experiments from choices."""

from dataclasses import replace

import pytest

from engine.arms import plan
from engine.catalog import CLAIMS, TECHNIQUES, VARIANTS, Technique, find_technique, find_variant
from engine.catalog.operators import OPERATORS
from engine.cli.request import choose_variants, make_experiment
from engine.comparison import ClaimWord, ComparisonRow, claim_verdict, compare_run
from engine.errors import InvalidSpec
from engine.estimate import estimate_seconds
from engine.left_out import why_left_out
from engine.operator_experiment import FULL_RANGES, PARTS, Choice, choice_of, choose, in_parts, operator_workloads
from engine.result import Measurement
from engine.spec import PROTOCOLS, Experiment, Workload
from engine.stats import Interval
from engine.sweep.points import SweepPoint, cache_marks, left_out_of, points_of, series_in
from engine.sweep.table import MEANINGS, sweep_table
from engine.sweep.words import article_example, beyond_bounds, in_cache, overflows, sentences, where_curves_part
from engine.verdict import Verdict
from tests.hand_made import MACHINE
from tests.pages.made_sweeps import BANDWIDTH, made_fusion, made_preallocation

FUSION, PREALLOCATION = find_technique("kernel-fusion"), find_technique("preallocation")
MODEL = Workload(model="m", batch_size=1, sequence_length=11)


@pytest.fixture(scope="module")
def fusion_rows() -> list[ComparisonRow]:
    return compare_run(made_fusion())


@pytest.fixture(scope="module")
def points(fusion_rows: list[ComparisonRow]) -> dict[tuple[str, int], SweepPoint]:
    found = points_of(made_fusion(), fusion_rows, series_in(fusion_rows)[0])
    return {(point.row.variant.partition("/")[2], point.row.workload.elements or 0): point for point in found}


@pytest.mark.parametrize(
    ("variant", "arrays"), [("separate", 8), ("two-kernels", 6), ("addcmul", 4), ("addcmul-out", 4), ("compiled", 4)]
)
def test_traffic_is_counted_as_in_the_table_of_the_method(variant: str, arrays: int) -> None:
    """METHOD 2.7: 8N, 6N, 4N transfers."""
    point = Workload(operator="addcmul", elements=1000)
    assert OPERATORS["addcmul"].moved_bytes(f"kernel-fusion/{variant}", point) == arrays * 4000


def test_generated_code_moves_its_bytes_once_however_long_the_chain() -> None:
    chain, card = Workload(operator="addcmul", elements=1000, operations=5), OPERATORS["addcmul"]
    assert card.moved_bytes("kernel-fusion/compiled", chain) == 4 * 4000
    assert card.moved_bytes("kernel-fusion/addcmul", chain) == 5 * 4 * 4000


def test_the_traffic_bound_applies_above_four_last_caches_only(points: dict[tuple[str, int], SweepPoint]) -> None:
    large, small = points["addcmul", 2**24], points["addcmul", 2**20]
    assert (large.bound, large.bound_by, large.is_in_memory) == (2.0, "traffic", True)
    assert (small.bound, small.bound_by, small.is_in_memory) == (3.0, "launches", False)
    assert points["two-kernels", 2**24].bound == pytest.approx(8 / 6)


def test_rates_are_bytes_over_the_median_and_shares_of_the_measured_bandwidth(
    points: dict[tuple[str, int], SweepPoint],
) -> None:
    point = points["addcmul-out", 2**24]
    assert point.bytes_per_s == pytest.approx(4 * 4 * 2**24 / point.row.median_s)
    assert point.bandwidth_share == pytest.approx(point.bytes_per_s / BANDWIDTH)


def test_what_exceeds_the_traffic_bound_is_explained_by_the_row_without_allocation(
    fusion_rows: list[ComparisonRow],
) -> None:
    sentence = beyond_bounds(made_fusion(), fusion_rows, series_in(fusion_rows)[0])[0]
    assert sentence.startswith("At 64.0 MiB, torch.addcmul into a buffer is ")
    assert "one kernel per step touches 49,152 fresh pages per call" in sentence
    assert "what is left of it is 2.0" in sentence or "what is left of it is 1.99x" in sentence


def test_a_rest_that_traffic_cannot_explain_is_not_called_traffic(fusion_rows: list[ComparisonRow]) -> None:
    run = made_fusion()
    slow = tuple(
        replace(
            outcome,
            blocks=tuple(
                replace(block, latency_s=tuple(3 * each for each in block.latency_s)) for block in outcome.blocks
            ),
        )
        if outcome.variant == "kernel-fusion/separate-out"
        else outcome
        for outcome in run.outcomes
    )
    sentence = beyond_bounds(replace(run, outcomes=slow), fusion_rows, series_in(fusion_rows)[0])[0]
    assert sentence.endswith("still more than traffic can explain, and this run does not tell why.")


def test_what_exceeds_the_launch_bound_is_told_apart_from_traffic_and_compared_without_allocation(
    fusion_rows: list[ComparisonRow],
) -> None:
    """Made-up generated code starts nothing that a profiler counts, and takes far less than a third of the time."""
    run = made_fusion()
    expression, chain = series_in(fusion_rows)
    (small,) = [words for words in beyond_bounds(run, fusion_rows, expression) if "4.00 KiB" in words]
    assert "torch.compile is 3" in small and "more than the 3.00x that fewer launches can explain" in small
    assert "what is left of it is 2.9" in small and small.endswith(": no more than fewer launches can explain.")
    without = [row for row in fusion_rows if row.variant != "kernel-fusion/separate-out"]
    (small,) = [words for words in beyond_bounds(run, without, expression) if "4.00 KiB" in words]
    assert small.endswith("; this run does not tell why.")
    (large,) = [words for words in beyond_bounds(run, without, expression) if "64.0 MiB" in words]
    assert large.endswith("; whether those pages are the reason, this run does not tell.")
    told = list(sentences(run, fusion_rows, chain))
    assert any("more than the 4.00x that fewer launches can explain" in words for words in told)
    assert any("can come from the caches" in words for words in told)


def test_rates_above_the_bandwidth_are_named_as_the_caches(fusion_rows: list[ComparisonRow]) -> None:
    found = points_of(made_fusion(), fusion_rows, series_in(fusion_rows)[0])
    words = in_cache(found, BANDWIDTH)
    assert words is not None and "up to 4.00 MiB can come from the caches" in words
    assert in_cache([point for point in found if point.is_in_memory], BANDWIDTH * 2) is None


def test_where_the_size_of_the_caches_is_unknown_they_are_no_reason_and_nothing_bounds() -> None:
    run = made_fusion()
    assert run.environment is not None
    blind = replace(run.environment, device=replace(run.environment.device, last_level_cache_bytes=None))
    run = replace(run, environment=blind)
    rows = compare_run(run)
    found = points_of(run, rows, series_in(rows)[0])
    assert {(point.is_in_memory, point.bound) for point in found} == {(None, None)}
    assert (in_cache(found, BANDWIDTH) or "").endswith("may come from caches, whose size is not known here.")
    assert set(sweep_table(found)["data comes from"]) == {"not known"}


def test_caches_are_marked_where_all_arrays_together_fill_them(fusion_rows: list[ComparisonRow]) -> None:
    marks = cache_marks(made_fusion(), series_in(fusion_rows)[0])
    assert list(marks) == ["L1d", "L2", "L3"]
    assert marks["L3"] == 32 * 2**20 / 6


def test_where_the_curves_part_is_said_with_what_the_baseline_pays() -> None:
    run = made_preallocation()
    rows = compare_run(run)
    relu = next(series for series in series_in(rows) if series.operator == "relu")
    words = where_curves_part(points_of(run, rows, relu), "preallocation/out")
    assert words is not None
    assert words.startswith("Into a buffer (out=): faster at 64.0 MiB and above; 2.4")
    assert "16,384 fresh pages per call" in words


def test_a_relu_beyond_the_bandwidth_is_explained_by_the_caches() -> None:
    run = made_preallocation()
    rows = compare_run(run)
    relu = next(series for series in series_in(rows) if series.operator == "relu")
    assert any("up to 4.00 MiB can come from the caches" in words for words in sentences(run, rows, relu))


def test_slower_is_called_slower_and_no_difference_is_said() -> None:
    run = made_preallocation()
    rows = compare_run(run)
    relu = next(series for series in series_in(rows) if series.operator == "relu")
    line = [point for point in points_of(run, rows, relu) if point.row.variant == "preallocation/out"]
    words = (Verdict.SLOWER, Verdict.NO_DIFFERENCE, Verdict.FASTER)
    estimates = (0.5, 1.0, 2.4)
    told = where_curves_part(
        [
            replace(point, row=replace(point.row, verdict=verdict, speedup=Interval(estimate, estimate, estimate, 5)))
            for point, verdict, estimate in zip(line, words, estimates, strict=True)
        ],
        "preallocation/out",
    )
    assert told == (
        "Into a buffer (out=): faster at 64.0 MiB and above; 2.40x [2.40, 2.40] at 64.0 MiB. "
        "Slower at 4.00 KiB; 0.50x [0.50, 0.50] at 4.00 KiB. No measurable difference at 4.00 MiB."
    )


def test_a_quick_sweep_gives_numbers_and_no_verdict_word() -> None:
    """Guard: METHOD 1.6, an interval over fewer than three process sets carries no word."""
    run = made_preallocation(protocol="quick")
    rows = compare_run(run)
    relu = next(series for series in series_in(rows) if series.operator == "relu")
    told = where_curves_part(points_of(run, rows, relu), "preallocation/out")
    assert told is not None and told.startswith("Into a buffer (out=): from ") and " at 64.0 MiB" in told
    assert not any(word in told for word in ("faster", "slower", "difference"))


def test_every_number_of_the_sweeps_table_has_its_meaning(fusion_rows: list[ComparisonRow]) -> None:
    columns = sweep_table(points_of(made_fusion(), fusion_rows, series_in(fusion_rows)[0])).columns
    assert set(columns) - set(MEANINGS) == {"variant"}


def test_the_articles_pre_allocation_does_not_hold_and_the_sentence_says_why() -> None:
    rows = compare_run(made_preallocation())
    claim = next(claim for claim in CLAIMS if claim.key == "preallocation-4.9x")
    assert claim_verdict(claim, rows).word is ClaimWord.DOES_NOT_HOLD
    words = article_example(rows)
    assert words is not None
    assert "np.dot makes its result first" in words
    assert "Drawing the random weights inside the timer takes" in words


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        ("fragmentation-21.3", "source not found"),
        ("memory-20-70", "no peak memory has been read here in enough process sets; source not found"),
    ],
)
def test_figures_without_a_source_are_not_testable_and_say_so(key: str, reason: str) -> None:
    judged = claim_verdict(next(claim for claim in CLAIMS if claim.key == key), compare_run(made_preallocation()))
    assert judged.word is ClaimWord.NOT_TESTABLE
    assert judged.reason.startswith(reason)


def test_one_launch_instead_of_three_rests_on_what_the_profiler_counted(fusion_rows: list[ComparisonRow]) -> None:
    judged = claim_verdict(next(claim for claim in CLAIMS if claim.key == "one-launch-not-three"), fusion_rows)
    assert judged.word is ClaimWord.HOLDS
    assert judged.reason.endswith("1 operator per call instead of 3")


@pytest.mark.parametrize(
    ("operators", "speed", "word"),
    [
        (1.0, 1.0, ClaimWord.HOLDS),  # slower in a quick run, but one launch
        (2.0, 9.0, ClaimWord.DOES_NOT_HOLD),  # faster, but two
        (None, 9.0, ClaimWord.NOT_TESTABLE),
    ],
)
def test_one_launch_is_a_count_and_no_matter_of_speed(operators: float | None, speed: float, word: ClaimWord) -> None:
    def counted(outcome: Measurement) -> Measurement:
        facts = {**outcome.facts, "operators_per_call": [operators] * len(outcome.workloads)}
        blocks = tuple(replace(b, latency_s=tuple(s / speed for s in b.latency_s)) for b in outcome.blocks)
        return replace(outcome, facts=facts, blocks=blocks)

    run = made_fusion(protocol="quick")
    outcomes = tuple(
        counted(outcome) if isinstance(outcome, Measurement) and outcome.variant == "kernel-fusion/addcmul" else outcome
        for outcome in run.outcomes
    )
    rows = compare_run(replace(run, outcomes=outcomes))
    assert claim_verdict(next(claim for claim in CLAIMS if claim.key == "one-launch-not-three"), rows).word is word


def test_an_overflow_that_only_eager_has_is_told() -> None:
    run = made_fusion()
    outcomes = tuple(
        replace(
            outcome,
            outputs=tuple(replace(check, non_finite_eager=7) for check in outcome.outputs),
        )
        if outcome.variant == "kernel-fusion/addcmul"
        else outcome
        for outcome in run.outcomes
    )
    words = overflows(compare_run(replace(run, outcomes=outcomes)))
    assert words
    assert words[0].startswith("torch.addcmul: ")
    assert "overflow in eager, finite here: 7 values" in words[0]


def test_a_sweep_under_a_small_memory_limit_leaves_large_sizes_out_in_words_and_measures_the_others() -> None:
    sizes = operator_workloads(FUSION, is_full=True)
    experiment = Experiment(workloads=tuple(sizes), variants=tuple(variant.key for variant in FUSION.variants))
    made = plan(experiment, replace(MACHINE, memory_bytes=2**30))
    (group,) = made.groups
    measured = {point.elements for point in group.workloads if point.operator == "addcmul"}
    assert 2**20 in measured
    assert 2**27 not in measured
    left_out = [failure for failure in made.unavailable if failure.workloads[0].elements == 2**27]
    assert {failure.variant for failure in left_out} == {variant.key for variant in FUSION.variants}
    assert left_out[0].kind == "unavailable"
    assert left_out[0].message.startswith("left out: 134,217,728 elements need about 9.06 GiB")


def test_rows_of_a_size_that_was_left_out_keep_their_place_and_the_reason() -> None:
    run = made_fusion()
    far = Workload(operator="addcmul", elements=2**27)
    experiment = replace(run.experiment, workloads=(*run.experiment.workloads, far))
    failures = plan(experiment, replace(MACHINE, memory_bytes=2**30)).unavailable
    rows = compare_run(replace(run, experiment=experiment, outcomes=(*run.outcomes, *failures)))
    reasons = left_out_of(rows, series_in(rows)[0])
    assert list(reasons) == [2**27]
    assert reasons[2**27].startswith("left out:")


@pytest.mark.parametrize(
    ("point", "device", "words"),
    [
        (Workload(operator="numpy-relu", elements=8, dtype="bfloat16"), "cpu", "is not measured in bfloat16"),
        (Workload(operator="numpy-relu", elements=8), "cuda:0", "runs on the CPU"),
        (Workload(operator="bias-gelu-norm", elements=1000), "cpu", "choose a multiple of 768"),
        (Workload(operator="relu", elements=1000, dtype="bfloat16"), "cpu", None),
        (MODEL, "cpu", None),
    ],
)
def test_what_cannot_be_measured_says_so_before_the_run(point: Workload, device: str, words: str | None) -> None:
    reason = why_left_out(point, device)
    assert (reason is None) if words is None else (words in str(reason))


def test_all_sizes_of_an_operator_and_numpy_beside_torch_are_served_by_one_child_each() -> None:
    experiment = Experiment(
        workloads=tuple(operator_workloads(PREALLOCATION)), variants=tuple(v.key for v in PREALLOCATION.variants if v.subjects)
    )  # fmt: skip
    groups = plan(experiment, MACHINE).groups
    assert len(groups) == 1
    assert len(groups[0].arms) == 6
    assert len(groups[0].workloads) == 7


@pytest.mark.parametrize("technique", [PREALLOCATION, FUSION], ids=lambda technique: technique.key)
def test_the_usual_sweep_is_estimated_near_five_minutes_and_the_full_one_longer(technique) -> None:
    def expected(sizes: str) -> float:
        usual = tuple(part.key for part in PARTS[technique.key] if part.is_usual)
        choice = Choice(parts=usual, sizes=sizes)
        wanted = choose(technique, choice, model=MODEL, device="cpu", protocol=PROTOCOLS["standard"])
        return estimate_seconds(wanted, MACHINE)

    assert 200 < expected("default") < 370
    assert expected("full") > 2 * expected("default")


def test_fusions_usual_sizes_end_beyond_four_last_caches() -> None:
    largest = max(point.elements or 0 for point in operator_workloads(FUSION, last_cache_bytes=60 * 2**20))
    assert 4 * 4 * largest >= 4 * 60 * 2**20
    assert max(point.elements or 0 for point in operator_workloads(FUSION)) == 2**23
    # Beyond four caches as large as this one nothing usual reaches, so nothing is spent on trying.
    assert max(point.elements or 0 for point in operator_workloads(FUSION, last_cache_bytes=480 * 2**20)) == 2**23


@pytest.mark.parametrize(
    ("technique", "parts", "operators", "has_model"),
    [
        ("preallocation", (), {"numpy-dot-as-written", "numpy-dot", "relu", "request-stream"}, False),
        ("preallocation", ("model",), set(), True),
        ("preallocation", ("sizes", "numpy-sizes"), {"relu", "numpy-relu"}, False),
        ("kernel-fusion", ("chain",), {"bias-gelu-norm"}, False),
        ("torch-compile", (), set(), True),
    ],
)
def test_the_command_line_measures_the_usual_parts_of_a_technique_or_those_named(
    technique: str, parts: tuple[str, ...], operators: set[str], has_model: bool
) -> None:
    experiment = make_experiment(choose_variants([technique], [], parts), [MODEL], "standard", parts=parts)
    assert {point.operator for point in experiment.workloads if point.operator} == operators
    assert (MODEL in experiment.workloads) is has_model


def test_a_variant_named_by_itself_is_measured_at_all_its_operators() -> None:
    experiment = make_experiment(choose_variants([], ["preallocation/in-place"]), [MODEL], "standard")
    assert {point.operator for point in experiment.workloads} == {"relu", "numpy-relu"}


def test_swept_operators_take_dtype_sizes_and_chain_and_the_article_example_stays_what_it_is() -> None:
    found = operator_workloads(PREALLOCATION, dtype="float16", elements=[4096], operations=3)
    assert {(point.operator, point.elements, point.dtype, point.operations) for point in found} == {
        ("numpy-dot-as-written", 3000, "float64", None),
        ("numpy-dot", 3000, "float64", None),
        ("relu", 4096, "float16", 3),
        ("numpy-relu", 4096, "float16", 3),
        ("request-stream", 512 * 768, "float32", None),
    }


def test_rows_of_a_transformer_are_whole_rows_whatever_size_is_asked_for() -> None:
    sizes = [
        point.elements
        for point in operator_workloads(FUSION, elements=[100, 2**20])
        if point.operator == "bias-gelu-norm"
    ]
    assert sizes == [768, 2**20 // 768 * 768]


@pytest.mark.parametrize(
    "choice",
    [
        Choice(parts=("sizes",)),
        Choice(parts=("example", "sizes", "model", "pooling"), sizes="full", dtype="float64", cache_mode="cold"),
        Choice(parts=("sizes", "model"), sizes="own", powers=(11, 13), operations=4),
    ],
)
def test_a_choice_is_read_back_from_its_experiment(choice: Choice) -> None:
    experiment = choose(PREALLOCATION, choice, model=MODEL, device="cpu", protocol=PROTOCOLS["quick"])
    found = choice_of(PREALLOCATION, experiment)
    assert replace(found, powers=choice.powers) == choice
    if choice.sizes == "own":
        assert found.powers == choice.powers


def test_only_variants_that_measure_something_are_part_of_the_experiment() -> None:
    choice = Choice(parts=("model",))
    experiment = choose(PREALLOCATION, choice, model=MODEL, device="cpu", protocol=PROTOCOLS["quick"])
    assert experiment.workloads == (MODEL,)
    assert all(not find_variant(key).subjects for key in experiment.variants)


def test_nothing_chosen_is_refused_in_words() -> None:
    with pytest.raises(InvalidSpec, match="Choose at least one part"):
        choose(FUSION, Choice(parts=()), model=MODEL, device="cpu", protocol=PROTOCOLS["quick"])


def test_every_operator_point_of_the_catalog_belongs_to_one_part_and_every_swept_one_has_a_full_range() -> None:
    for technique in (PREALLOCATION, FUSION):
        points = operator_workloads(technique)
        parts = [in_parts(technique, [part.key], points) for part in PARTS[technique.key]]
        assert sorted(str(point) for part in parts for point in part) == sorted(map(str, points))
    assert set(FULL_RANGES) <= set(OPERATORS)


@pytest.mark.parametrize("technique", [*TECHNIQUES, find_technique("pitfalls")], ids=lambda technique: technique.key)
def test_every_technique_can_be_named_on_the_command_line_as_the_readme_names_it(technique: Technique) -> None:
    """Guard: `in_parts` of a technique without parts; `run --technique pitfalls` ended in a KeyError."""
    experiment = make_experiment(choose_variants([technique.key], [], ()), [MODEL], "quick", parts=())
    assert {VARIANTS[key].technique for key in experiment.variants} == {technique.key}
    assert experiment.workloads
