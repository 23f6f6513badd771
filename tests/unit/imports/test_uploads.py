"""Every shape of result file that people really have, with the numbers it must show; one test per row of the upload cases."""

from __future__ import annotations

import os

import pytest

from engine import formatting
from engine.device_comparison import (
    devices_of,
    geometric_means,
    over_arm,
    over_device,
    sentences,
    summarise,
)
from engine.device_comparison.table import table
from engine.errors import UnreadableFile
from engine.imports.readings import merge
from engine.verdict import Verdict
from tests.uploads import arms_of, between, own_ratios, own_speedups, path_of, read_upload

ABOUT = 1e-3


def test_u01_joins_on_the_full_configuration_and_asks_for_the_unit() -> None:
    asked = read_upload("U01")
    assert [(question.kind, question.columns) for question in asked.understanding.questions] == [
        ("unit", ("forward_time",))
    ]
    assert asked.frame.empty
    file = read_upload("U01", unit="s")
    assert file.understanding.rows_kept == 31
    arms = arms_of(file)
    assert [sum(arm.device == device for arm in arms) for device in devices_of(arms)] == [15, 16]
    ratios, unmatched = over_device(arms, "l4-24gb-72w")
    compared = [one for one in ratios if not one.is_reference]
    assert [one.speedup for one in compared] == pytest.approx([2.6] * 13, rel=ABOUT)
    listed = [(arm.device[:4], str(arm.point)) for arm in unmatched]
    assert listed == [
        ("a100", "distilbert-base-uncased · batch 32 · 512 tokens"),
        ("a100", "bert-base-uncased · batch 32 · 512 tokens"),
        ("l4-2", "bert-base-uncased · batch 1 · 16 tokens"),
        ("l4-2", "bert-base-uncased · batch 8 · 16 tokens"),
        ("l4-2", "bert-base-uncased · batch 32 · 16 tokens"),
    ]
    fast, slow = geometric_means(ratios, devices_of(arms))
    assert (fast.speedup, fast.points, slow.speedup) == (pytest.approx(2.6, rel=ABOUT), 13, 1.0)


def test_u02_names_devices_after_the_files_and_keeps_failed_batches() -> None:
    files = read_upload("U02a", unit="ms"), read_upload("U02b", unit="ms")
    assert [(file.understanding.devices, file.understanding.device_source) for file in files] == [
        (("A10",), "from the file's name"),
        (("T4",), "from the file's name"),
    ]
    ratios = {one.arm.point.batch_size: one for one in between(arms_of(*files), "T4")}
    assert [ratios[batch].speedup for batch in (1, 8, 32)] == pytest.approx([1.1967, 2.5116, 5.6765], rel=ABOUT)
    assert (ratios[256].speedup, ratios[256].verdict) == (None, Verdict.FAILED)
    assert "summary only" in ratios[1].reason
    renamed = read_upload("U02a", unit="ms", devices={"A10": "A10G, second machine"})
    assert (renamed.understanding.devices, renamed.understanding.device_source) == (
        ("A10G, second machine",),
        "as corrected",
    )


def test_u03_takes_a_cold_first_iteration_as_the_first_call() -> None:
    file = read_upload("U03")
    arms = {arm.variant: arm for arm in arms_of(file)}
    assert [arms[name].first_call_s for name in ("eager", "torch.compile")] == pytest.approx([0.095, 18.35])
    assert [arms[name].value for name in ("eager", "torch.compile")] == pytest.approx([0.006, 0.004])
    assert own_speedups(list(arms.values()))[("U03 long cold first call", "torch.compile")] == pytest.approx(1.5)
    assert sum("taken as the first call" in note for note in file.understanding.notes) == 2


def test_u04_never_ranks_a_zero_and_takes_zero_flops_as_missing() -> None:
    file = read_upload("U04")
    arms = arms_of(file)
    failed = [arm for arm in arms if arm.value is None]
    assert [(arm.point.operator, arm.failure) for arm in failed] == [("convolution", "FAIL")]
    ratios = {(one.arm.variant, one.arm.point.operator): one for one in over_arm(arms, "device not named", "OpenCL")[0]}
    assert ratios["CUDA", "matmul"].speedup == pytest.approx(1.273, rel=ABOUT)
    assert [str(difference) for difference in ratios["CUDA", "matmul"].differences] == [
        "device RTX 3060 against device not named",
        "dtype not stated",
        "matmul precision not stated",
    ]
    rates = [arm for arm in arms_of(file, measure="gflops") if arm.value is not None]
    assert [arm.point.operator for arm in rates] == ["matmul", "matmul"]


def test_u05_reads_semicolons_decimal_commas_and_german_headers() -> None:
    file = read_upload("U05")
    understood = file.understanding
    assert (understood.delimiter, understood.decimal_mark, understood.encoding) == (
        ";",
        ",",
        "UTF-8 with byte order mark",
    )
    ratios = {
        one.arm.point.batch_size: one.speedup for one in own_ratios(arms_of(file)) if one.arm.variant == "compile"
    }
    assert ratios == {1: pytest.approx(1.5625), 32: pytest.approx(1.25)}


def test_u06_keeps_a_second_column_of_the_same_name_apart() -> None:
    file = read_upload("U06")
    assert file.understanding.encoding.startswith("UTF-16")
    assert own_speedups(arms_of(file))[("H100", "cuda-graphs")] == pytest.approx(2.0)
    second = {arm.variant: arm.value for arm in arms_of(file, measure="Latency (ms) #2")}
    assert second == {"eager": pytest.approx(0.0033), "cuda-graphs": pytest.approx(0.0017)}


def test_u07_reads_units_cell_by_cell() -> None:
    arms = arms_of(read_upload("U07"))
    assert [arm.value for arm in arms] == pytest.approx([0.0061, 0.0041, 0.0035])
    assert [arm.memory_bytes for arm in arms] == [1_288_490_188.8, 1_373_634_560, 1_400_000_000]
    speedups = own_speedups(arms)
    assert [speedups["A100", name] for name in ("compile", "max-autotune")] == pytest.approx([1.488, 1.743], rel=ABOUT)


def test_u08_reads_quoted_thousands_and_commas_in_names() -> None:
    arms = arms_of(read_upload("U08"))
    assert own_speedups(arms)[("A100, 80GB", "compile")] == pytest.approx(1.5)


def test_u09_asks_what_the_columns_mean_and_never_eats_the_first_row() -> None:
    asked = read_upload("U09")
    assert [question.kind for question in asked.understanding.questions] == ["roles"]
    assert asked.understanding.rows_read == 7
    roles = {"column 1": "elements", "column 2": "latency"}
    file = read_upload("U09", unit="s", roles=roles)
    medians = {arm.point.elements: arm.value for arm in arms_of(file)}
    assert medians == {100: pytest.approx(0.09575), 10_000: pytest.approx(0.1010)}
    (note,) = [note for note in file.understanding.notes if "cold" in note]
    assert "845 ms" in note
    assert "kept" in note


def test_u10_reads_doubled_carriage_returns() -> None:
    file = read_upload("U10")
    assert file.understanding.rows_kept == 4
    arms = arms_of(file)
    speedups = own_speedups(arms)
    assert [speedups[device, "compile"] for device in "AB"] == pytest.approx([1.5, 1.2])
    assert between(arms, "B")[0].speedup == pytest.approx(2.0)


def test_u11_matches_sample_columns_by_name_not_by_place() -> None:
    arms = arms_of(read_upload("U11a", unit="ms"), read_upload("U11b", unit="ms"))
    ratios = {one.arm.variant: one.speedup for one in between(arms, "GTX 1080 Ti")}
    expected = {"eager": 10.2 / 8.2, "compile": 7.2 / 6.2, "graphs": 5.2 / 4.2}
    assert ratios == {name: pytest.approx(value) for name, value in expected.items()}
    assert {arm.samples for arm in arms} == {5}


def test_u12_keeps_higher_is_better() -> None:
    file = read_upload("U12")
    assert [column.better for column in file.understanding.columns] == ["", "higher", "higher"]
    ratios = [one.speedup for one in own_ratios(arms_of(file)) if one.arm.variant == "Fused"]
    assert ratios == pytest.approx([0.79, 1.27, 1.99], abs=0.005)


@pytest.mark.parametrize(
    ("start", "reason"),
    [
        ("U13a", "no timing values"),
        ("U13b", "no timing column"),
        ("U13c", "empty file"),
        ("U13d", "header only"),
        ("U20", "not a text table"),
    ],
)
def test_files_without_times_are_refused_with_one_sentence(start: str, reason: str) -> None:
    with pytest.raises(UnreadableFile, match=reason) as refused:
        read_upload(start)
    assert path_of(start).name in str(refused.value)
    assert "\n" not in str(refused.value)


def test_u14_keeps_equal_samples() -> None:
    arms = arms_of(read_upload("U14"))
    assert [(arm.variant, arm.value, arm.samples) for arm in arms] == [
        ("eager", pytest.approx(0.005), 8),
        ("compile", pytest.approx(0.004), 8),
    ]


def test_u15_refuses_a_hostile_list_and_still_uses_the_median_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getcwd", lambda: pytest.fail("a cell was evaluated"))
    file = read_upload("U15")
    assert file.understanding.devices == ("NVIDIA A100-SXM4-80GB x2",)
    (cell,) = file.understanding.set_aside
    assert (cell.row, cell.column) == (2, "report.forward.latency.values")
    eager, compiled = arms_of(file)
    assert (eager.value, eager.samples) == (pytest.approx(0.00605), 4)
    assert (compiled.value, compiled.evidence) == (pytest.approx(0.0040), "summary only (median)")


def test_u16_reads_the_dynamo_runners_csv() -> None:
    file = read_upload("U16")
    arms = {(arm.point.model, arm.variant): arm for arm in arms_of(file)}
    eager = arms["DistilBertForMaskedLM", "eager"]
    compiled = arms["DistilBertForMaskedLM", "torch.compile"]
    assert (eager.value, compiled.value, compiled.set_up_s) == (pytest.approx(0.016), pytest.approx(0.010), 25.5)
    assert compiled.memory_bytes / eager.memory_bytes - 1 == pytest.approx(0.111, abs=5e-4)
    assert compiled.remark == "CUDA graphs skipped"
    ratios = {one.arm.point.model: one for one in own_ratios(list(arms.values())) if one.arm.variant == "torch.compile"}
    assert ratios["DistilBertForMaskedLM"].speedup == pytest.approx(1.6)
    assert ratios["BertForMaskedLM"].speedup == pytest.approx(1.25)
    for model in ("GPT2ForSequenceClassification", "XLNetLMHeadModel"):
        assert (ratios[model].speedup, ratios[model].verdict) == (None, Verdict.FAILED)


def test_u17a_is_inconclusive_where_means_and_medians_name_different_winners() -> None:
    (ratio,) = [one for one in own_ratios(arms_of(read_upload("U17a"))) if not one.is_reference]
    assert ratio.verdict is Verdict.INCONCLUSIVE
    assert ratio.reason == "means say compile, medians say eager, n = 3"


def test_u17b_shows_nanoseconds() -> None:
    arms = arms_of(read_upload("U17b"))
    assert [formatting.seconds(arm.value) for arm in arms] == ["260 ns", "260 ns"]
    assert own_speedups(arms, baseline="test_dot")["CPU X", "test_dot_out"] == pytest.approx(1.0)


def test_u17c_reads_the_unit_of_every_row_and_ignores_the_complexity_fit() -> None:
    file = read_upload("U17c")
    assert own_speedups(arms_of(file))["U17c google benchmark", "BM_fused"] == pytest.approx(2.0)
    assert any("BM_x_BigO" in note for note in file.understanding.notes)


def test_u18_lists_impossible_latencies_and_keeps_hostile_text_as_text() -> None:
    file = read_upload("U18")
    assert [(cell.row, cell.value) for cell in file.understanding.set_aside] == [
        (4, "nan"),
        (5, "-3"),
        (6, "inf"),
        (7, "1e999"),
    ]
    assert file.understanding.rows_kept == 3
    assert [arm.device for arm in arms_of(file)] == [
        '=HYPERLINK("http://127.0.0.1/","x")',
        "<img src=x onerror=alert(1)>",
        "@SUM(1+1)",
    ]


def test_u19_withholds_the_ratio_between_precisions_and_keeps_each_devices_own() -> None:
    arms = arms_of(read_upload("U19a"), read_upload("U19b"))
    withheld = between(arms, "L4")
    assert [(one.speedup, one.verdict, one.reason) for one in withheld] == [
        (None, Verdict.NOT_COMPARABLE, "float16 against float32: not the same work")
    ] * 2
    speedups = own_speedups(arms)
    assert [speedups["A100", "compile"], speedups["L4", "compile"]] == pytest.approx([1.5, 1.2])


def test_u21_reports_the_row_that_was_cut_off() -> None:
    file = read_upload("U21")
    assert file.understanding.rows_kept == 2
    (cell,) = file.understanding.set_aside
    assert (cell.row, cell.value) == (3, "3.")
    assert "cut off" in cell.reason


def test_u22_asks_for_the_unit_of_each_file() -> None:
    asked = read_upload("U22a"), read_upload("U22b")
    assert all(file.understanding.questions[0].kind == "unit" for file in asked)
    arms = arms_of(read_upload("U22a", unit="s"), read_upload("U22b", unit="ms"))
    assert [formatting.seconds(arm.value) for arm in arms if arm.variant == "eager"] == ["6.10 ms", "12.2 ms"]
    (ratio,) = [one for one in between(arms, "L4") if one.arm.variant == "eager"]
    assert ratio.speedup == pytest.approx(2.0)


def test_all_files_together_make_one_table_and_one_paragraph() -> None:
    starts = ("U03", "U05", "U07", "U10", "U14", "U16", "U18", "U19a", "U19b", "U21")
    arms = summarise(merge([read_upload(start).frame for start in starts]))
    arms = [arm for arm in arms if arm.measure == "latency"]
    ratios, unmatched = over_device(arms, "L4")
    rows = table(own_ratios(arms), ratios)
    assert len(rows) == len(arms)
    said = sentences(ratios, own_ratios(arms), devices_of(arms), len(unmatched))
    assert said[-1] == f"{len(unmatched)} rows exist on one side only and are not counted."
    assert "No technique is established as faster on " in " ".join(said)
