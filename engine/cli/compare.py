"""`python -m engine compare`: result files of any tool side by side, as the Compare page shows them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from engine import formatting
from engine.cli.console import OUT, complain, plain, say, say_aside
from engine.device_comparison import devices_of, measures_of, summarise, usual_baseline, variants_of
from engine.device_comparison.collection import Collection, check_new, digest_of
from engine.device_comparison.view import View
from engine.errors import UnknownKey, UnreadableFile, UserError
from engine.imports import Corrections, Imported, read, text
from engine.imports.units import UNITS

EXIT_REFUSED = 1
_COLUMNS = {
    "device": "Device",
    "technique": "Technique",
    "point": "Point",
    "value": "Value",
    "evidence": "Evidence",
    "speedup": "Own speed-up",
    "verdict": "Verdict",
    "against_device": "Over",
    "notes": "Notes",
}
_INTERVALS = {"speedup": "interval", "against_device": "against_device_interval"}

Files = Annotated[list[Path], typer.Argument(help="Result files: CSV of any tool, JSON of a benchmark tool.")]
Unit = Annotated[str | None, typer.Option(help="Unit of times where a file does not say it: s, ms, us or ns.")]
Device = Annotated[str | None, typer.Option(help="Reference device; the first one unless given.")]
Technique = Annotated[
    str | None, typer.Option(help="Divide all rows by this technique on the reference device, not each by its own.")
]
Measure = Annotated[
    str | None, typer.Option(help="Which measure of the files to compare; the first, times before rates.")
]
Baseline = Annotated[str | None, typer.Option(help="Technique the others are divided by on their own device.")]
Json = Annotated[bool, typer.Option("--json", help="Rows as JSON.")]


def compare(
    files: Files,
    *,
    unit: Unit = None,
    against: Device = None,
    against_technique: Technique = None,
    baseline: Baseline = None,
    measure: Measure = None,
    as_json: Json = False,
) -> None:
    """Devices side by side: fair ratios with their verdicts; exit code 1 when a file was refused."""
    if unit is not None and unit not in UNITS:
        raise UnknownKey(f"Unit {unit!r} does not exist; choose one of {', '.join(UNITS)}.")
    collection, refused = _collect(files, unit)
    if not collection.is_empty:
        view = _view(collection, measure, against, against_technique, baseline)
        if as_json:
            say(json.dumps(view.table.astype(object).where(view.table.notna(), None).to_dict("records"), indent=2))
        else:
            _show(view)
    if refused:
        raise typer.Exit(EXIT_REFUSED)


def _collect(files: list[Path], unit: str | None) -> tuple[Collection, int]:
    collection, refused = Collection(), 0
    for path in files:
        try:
            data = _bytes_of(path)
            check_new(collection, path.name, digest_of(data))
            collection = collection.with_file(_read(path.name, data, unit), digest_of(data))
        except UserError as error:
            complain(str(error))
            refused += 1
    return collection, refused


def _bytes_of(path: Path) -> bytes:
    try:
        text.check_size(path.name, path.stat().st_size)
        with path.open("rb") as file:
            return file.read(text.MAX_BYTES + 1)  # a pipe does not say its size
    except OSError as error:
        raise UnreadableFile(f"{path} cannot be read: {error.strerror}. Check the path and its permissions.") from error


def _read(name: str, data: bytes, unit: str | None) -> Imported:
    """The file with `unit` as the answer to what it does not say; other open questions refuse it."""
    file = read(name, data)
    asked = [column for question in file.understanding.questions for column in question.columns]
    if unit is not None and asked:
        file = read(name, data, Corrections(units=dict.fromkeys(asked, unit)))
    if not file.is_complete:
        hint = "Answer with --unit" if asked else "Answer it on the Compare page"
        raise UnreadableFile(f"{name}: {file.understanding.questions[0].text} {hint}.")
    for note in file.understanding.notes:
        say_aside(f"{name}: {note}")
    for cell in file.understanding.set_aside:
        say_aside(f"{name}: row {cell.row}, column {cell.column!r} is {cell.value!r}: {cell.reason}; not used.")
    return file


def _view(
    collection: Collection, measure: str | None, against: str | None, technique: str | None, baseline: str | None
) -> View:
    arms = summarise(collection.readings([]))
    measures = list(measures_of(arms))
    measure = _one_of("Measure", measure or measures[0], measures)
    arms = [arm for arm in arms if arm.measure == measure]
    return View(
        arms=arms,
        reference=_one_of("Device", against or arms[0].device, devices_of(arms)),
        reference_technique=_one_of("Technique", technique, variants_of(arms)) if technique else None,
        baseline=baseline or usual_baseline(arms),
        prices={},
    )


def _one_of(what: str, name: str, known: list[str]) -> str:
    if name not in known:
        raise UnknownKey(f"{what} {name!r} is in no file; choose one of {', '.join(known)}.")
    return name


def _show(view: View) -> None:
    table = Table(*_COLUMNS.values())
    table.columns[list(_COLUMNS).index("against_device")].header = plain(f"Over {view.reference_label}")
    notes: dict[str, int] = {}
    for row in view.table.astype(object).to_dict("records"):
        remarks = [row[column] for column in ("reason", "badges") if row[column]]
        numbers = [notes.setdefault(remark, len(notes) + 1) for remark in remarks]
        shown = {name: _with_interval(row, name) for name in _INTERVALS} | {"notes": ", ".join(map(str, numbers))}
        table.add_row(*(plain(str((row | shown)[name])) for name in _COLUMNS))
    OUT.print(table)
    _show_remarks(view, notes)
    say(view.paragraph)


def _with_interval(row: Mapping[Any, Any], name: str) -> str:
    interval = row[_INTERVALS[name]]
    return formatting.speedup(row[name]) + ("" if interval == formatting.UNKNOWN else f" {interval}")


def _show_remarks(view: View, notes: dict[str, int]) -> None:
    """Reasons and badges, as the rows number them; then the rows without a partner."""
    for remark, number in notes.items():
        say(f"Note {number}: {remark}")
    for arm in view.unmatched:
        say(f"Only on one side: {arm.device}, {arm.label}, {arm.point}.")
