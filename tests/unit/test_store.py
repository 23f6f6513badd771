"""The store: what is committed is there again, lists are quick, and what the disk refuses is said in a sentence."""

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from engine import results_csv
from engine.errors import StorageError, UnknownKey
from engine.result import Run
from engine.store import SERVER_STOPPED, Store, data_folder, database, runs, sample_runs, samples
from tests.hand_made import ENVIRONMENT, LIMITS, MACHINE, experiment, failure, measurement


@pytest.fixture
def store() -> Store:
    return Store()


@pytest.fixture(autouse=True)
def no_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "samples", list)


def finished(store: Store, **changes: int) -> Run:
    run = store.add_run(experiment(**changes))
    store.start_run(run.id)
    store.set_environment(run.id, ENVIRONMENT)
    store.add_outcome(run.id, measurement())
    store.end_run(run.id, "done")
    return store.run(run.id)


def test_the_data_folder_is_where_the_variable_says(data_folder: Path) -> None:
    Store()
    assert (data_folder / "latency-lab.sqlite3").is_file()


def test_without_the_variable_data_lies_beside_the_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LATENCY_LAB_DATA")
    assert data_folder() == Path(__file__).resolve().parents[2] / "data"


def test_everything_stored_about_a_run_comes_back_from_a_fresh_store(store: Store) -> None:
    run = store.add_run(experiment(), label=" A100 ", note="quiet")
    store.start_run(run.id)
    store.set_environment(run.id, ENVIRONMENT)
    store.set_limits(run.id, LIMITS)
    store.add_outcome(run.id, measurement())
    store.add_outcome(run.id, failure())
    store.end_run(run.id, "done")
    again = Store().run(run.id)
    assert again.started_at and again.finished_at
    assert again == Run(
        id=run.id,
        experiment=experiment(),
        status="done",
        submitted_at=run.submitted_at,
        started_at=again.started_at,
        finished_at=again.finished_at,
        environment=ENVIRONMENT,
        limits=LIMITS,
        label="A100",
        note="quiet",
        outcomes=(measurement(), failure()),
    )


def test_an_outcome_is_committed_before_add_outcome_returns(store: Store) -> None:
    run = store.add_run(experiment())
    store.add_outcome(run.id, measurement())
    with sqlite3.connect(store.path) as other:
        assert other.execute("SELECT COUNT(*) FROM outcomes").fetchone() == (1,)
    other.close()


def test_an_unknown_run_is_named(store: Store) -> None:
    with pytest.raises(UnknownKey, match="no run 'nope'"):
        store.run("nope")
    with pytest.raises(UnknownKey):
        store.add_outcome("nope", measurement())
    with pytest.raises(UnknownKey):
        store.set_label("nope", "label", "")
    with pytest.raises(UnknownKey):
        store.delete_run("nope")


def test_the_list_is_newest_first_and_counts_outcomes(store: Store) -> None:
    first, second = store.add_run(experiment()), store.add_run(experiment(8))
    store.add_outcome(first.id, measurement())
    store.add_outcome(first.id, measurement(process=1))
    store.add_outcome(first.id, failure())
    newest, oldest = store.runs()
    assert (newest.id, newest.measurements, newest.failures) == (second.id, 0, 0)
    assert (oldest.id, oldest.measurements, oldest.failures) == (first.id, 2, 1)
    assert (oldest.experiment, oldest.environment) == (experiment(), None)


def test_listing_200_runs_never_parses_an_outcome(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a list parsed an outcome")

    monkeypatch.setattr(runs, "parse_outcome", refuse)
    for number in range(200):
        store.import_run(_old_run(number))
    assert len(store.runs()) == 200


def _old_run(number: int) -> Run:
    return Run(
        id=f"old-{number}",
        experiment=experiment(),
        status="done",
        submitted_at="2026-01-01T00:00:00+00:00",
        environment=ENVIRONMENT,
        outcomes=(measurement(),),
    )


def test_a_label_and_note_can_be_changed(store: Store) -> None:
    run = store.add_run(experiment())
    store.set_label(run.id, "A100", "driver 580, quiet machine")
    assert (store.run(run.id).label, store.run(run.id).note) == ("A100", "driver 580, quiet machine")


def test_the_queue_is_in_order_of_submission_and_knows_positions(store: Store) -> None:
    first, second, third = (store.add_run(experiment(size)) for size in (1, 2, 3))
    assert [store.queue_position(run.id) for run in (first, second, third)] == [1, 2, 3]
    assert store.next_queued() == first.id
    assert store.start_run(first.id)
    assert [store.queue_position(run.id) for run in (first, second, third)] == [None, 1, 2]
    assert store.next_queued() == second.id


def test_a_run_cannot_be_started_twice_nor_after_it_was_cancelled(store: Store) -> None:
    run, other = store.add_run(experiment()), store.add_run(experiment())
    assert store.start_run(run.id)
    assert not store.start_run(run.id)
    store.cancel_run(other.id)
    assert not store.start_run(other.id)
    assert store.status(other.id) == "cancelled"


def test_cancelling_a_running_run_asks_whoever_measures_it(store: Store) -> None:
    run = store.add_run(experiment())
    store.start_run(run.id)
    assert not store.is_cancel_requested(run.id)
    store.cancel_run(run.id)
    assert store.is_cancel_requested(run.id)
    assert store.status(run.id) == "running"


def test_cancelling_a_finished_run_changes_nothing(store: Store) -> None:
    run = finished(store)
    store.cancel_run(run.id)
    assert store.run(run.id) == run


def test_running_runs_become_interrupted_keep_their_outcomes_and_queued_ones_stay_queued(store: Store) -> None:
    running, queued = store.add_run(experiment()), store.add_run(experiment())
    store.start_run(running.id)
    store.add_outcome(running.id, measurement())
    assert store.interrupt_unfinished() == [running.id]
    assert store.status(queued.id) == "queued"
    run = store.run(running.id)
    assert (run.status, run.message, run.outcomes) == ("interrupted", SERVER_STOPPED, (measurement(),))


def test_a_done_run_is_found_by_experiment_and_environment(store: Store) -> None:
    finished(store)
    newest = finished(store)
    digest, fingerprint = experiment().digest, ENVIRONMENT.fingerprint
    assert store.find_done(digest, fingerprint) == newest
    assert store.find_done(experiment(8).digest, fingerprint) is None
    assert store.find_done(digest, replace(ENVIRONMENT, threads=1).fingerprint) is None
    # Virtual machines of one name with other instructions: a data folder travels, its numbers do not.
    elsewhere = replace(ENVIRONMENT, device=replace(ENVIRONMENT.device, capability="AVX512"))
    assert store.find_done(digest, elsewhere.fingerprint) is None


@pytest.mark.parametrize(("kind", "is_reused"), [("unavailable", True), ("crashed", False), ("timeout", False)])
def test_a_run_with_a_failure_that_may_not_repeat_is_not_reused(store: Store, kind: str, is_reused: bool) -> None:
    run = finished(store)
    store.add_outcome(run.id, failure(kind=kind))
    assert (store.find_done(run.experiment.digest, ENVIRONMENT.fingerprint) is not None) == is_reused


@pytest.mark.parametrize("status", ["queued", "running", "cancelled", "interrupted", "failed"])
def test_only_a_done_run_is_reused(store: Store, status: str) -> None:
    store.import_run(replace(_old_run(1), status=status))
    assert store.find_done(experiment().digest, ENVIRONMENT.fingerprint) is None


def test_a_deleted_run_is_gone_with_its_outcomes_and_files(store: Store) -> None:
    run = finished(store)
    store.work_folder(run.id).mkdir(parents=True)
    store.delete_run(run.id)
    assert store.runs() == []
    assert not store.work_folder(run.id).exists()
    with sqlite3.connect(store.path) as other:
        assert other.execute("SELECT COUNT(*) FROM outcomes").fetchone() == (0,)
    other.close()


def test_a_running_run_is_not_deleted(store: Store) -> None:
    run = store.add_run(experiment())
    store.start_run(run.id)
    with pytest.raises(UnknownKey, match="Cancel it first"):
        store.delete_run(run.id)
    assert store.status(run.id) == "running"


def test_an_imported_run_is_stored_once(store: Store) -> None:
    assert store.import_run(_old_run(1)) == store.import_run(_old_run(1)) == store.run("old-1")
    assert len(store.runs()) == 1


def test_an_imported_run_with_a_known_id_but_other_content_gets_an_id_of_its_own(store: Store) -> None:
    store.import_run(_old_run(1))
    other = store.import_run(replace(_old_run(1), outcomes=(failure(),)))
    assert other.id != "old-1"
    assert store.run(other.id).outcomes == (failure(),)
    assert store.run("old-1") == _old_run(1)


@pytest.mark.parametrize("status", ["queued", "running"])
def test_a_run_exported_before_its_end_is_never_put_in_the_queue(store: Store, status: str) -> None:
    imported = store.import_run(replace(_old_run(1), status=status))
    assert imported.status == "interrupted"
    assert store.next_queued() is None


def test_shipped_samples_can_be_read_by_id(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "samples", lambda: [_old_run(7)])
    assert store.run("old-7") == _old_run(7)
    assert store.runs() == []


def test_a_sample_file_is_read_once_until_it_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample_runs, "SAMPLES_FOLDER", tmp_path)
    results_csv.write([_old_run(1)], tmp_path / "cpu.csv")
    first = samples()
    assert first == [_old_run(1)]
    assert samples()[0] is first[0]
    results_csv.write([_old_run(2), _old_run(3)], tmp_path / "cpu.csv")
    assert [run.id for run in samples()] == ["old-2", "old-3"]


def test_the_machine_last_seen_is_remembered(store: Store) -> None:
    assert store.machine() is None
    store.set_machine(MACHINE)
    store.set_machine(replace(MACHINE, hostname="renamed"))
    assert Store().machine() == replace(MACHINE, hostname="renamed")


def test_a_machine_described_by_another_version_is_forgotten(store: Store) -> None:
    with sqlite3.connect(store.path) as other:
        other.execute("INSERT INTO remembered VALUES ('machine', '{\"old\": 1}')")
    other.close()
    assert store.machine() is None


def test_a_comparison_set_comes_back_with_its_frames(store: Store) -> None:
    frame = pd.DataFrame({"device": ["A10", None], "latency_s": [0.01, float("nan")], "round": [1, 2]})
    set_id = store.add_set(
        "Two GPUs", run_ids=["a"], frames={"../x.csv": frame}, details={"baseline": "baseline/eager"}
    )
    found = Store().get_set(set_id)
    assert (found.name, found.run_ids, dict(found.details)) == ("Two GPUs", ("a",), {"baseline": "baseline/eager"})
    pd.testing.assert_frame_equal(found.frames["../x.csv"], frame)
    assert [(item.id, item.frame_names) for item in store.list_sets()] == [(set_id, ("../x.csv",))]


def test_a_comparison_set_can_be_renamed_and_deleted(store: Store) -> None:
    set_id = store.add_set("One", frames={"a.csv": pd.DataFrame({"x": [1]})})
    store.rename_set(set_id, "Other")
    assert store.get_set(set_id).name == "Other"
    store.delete_set(set_id)
    assert store.list_sets() == []
    assert list((store.folder / "sets").iterdir()) == []
    for refused in (store.get_set, store.delete_set, lambda gone: store.rename_set(gone, "x")):
        with pytest.raises(UnknownKey, match="no comparison set"):
            refused(set_id)


def test_a_full_disk_is_a_sentence_and_loses_nothing_earlier(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    run = store.add_run(experiment())
    store.add_outcome(run.id, measurement())
    with sqlite3.connect(store.path) as other:
        (pages,) = other.execute("PRAGMA page_count").fetchone()
    other.close()
    monkeypatch.setattr(Store, "_connect", _limited_to(pages))
    with pytest.raises(StorageError, match=r"is full, so nothing more can be saved\. Free some space"):
        store.add_outcome(run.id, measurement(latency_s=(0.01,) * 10_000))
    assert store.run(run.id).outcomes == (measurement(),)


def _limited_to(pages: int):  # type: ignore[no-untyped-def]
    connect = Store._connect

    @contextmanager
    def limited(store: Store) -> Iterator[sqlite3.Connection]:
        with connect(store) as connection:
            connection.execute(f"PRAGMA max_page_count = {pages}")
            yield connection

    return limited


def test_a_data_folder_below_a_file_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("LATENCY_LAB_DATA", str(tmp_path / "file" / "data"))
    with pytest.raises(StorageError, match=r"file/data cannot be used .*: Not a directory\. .*set LATENCY_LAB_DATA"):
        Store()


def test_a_file_that_is_no_database_is_a_sentence(data_folder: Path) -> None:
    data_folder.mkdir()
    (data_folder / "latency-lab.sqlite3").write_bytes(b"holiday pictures" * 100)
    with pytest.raises(StorageError, match="file is not a database"):
        Store()


def test_a_comparison_set_that_cannot_be_written_is_a_sentence(store: Store) -> None:
    (store.folder / "sets").write_text("in the way")
    with pytest.raises(StorageError, match="cannot be used to store results"):
        store.add_set("x", frames={"a": pd.DataFrame({"x": [1]})})
    assert store.list_sets() == []


def test_a_database_of_a_newer_version_is_left_alone(store: Store) -> None:
    with sqlite3.connect(store.path) as other:
        other.execute("PRAGMA user_version = 99")
    other.close()
    with pytest.raises(StorageError, match="newer Latency Lab"):
        Store()


def test_an_older_database_is_brought_up_to_date_and_keeps_its_runs(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = finished(store)
    monkeypatch.setattr(database, "MIGRATIONS", (*database.MIGRATIONS, "ALTER TABLE runs ADD COLUMN x TEXT;\n"))
    assert Store().run(run.id) == run
    assert Store().run(run.id) == run


def test_a_mistake_in_our_own_sql_is_not_hidden(store: Store) -> None:
    with pytest.raises(sqlite3.ProgrammingError):
        store._rows("SELECT ?")


def test_many_threads_write_at_once(store: Store) -> None:
    run = store.add_run(experiment())
    writers = [
        threading.Thread(target=lambda n=number: [store.add_outcome(run.id, measurement(process=n)) for _ in range(5)])
        for number in range(8)
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert len(store.run(run.id).outcomes) == 40


def test_a_run_grows_while_it_is_read(store: Store) -> None:
    run = store.add_run(experiment())
    store.add_outcome(run.id, measurement())
    assert len(store.run(run.id).outcomes) == 1
    store.add_outcome(run.id, failure())
    assert store.run(run.id).outcomes == (measurement(), failure())


def test_a_deleted_runs_outcomes_never_reappear_in_a_later_run(store: Store) -> None:
    run = finished(store)
    store.delete_run(run.id)
    later = store.add_run(experiment())
    store.add_outcome(later.id, failure())
    assert store.run(later.id).outcomes == (failure(),)


def test_times_are_utc(store: Store) -> None:
    submitted = pd.Timestamp(store.add_run(experiment()).submitted_at)
    assert submitted.utcoffset().total_seconds() == 0
    assert abs(submitted.timestamp() - time.time()) < 5
