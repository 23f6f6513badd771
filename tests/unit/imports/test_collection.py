"""Putting a comparison set together: what may join, what the store keeps, the command line on the same files."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

from engine import results_csv
from engine.cli import app
from engine.cli.console import OUT
from engine.device_comparison.collection import MAX_FILES, Collection, check_new, digest_of, of_set
from engine.errors import UnknownKey, UnreadableFile
from engine.imports import text
from engine.store import Store
from tests.pages.made_runs import made_run
from tests.uploads import path_of, read_upload


def collection(*starts: str) -> Collection:
    made = Collection()
    for start in starts:
        made = made.with_file(read_upload(start), digest_of(path_of(start).read_bytes()))
    return made


def test_a_set_comes_back_from_the_store_as_it_was_kept() -> None:
    kept = collection("U05", "U16", "U18")
    set_id = Store().add_set("three", frames=kept.frames(), details=kept.details())
    back = of_set(Store().get_set(set_id))
    assert list(back.entries) == list(kept.entries)
    for name, entry in kept.entries.items():
        assert back.entries[name].understanding == entry.understanding
        assert back.entries[name].frame.astype(object).equals(entry.frame.astype(object))


def test_a_set_can_grow_under_the_same_link() -> None:
    store, first = Store(), collection("U05")
    set_id = store.add_set("grows", frames=first.frames(), details=first.details())
    more = first.with_file(read_upload("U10"), "other").without(path_of("U05").name).with_runs(["a", "a", "b"])
    contents = {"run_ids": more.run_ids, "frames": more.frames(), "details": more.details()}
    version = store.change_set(set_id, store.set_summary(set_id).version, **contents)
    back = store.get_set(set_id)
    assert back.version == store.set_summary(set_id).version == version
    assert (back.name, back.run_ids, list(back.frames)) == ("grows", ("a", "b"), [path_of("U10").name])
    assert store.set_summary(set_id).details == more.details()
    with pytest.raises(UnknownKey):
        store.change_set("gone", "", run_ids=(), frames={}, details={})


def test_who_changes_a_set_that_changed_meanwhile_learns_it_and_loses_nothing() -> None:
    store, mine, theirs = Store(), collection("U05"), collection("U10")
    set_id = store.add_set("shared")
    seen = store.get_set(set_id).version
    assert store.change_set(set_id, seen, run_ids=(), frames=theirs.frames(), details=theirs.details())
    assert store.change_set(set_id, seen, run_ids=(), frames=mine.frames(), details=mine.details()) is None
    assert list(store.get_set(set_id).frames) == list(theirs.entries)
    assert len(list((store.folder / "sets").iterdir())) == 1
    store.delete_set(set_id)
    assert not list((store.folder / "sets").iterdir())


def test_a_set_that_changes_while_it_is_read_is_read_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names of one version are never paired with the frames of another."""
    store, before, after = Store(), collection("U05", "U10"), collection("U10")
    set_id = store.add_set("read", frames=before.frames(), details=before.details())
    read_parquet, left = pd.read_parquet, [1]

    def read_late(path: Path) -> pd.DataFrame:
        if left and path.name == "1.parquet":
            left.clear()
            version = store.set_summary(set_id).version
            store.change_set(set_id, version, run_ids=(), frames=after.frames(), details=after.details())
        return read_parquet(path)

    monkeypatch.setattr(pd, "read_parquet", read_late)
    back = of_set(store.get_set(set_id))
    assert list(back.entries) == [path_of("U10").name]
    assert back.entries[path_of("U10").name].frame["source"].unique().tolist() == [path_of("U10").name]


@pytest.mark.parametrize(
    ("name", "digest", "reason"),
    [
        ("copy.csv", "same", "the same content as 'first.csv'"),
        ("first.csv", "other", "another file of this name"),
    ],
)
def test_a_duplicate_is_refused_in_one_sentence(name: str, digest: str, reason: str) -> None:
    file = read_upload("U05")
    first = Collection(entries={"first.csv": Collection().with_file(file, "same").entries[path_of("U05").name]})
    with pytest.raises(UnreadableFile, match=reason):
        check_new(first, name, digest)


def test_a_set_holds_twenty_files() -> None:
    entry = next(iter(collection("U05").entries.values()))
    full = Collection(entries={f"{place}.csv": entry for place in range(MAX_FILES)})
    with pytest.raises(UnreadableFile, match="at most 20 files"):
        check_new(full, "more.csv", "new")


def test_a_file_that_is_read_again_takes_its_own_place_and_no_other() -> None:
    """However full the set is; a namesake of other content, or the same content under another name, stays refused."""
    entry = next(iter(collection("U05").entries.values()))
    full = Collection(entries={f"{place}.csv": replace(entry, digest=str(place)) for place in range(MAX_FILES)})
    check_new(full.apart_from("3.csv", "3"), "3.csv", "3")
    for name, digest, reason in (("3.csv", "other", "another file of this name"), ("new.csv", "3", "the same content")):
        with pytest.raises(UnreadableFile, match=reason):
            check_new(full.apart_from(name, digest), name, digest)


def run(*arguments: str | Path) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["compare", *map(str, arguments)])
    return result.exit_code, result.stdout, result.stderr


def test_the_command_prints_the_table_and_refuses_a_bad_file_beside_it() -> None:
    code, out, err = run(path_of("U10"), path_of("U20"))
    assert code == 1
    doubts = "2 ratios without a verdict"
    assert f"B is 0.45x as fast as A (geometric mean over 2 common configurations; {doubts})." in out
    assert "U20_png_named.csv: not a text table" in err


def test_the_command_takes_the_unit_from_whoever_knows_it() -> None:
    code, _, err = run(path_of("U22b"))
    assert (code, "Answer with --unit" in err) == (1, True)
    code, out, _ = run(path_of("U22b"), "--unit", "ms", "--json")
    assert code == 0
    assert [row["value"] for row in json.loads(out)] == ["12.2 ms", "9.60 ms"]


def test_the_command_divides_all_rows_by_one_technique_on_one_device() -> None:
    code, out, _ = run(path_of("U04"), "--against", "device not named", "--against-technique", "OpenCL", "--json")
    ratios = {(row["technique"], row["point"]): row["against_device"] for row in json.loads(out)}
    assert (code, ratios["CUDA", "matmul"]) == (0, pytest.approx(1.273, rel=1e-3))
    _, out, _ = run(path_of("U04"), "--against", "device not named", "--against-technique", "OpenCL")
    assert "CUDA on RTX 3060 is 1.27x as fast as OpenCL on device not named over one common configuration" in out
    _, out, _ = run(path_of("U04"), "--measure", "gflops", "--json")
    assert [row["value"] for row in json.loads(out) if row["value"] != "-"] == ["290 GFLOP/s", "228 GFLOP/s"]


def test_the_command_shows_interval_evidence_and_notes_of_every_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(OUT, "width", 200)
    path = tmp_path / "run.csv"
    results_csv.write([made_run("a")], path)
    code, out, _ = run(path, path_of("U10"))
    (compiled,) = [line for line in out.splitlines() if "torch.compile" in line and "\u2502" in line]
    assert code == 0
    assert re.search(r"n = \d+, 5 processes .* 1.40x .1.40, 1.41. .* faster ", compiled)
    (eager,) = [line for line in out.splitlines() if line.startswith("\u2502 B") and "eager" in line]
    number = re.search(r"(\d+)[, \d]*\s*\u2502$", eager)[1]
    assert f"Note {number}: " in out


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--unit", "parsecs"], "Unit 'parsecs' does not exist"),
        (["--against", "H200"], "Device 'H200' is in no file"),
        (["--against-technique", "magic"], "Technique 'magic' is in no file"),
        (["--measure", "joy"], "Measure 'joy' is in no file"),
    ],
)
def test_the_command_names_what_exists_instead(arguments: list[str], reason: str) -> None:
    result = CliRunner().invoke(app, ["compare", str(path_of("U10")), *arguments])
    assert isinstance(result.exception, UnknownKey)
    assert reason in str(result.exception)


def test_no_cell_and_no_file_name_steers_the_terminal(tmp_path: Path) -> None:
    """Escape sequences, of one character too, would set colours, move the cursor or rename the window."""
    hostile = "A\x1b[31m\x9b2J"
    path = tmp_path / "times\x1b[2J.csv"
    path.write_text(f"device,technique,latency_ms\n{hostile},eager,6\n{hostile},\x1b[1mcompile,4\n{hostile},x,5 \x1b\n")
    code, out, err = run(path, tmp_path / "none\x1b[2J.csv")
    assert code == 1
    assert "A\ufffd[31m\ufffd2J" in out
    assert "none\ufffd[2J.csv cannot be read" in err
    assert not {character for character in out + err if character < " " or "\x7f" <= character < "\xa0"} - {"\n"}


def test_the_command_measures_a_file_before_it_reads_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut at the limit, a result CSV would look like an edited one."""
    path = tmp_path / "run.csv"
    results_csv.write([made_run("a")], path)
    monkeypatch.setattr(text, "MAX_BYTES", path.stat().st_size - 1)
    code, _, err = run(path)
    assert (code, "run.csv: " in err, "is above the limit of " in err) == (1, True, True)
