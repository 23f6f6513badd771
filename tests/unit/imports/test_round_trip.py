"""Exported and uploaded again: the same readings, and the same numbers on every page."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from engine import results_csv
from engine.comparison import compare_run
from engine.device_comparison import over_device, over_own_baseline, summarise, usual_baseline
from engine.device_comparison.table import table
from engine.errors import UnreadableFile
from engine.imports import latency_lab, merged, read, readings
from engine.imports.readings import merge
from engine.result import Run
from engine.verdict import Verdict
from tests.pages.made_runs import COMPILED, EAGER, made_run
from tests.uploads import read_upload


def on(device: str, run: Run, torch: str = "2.13.0") -> Run:
    """The same run on another device, with another torch."""
    environment = run.environment
    machine = replace(environment.machine, versions={**environment.machine.versions, "torch": torch})
    return replace(
        run, environment=replace(environment, device=replace(environment.device, name=device), machine=machine)
    )


def shown(frame: pd.DataFrame) -> pd.DataFrame:
    """The table of a set's latencies against its first device."""
    arms = [arm for arm in summarise(frame) if arm.measure == "latency"]
    return table(over_own_baseline(arms, usual_baseline(arms)), over_device(arms, arms[0].device)[0])


def plain(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.astype(dict.fromkeys(frame.columns[frame.dtypes == "category"], object))


def test_a_result_csv_gives_the_readings_of_the_runs_it_was_written_from() -> None:
    runs = [on("A100", made_run("a")), on("L4", made_run("b", eager_s=0.05))]
    file = read("both.csv", results_csv.to_bytes(runs))
    pd.testing.assert_frame_equal(plain(file.frame), plain(latency_lab.frame_of(runs, "both.csv")))
    assert file.understanding.devices == ("A100", "L4")
    assert file.understanding.notes == ()


def test_speedups_are_those_of_the_runs_own_page() -> None:
    run = made_run("a", speedup=1.4)
    (page,) = [row for row in compare_run(run) if row.variant == COMPILED]
    arms = summarise(latency_lab.frame_of([run], "here"))
    (here,) = [one for one in over_own_baseline(arms, None) if one.arm.variant == COMPILED]
    assert here.interval == page.speedup
    assert (here.verdict, here.arm.value, here.arm.samples) == (page.verdict, page.median_s, page.samples)
    assert (here.arm.floor_s, here.arm.set_up_s) == (page.floor_s, page.setup_cold_s)


def test_devices_with_process_sets_get_an_interval_and_a_verdict() -> None:
    runs = [on("A100", made_run("a", eager_s=0.02)), on("L4", made_run("b", eager_s=0.04))]
    arms = summarise(latency_lab.frame_of(runs, "here"))
    ratios = {one.arm.variant: one for one in over_device(arms, "L4")[0] if not one.is_reference}
    assert {one.verdict for one in ratios.values()} == {Verdict.FASTER}
    assert ratios[EAGER].interval.low < 2.0 < ratios[EAGER].interval.high
    quick = [on("A100", made_run("a", protocol="quick")), on("L4", made_run("b", protocol="quick"))]
    arms = summarise(latency_lab.frame_of(quick, "here"))
    (ratio,) = [one for one in over_device(arms, "L4")[0] if one.arm.variant == EAGER and not one.is_reference]
    assert (ratio.verdict, ratio.reason) == (Verdict.NO_VERDICT, "one process per side: no verdict")


def test_another_torch_puts_a_badge_on_the_ratio() -> None:
    runs = [on("MI300X", made_run("a"), torch="2.2.0+rocm5.7"), on("L4", made_run("b"), torch="2.13.0+cu130")]
    ratios = over_device(summarise(latency_lab.frame_of(runs, "here")), "L4")[0]
    (ratio,) = [one for one in ratios if one.arm.variant == EAGER and not one.is_reference]
    assert [str(difference) for difference in ratio.differences] == ["torch 2.2.0+rocm5.7 against 2.13.0+cu130"]
    assert ratio.speedup is not None


def test_another_matmul_precision_puts_a_badge_on_the_ratio() -> None:
    fast = made_run("a")
    fast = replace(fast, experiment=replace(fast.experiment, matmul_precision="high"))
    arms = summarise(latency_lab.frame_of([on("A100", fast), on("L4", made_run("b"))], "here"))
    (ratio,) = [one for one in over_device(arms, "L4")[0] if one.arm.variant == EAGER and not one.is_reference]
    assert "matmul precision high against highest" in map(str, ratio.differences)


def test_a_technique_that_did_not_run_is_not_ranked_against_other_devices() -> None:
    run = made_run("a", facts={"frames_compiled": 0, "frames_seen": 0, "graphs": 0})
    arms = {arm.variant: arm for arm in summarise(latency_lab.frame_of([run], "here"))}
    assert arms[COMPILED].value is None
    assert arms[COMPILED].failure.startswith("technique did not run")


def test_the_same_device_twice_is_told_apart_by_run() -> None:
    arms = summarise(latency_lab.frame_of([made_run("a"), made_run("b")], "here"))
    assert len({(arm.device, arm.key) for arm in arms}) == len(arms) == 4


def test_a_changed_row_is_said() -> None:
    data = results_csv.to_bytes([made_run("a")])
    changed = data[:-30] + data[-30:].replace(b"0.0", b"0.1", 1)
    assert "Changed after it was exported" in read("a.csv", changed).understanding.notes[0]


def test_a_merged_set_comes_back_exactly_and_shows_the_same_numbers() -> None:
    starts = ("U03", "U05", "U07", "U12", "U16", "U17a", "U18", "U19a")
    frames = [read_upload(start).frame for start in starts]
    frame = merge([*frames, latency_lab.frame_of([made_run("a")], "here")])
    data = merged.to_bytes(frame)
    file = read("merged.csv", data)
    pd.testing.assert_frame_equal(plain(file.frame), plain(frame))
    pd.testing.assert_frame_equal(shown(file.frame), shown(frame))


def test_formula_cells_are_neutralised_in_the_export_and_restored_on_import() -> None:
    frame = read_upload("U18").frame
    data = merged.to_bytes(frame)
    assert b"\"'=HYPERLINK(" in data
    assert b"\"'@SUM" in data
    assert read("merged.csv", data).frame["device"].tolist() == frame["device"].tolist()


@pytest.mark.parametrize("damage", [lambda data: data[:60], lambda data: data.replace(b"0.0", b"x")])
def test_a_damaged_export_is_refused(damage: object) -> None:
    data = merged.to_bytes(read_upload("U10").frame)
    with pytest.raises(UnreadableFile, match=r"^merged\.csv: "):
        read("merged.csv", damage(data))  # type: ignore[operator]


@pytest.mark.parametrize("column", ["latency_s", "rate"])
@pytest.mark.parametrize(("value", "said"), [(0.0, "0"), (-1.0, "-1"), (float("inf"), "inf")])
def test_an_export_with_an_impossible_value_is_refused_with_its_row(column: str, value: float, said: str) -> None:
    frame = merge([read_upload("U10").frame, read_upload("U12").frame])
    frame.loc[2, column] = value
    with pytest.raises(UnreadableFile, match=rf"^merged\.csv: row 3: {column} is {said}, expected a number above zero"):
        read("merged.csv", merged.to_bytes(frame))


def test_an_export_whose_apostrophes_were_edited_is_refused() -> None:
    rows = [{"device": name, "variant": "eager", "measure": "latency", "latency_s": 1.0} for name in ("=A", "BBB")]
    data = merged.to_bytes(readings.from_rows(rows, "here")).replace(b"BBB", b"=A")
    with pytest.raises(UnreadableFile, match="column device holds '=A' with and without an apostrophe"):
        read("merged.csv", data)


def test_an_export_with_a_column_twice_is_refused() -> None:
    data = merged.to_bytes(read_upload("U10").frame).replace(b"measure", b"device")
    with pytest.raises(UnreadableFile, match="columns are missing: measure"):
        read("merged.csv", data)
    with pytest.raises(UnreadableFile, match="two columns of one name"):
        read("merged.csv", data.replace(b"statistic", b"measure").replace(b"row", b"measure"))


@pytest.mark.parametrize("fact", [b'"graphs":1', b'"counts":[3', b'"calls_per_sample":1', b'"batch_size":8'])
@pytest.mark.parametrize("value", [b"[1, 2]", b"-1", b"9" * 400, b"1e999", b"null"])
def test_a_result_csv_with_an_edited_header_is_read_or_refused_in_words(fact: bytes, value: bytes) -> None:
    data = results_csv.to_bytes([made_run("a")])
    name, _, old = fact.rpartition(b"[" if b"[" in fact else b":")
    mark = fact[len(name) : len(fact) - len(old)]
    assert fact in data
    try:
        file = read("a.csv", data.replace(fact, name + mark + value))
    except UnreadableFile as refused:
        assert str(refused).startswith("a.csv")
    else:
        assert "Changed after it was exported" in file.understanding.notes[0]


@pytest.mark.parametrize(
    ("note", "weights"),
    [
        ("real weights from the hub's local cache", "pretrained"),
        ("random weights: timing valid, outputs meaningless", "random"),
        ("the user's own model and example inputs", None),
    ],
)
def test_what_a_run_knows_of_weights_and_compile_cache_is_stated(note: str, weights: str | None) -> None:
    run = made_run()
    outcomes = [replace(each, facts={**each.facts, "model_note": note}) for each in run.outcomes]
    arms = summarise(latency_lab.frame_of([replace(run, outcomes=tuple(outcomes))], "here"))
    assert [(arm.conditions["cache_state"], arm.conditions.get("weights")) for arm in arms] == [("cold", weights)] * 2


def test_what_compiles_nothing_has_the_cache_state_of_its_run() -> None:
    """Or every speed-up over eager would say that the compile cache of one side is not stated."""
    run = made_run()
    outcomes = [replace(each, compile_cache=None) if each.variant == EAGER else each for each in run.outcomes]
    arms = summarise(latency_lab.frame_of([replace(run, outcomes=tuple(outcomes))], "here"))
    assert {arm.conditions["cache_state"] for arm in arms} == {"cold"}
