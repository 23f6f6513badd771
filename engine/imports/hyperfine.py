"""hyperfine's JSON (`--export-json`) and CSV (`--export-csv`): one result per command, in seconds.

hyperfine starts a new process for every run, so each time is a process set of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engine.imports.reported import Record, finish, is_time, latency, number, text
from engine.imports.table import Table
from engine.imports.understanding import Corrections, Imported

FORMAT = "hyperfine"
_COLUMNS = {"command", "mean", "stddev", "median", "user", "system", "min", "max"}
_STATISTICS = ("median", "mean")


def matches(document: dict[str, Any]) -> bool:
    """Whether a JSON document is an export of hyperfine."""
    results = document.get("results")
    return (
        isinstance(results, list)
        and bool(results)
        and all(isinstance(one, dict) and "command" in one for one in results)
    )


def matches_table(table: Table) -> bool:
    """Whether the columns are those of hyperfine's CSV."""
    return set(table.names) >= _COLUMNS


def read(file: str, document: dict[str, Any], encoding: str, corrections: Corrections) -> Imported:
    """The times of every command; medians and means where times were not exported."""
    results = document["results"]
    records = [record for row, result in enumerate(results, start=1) for record in _records(row, result)]
    return finish(file, f"{FORMAT} JSON", encoding, records, corrections, rows_read=len(results))


def read_table(file: str, table: Table, encoding: str, corrections: Corrections) -> Imported:
    """The medians and means of every command: this export holds no single times."""
    records = [record for row, cells in table.rows() for record in _summaries(row, cells["command"], cells)]
    return finish(
        file, f"{FORMAT} CSV", encoding, records, corrections,
        rows_read=table.rows_read, set_aside=table.set_aside, delimiter=table.delimiter, notes=table.notes,
    )  # fmt: skip


def _records(row: int, result: dict[str, Any]) -> Iterator[Record]:
    times = result.get("times")
    if not isinstance(times, list) or not times or not all(map(is_time, times)):
        yield from _summaries(row, result["command"], result)
        return
    for process, seconds in enumerate(times):
        yield latency(
            seconds,
            statistic="sample",
            technique=text(result["command"]),
            process=process,
            row=row,
            setting=_parameters(result),
        )


def _summaries(row: int, command: object, result: dict[str, Any]) -> Iterator[Record]:
    for statistic in _STATISTICS:
        seconds = number(result.get(statistic))
        if seconds and seconds > 0:
            yield latency(seconds, statistic=statistic, technique=text(command), row=row, setting=_parameters(result))


def _parameters(result: dict[str, Any]) -> str | None:
    """Values of `--parameter-scan`, which keep results of one command apart."""
    parameters = result.get("parameters")
    found = dict(parameters) if isinstance(parameters, dict) else {}
    found |= {
        name.removeprefix("parameter_"): value for name, value in result.items() if str(name).startswith("parameter_")
    }
    return ", ".join(f"{name}={value}" for name, value in found.items()) or None
