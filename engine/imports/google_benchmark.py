"""google-benchmark's JSON (`--benchmark_format=json`): one entry per run, each with its own time unit."""

from __future__ import annotations

from typing import Any

from engine.imports.reported import Record, failure, finish, is_time, latency, text
from engine.imports.understanding import Corrections, Imported
from engine.imports.units import find_unit

FORMAT = "google-benchmark JSON"
MAX_REPETITIONS = 2**53
"""What is larger is no count, and columns of whole numbers end at 64 bits."""
_AGGREGATES = {"median": "median", "mean": "mean"}


def matches(document: dict[str, Any]) -> bool:
    """Whether a JSON document was written by google-benchmark."""
    entries = document.get("benchmarks")
    return (
        isinstance(entries, list)
        and bool(entries)
        and all(isinstance(entry, dict) and "stats" not in entry for entry in entries)
        and any("time_unit" in entry for entry in entries)
    )


def read(file: str, document: dict[str, Any], encoding: str, corrections: Corrections) -> Imported:
    """Real times of every benchmark: repetitions as samples, else the aggregates the file reports."""
    entries = document["benchmarks"]
    notes: list[str] = []
    records = []
    for row, entry in enumerate(entries, start=1):
        record = _record(row, entry)
        if record is None:
            notes.append(f"{str(entry.get('name'))[:80]!r} (row {row}) is not a time and is not used.")
        else:
            records.append(record)
    sampled = {record["technique"] for record in records if record.get("statistic") == "sample"}
    kept = [record for record in records if record.get("statistic") == "sample" or record["technique"] not in sampled]
    return finish(file, FORMAT, encoding, kept, corrections, rows_read=len(entries), notes=notes)


def _record(row: int, entry: dict[str, Any]) -> Record | None:
    """One reading; None for complexity fits, deviations and other lines that are no time."""
    key = {"technique": text(entry.get("run_name") or entry.get("name")), "row": row}
    if entry.get("error_occurred"):
        return failure(str(entry.get("error_message", "error"))[:200], **key)
    unit, real_time = find_unit(str(entry.get("time_unit", "ns"))), entry.get("real_time")
    if unit is None or unit.kind != "seconds" or not is_time(real_time):
        return None
    seconds = float(real_time) * unit.factor  # type: ignore[arg-type]
    if entry.get("run_type") == "aggregate":
        statistic = _AGGREGATES.get(str(entry.get("aggregate_name")))
        return latency(seconds, statistic=statistic, **key) if statistic else None
    calls = _count(entry.get("iterations"))  # the time is the mean of so many
    key |= {"process": 0, "call": _index(entry.get("repetition_index")), "calls_per_sample": calls}
    return latency(seconds, statistic="sample", **key)


def _count(value: object) -> int | None:
    """How many calls one repetition made; None where the file does not say."""
    return _index(value) or None


def _index(value: object) -> int | None:
    """Which repetition it was; None for what is no place in a list."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < MAX_REPETITIONS:
        return value
    return None
