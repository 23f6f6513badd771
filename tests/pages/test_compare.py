"""The Compare page: empty, filled by uploads, asking, refusing, showing a stored set; hostile text stays text."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import NumberInput

from engine import results_csv
from engine.device_comparison.collection import Collection, of_set
from engine.imports import Imported, merged, read
from engine.imports.understanding import ROLES
from engine.store import Store, sample_runs
from pages.parts import compare_add, compare_understood
from tests.pages.conftest import OpenPage
from tests.pages.made_runs import made_run
from tests.uploads import path_of, read_upload


@pytest.fixture
def app(open_page: OpenPage) -> AppTest:
    """The Compare page on an empty store."""
    return open_page("compare.py")


def upload(app: AppTest, *starts: str) -> AppTest:
    files = [(path_of(start).name, path_of(start).read_bytes(), "text/csv") for start in starts]
    app.file_uploader[0].set_value(files)
    return app.run()


def texts(app: AppTest) -> str:
    parts = [*app.text, *app.markdown, *app.caption]
    return "\n".join(part.value for part in parts)


def every_row(app: AppTest) -> pd.DataFrame:
    (table,) = [each.value for each in app.dataframe if "against_device" in each.value]
    return table


def charts(app: AppTest) -> list[object]:
    return app.get("plotly_chart")


def test_an_empty_page_says_what_will_be_here(app: AppTest) -> None:
    assert not app.exception
    assert "Nothing to compare yet" in texts(app)


def test_two_files_make_a_set_with_a_link_and_a_bad_one_is_refused_beside_them(app: AppTest) -> None:
    upload(app, "U10", "U20", "U19a")
    assert not app.exception
    assert "not a text table but a PNG image" in texts(app)
    assert len(charts(app)) >= 2
    (summary,) = Store().list_sets()
    assert app.query_params["set"] == summary.id
    assert summary.frame_names == (path_of("U10").name, path_of("U19a").name)
    rows = every_row(app)
    assert rows["device"].tolist() == ["A", "A", "B", "B", "A100", "A100"]


def test_a_file_without_a_unit_waits_for_the_answer(app: AppTest) -> None:
    upload(app, "U22a", "U22b")
    assert "In which unit are the values of latency?" in texts(app)
    assert not charts(app)
    for unit in ("s", "ms"):
        next(box for box in app.selectbox if box.label == "Unit").set_value(unit).run()
    assert not app.exception
    rows = every_row(app)
    assert rows["value"].tolist() == ["6.10 ms", "4.00 ms", "12.2 ms", "9.60 ms"]
    assert rows["against_device"].tolist() == pytest.approx([1, 1, 0.5, 4.0 / 9.6])


def test_a_stored_set_is_shown_by_its_link_alone(open_page: OpenPage) -> None:
    collection = Collection().with_file(read_upload("U19a"), "a").with_file(read_upload("U19b"), "b")
    set_id = Store().add_set("Precisions", frames=collection.frames(), details=collection.details())
    app = open_page("compare.py", set=set_id)
    assert not app.exception
    assert "not the same work" in " ".join(every_row(app)["reason"])
    assert app.text_input(key=f"name_{set_id}").value == "Precisions"


def test_a_browser_that_still_holds_an_old_name_does_not_write_it_back(open_page: OpenPage) -> None:
    collection = Collection().with_file(read_upload("U10"), "a")
    store = Store()
    set_id = store.add_set("Old", frames=collection.frames(), details=collection.details())
    app = open_page("compare.py", set=set_id)
    store.rename_set(set_id, "New")
    app.selectbox(key="against").set_value("B").run()
    assert (store.set_summary(set_id).name, app.text_input(key=f"name_{set_id}").value) == ("New", "New")
    app.text_input(key=f"name_{set_id}").set_value("Newest").run()
    assert not app.exception
    assert (store.set_summary(set_id).name, app.text_input(key=f"name_{set_id}").value) == ("Newest", "Newest")


def test_a_link_to_a_set_that_is_gone_is_one_sentence(open_page: OpenPage) -> None:
    app = open_page("compare.py", set="gone")
    assert not app.exception
    assert "There is no comparison set 'gone'" in texts(app)


def test_the_same_file_twice_is_counted_once_and_said(app: AppTest) -> None:
    data = path_of("U10").read_bytes()
    app.file_uploader[0].set_value([("one.csv", data, "text/csv"), ("two.csv", data, "text/csv")])
    app.run()
    assert "two.csv: the same content as 'one.csv', which is here already" in texts(app)
    assert len(every_row(app)) == 4


def test_removing_the_other_file_lets_the_refused_one_join(app: AppTest) -> None:
    drop(app, same="device,technique,latency_ms\nA,eager,6\n", same_="device,technique,latency_ms\nB,eager,9\n")
    assert "same.csv: another file of this name is here already" in texts(app)
    app.button(key="remove_0").click().run()
    assert not app.exception
    app.run()
    assert every_row(app)["device"].tolist() == ["B"]
    assert "another file of this name" not in texts(app)


def test_what_another_browser_added_meanwhile_stays(open_page: OpenPage, monkeypatch: pytest.MonkeyPatch) -> None:
    collection, store = Collection().with_file(read_upload("U10"), "a"), Store()
    set_id = store.add_set("Shared", frames=collection.frames(), details=collection.details())
    app = open_page("compare.py", set=set_id)

    def read_slowly(*arguments: Any) -> Imported:
        grown = of_set(store.get_set(set_id)).with_file(read_upload("U14"), "b")
        assert store.change_set(set_id, grown.version, run_ids=(), frames=grown.frames(), details=grown.details())
        monkeypatch.setattr(compare_add, "read", read)
        return read(*arguments)

    monkeypatch.setattr(compare_add, "read", read_slowly)
    upload(app, "U19a")
    assert not app.exception
    assert [name[:3] for name in store.set_summary(set_id).frame_names] == ["U10", "U14", "U19"]
    assert set(every_row(app)["device"]) >= {"A", "B", "A100"}


def test_all_rows_can_be_divided_by_one_technique_on_one_device(app: AppTest, open_page: OpenPage) -> None:
    """CUDA and OpenCL stand under different devices in this file: technique by technique nothing matches."""
    upload(app, "U04")
    app.selectbox(key="against").set_value("device not named").run()
    app.selectbox(key="against_technique").set_value("OpenCL").run()
    assert not app.exception
    rows = every_row(app).set_index(["technique", "point"])
    assert rows.loc[("CUDA", "matmul"), "against_device"] == pytest.approx(1.273, rel=1e-3)
    by_link = open_page(
        "compare.py", set=app.query_params["set"], against="device not named", against_technique="OpenCL"
    )
    assert every_row(by_link)["against_device"].equals(every_row(app)["against_device"])
    (table,) = [each for each in app.dataframe if "against_device" in each.value]
    assert '"help"' in table.proto.columns


def test_more_than_twenty_files_are_refused_one_by_one(app: AppTest) -> None:
    rows = [f"device,technique,latency_ms\nD{place},eager,{place + 1}\n".encode() for place in range(21)]
    app.file_uploader[0].set_value([(f"{place}.csv", data, "text/csv") for place, data in enumerate(rows)])
    app.run()
    assert not app.exception
    assert "20.csv: a comparison set holds at most 20 files" in texts(app)
    assert len(every_row(app)) == 20


def test_hostile_text_is_never_markdown(app: AppTest) -> None:
    upload(app, "U18")
    assert not app.exception
    formatted = "\n".join(part.value for part in [*app.markdown, *app.caption])
    assert re.search(r"(?<!\\)(<img|\]\(javascript|\$x|\*\*bold)", formatted) is None
    for chart in charts(app):
        assert "<img src" not in chart.proto.spec


def test_exported_and_uploaded_again_the_numbers_are_the_same(app: AppTest, open_page: OpenPage) -> None:
    data = results_csv.to_bytes([made_run("a")])
    app.file_uploader[0].set_value([("run.csv", data, "text/csv")])
    app.run()
    assert not app.exception
    shown = every_row(app)
    again = open_page("compare.py")
    stored = Store().get_set(app.query_params["set"])
    exported = merged.to_bytes(stored.frames["run.csv"])
    again.file_uploader[0].set_value([("merged.csv", exported, "text/csv")])
    again.run()
    assert every_row(again).drop(columns="source").equals(shown.drop(columns="source"))


def test_a_run_measured_here_joins_the_set(open_page: OpenPage) -> None:
    Store().import_run(made_run("mine", label="this machine"))
    app = open_page("compare.py")
    app.multiselect(key="own_runs").set_value(["mine"]).run()
    app.button(key="add_runs").click().run()
    assert not app.exception
    assert every_row(app)["device"].unique().tolist() == ["Hand-made CPU, 2 cores"]


def test_a_device_can_be_named_after_the_file_was_understood(app: AppTest) -> None:
    upload(app, "U02a")
    next(box for box in app.selectbox if box.label == "Unit").set_value("ms").run()
    assert every_row(app)["device"].unique().tolist() == ["A10"]
    next(box for box in app.text_input if box.label == "Device A10").set_value("A10G")
    next(button for button in app.button if button.label == "Apply").click().run()
    assert not app.exception
    assert every_row(app)["device"].unique().tolist() == ["A10G"]
    assert len(Store().list_sets()) == 1


def test_a_file_is_removed_and_the_set_deleted(app: AppTest) -> None:
    upload(app, "U10", "U14")
    app.button(key="remove_1").click().run()
    assert every_row(app)["device"].unique().tolist() == ["A", "B"]
    app.button(key="delete_set").click().run()
    assert not app.exception
    assert Store().list_sets() == []
    assert "Nothing to compare yet" in texts(app)


def test_the_shipped_samples_join_with_one_click(
    open_page: OpenPage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results_csv.write([made_run("shipped")], tmp_path / "sample.csv")
    monkeypatch.setattr(sample_runs, "SAMPLES_FOLDER", tmp_path)
    app = open_page("compare.py")
    app.button(key="add_samples").click().run()
    assert not app.exception
    assert every_row(app)["technique"].tolist() == ["Eager", "torch.compile"]


def test_a_price_gives_every_row_its_cost(app: AppTest) -> None:
    upload(app, "U10")
    price_of(app, "A").set_value(3.6).run()
    assert not app.exception
    assert every_row(app)["cost_per_million_calls"].dropna().tolist() == pytest.approx([9.0, 6.0])


def price_of(app: AppTest, device: str) -> NumberInput:
    return next(box for box in app.number_input if box.label == device)


def test_a_price_stays_with_its_device_when_another_file_leaves(app: AppTest) -> None:
    upload(app, "U14", "U10")
    price_of(app, "B").set_value(3.6).run()
    app.button(key="remove_0").click().run()
    assert not app.exception
    priced = every_row(app).dropna(subset="cost_per_million_calls")
    assert priced["device"].unique().tolist() == ["B"]
    assert price_of(app, "B").value == 3.6


WAITING = "device,technique,latency\n{device},eager,{time}\n"
"""A file that says no unit."""


def drop(app: AppTest, **files: str) -> None:
    """Files of these names and contents, in the order given; a trailing underscore makes a name differ in Python only."""
    app.file_uploader[0].set_value(
        [(f"{name.rstrip('_')}.csv", data.encode(), "text/csv") for name, data in files.items()]
    )
    app.run()


def answer(app: AppTest, unit: str) -> None:
    """The first open question about a unit."""
    next(box for box in app.selectbox if box.label == "Unit").set_value(unit).run()
    assert not app.exception


def test_a_namesake_that_waited_too_is_refused_and_never_takes_the_others_place(app: AppTest) -> None:
    drop(app, same=WAITING.format(device="A", time=6), same_=WAITING.format(device="B", time=9))
    answer(app, "ms")
    answer(app, "ms")
    assert "same.csv: another file of this name is here already" in texts(app)
    assert every_row(app)[["device", "value"]].values.tolist() == [["A", "6.00 ms"]]
    next(box for box in app.text_input if box.label == "Device A").set_value("A100")
    next(button for button in app.button if button.label == "Apply").click().run()
    assert not app.exception
    assert every_row(app)[["device", "value"]].values.tolist() == [["A100", "6.00 ms"]]


def test_the_same_content_under_two_names_is_counted_once_when_both_waited(app: AppTest) -> None:
    drop(app, one=WAITING.format(device="A", time=6), two=WAITING.format(device="A", time=6))
    answer(app, "ms")
    answer(app, "ms")
    assert "two.csv: the same content as 'one.csv', which is here already" in texts(app)
    assert len(every_row(app)) == 1


def test_a_decimal_mark_that_nobody_asked_about_can_be_corrected(app: AppTest) -> None:
    drop(app, german="device;technique;latency_ms\nA;eager;1.234\nA;compile;2.468\n")
    assert every_row(app)["value"].tolist() == ["1.23 ms", "2.47 ms"]
    next(box for box in app.selectbox if box.label == "Decimal mark").set_value(",")
    next(button for button in app.button if button.label == "Apply").click().run()
    assert not app.exception
    assert every_row(app)["value"].tolist() == ["1.23 s", "2.47 s"]


def test_a_unit_of_another_kind_is_said_before_it_is_applied() -> None:
    columns = pd.DataFrame({"column": ["took"], "meaning": [ROLES["latency"]], "unit": ["MiB"]})
    (said,) = compare_understood._misfits(columns)
    assert said.startswith("'took': MiB is no unit of")
    assert compare_understood._misfits(columns.assign(unit=None)) == []


def test_the_heading_of_a_column_is_the_devices_name_letter_by_letter(app: AppTest) -> None:
    drop(app, one=WAITING.replace("latency", "latency_ms").format(device="A_1 *b*", time=6))
    (table,) = [each for each in app.dataframe if "against_device" in each.value]
    assert '"over A_1 *b*"' in table.proto.columns
