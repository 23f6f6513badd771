"""pytest-benchmark's JSON (`--benchmark-json`): one entry per test, in seconds; single rounds with `--benchmark-save-data`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engine.imports.reported import Record, finish, is_time, latency, samples, text, whole
from engine.imports.understanding import Corrections, Imported

FORMAT = "pytest-benchmark JSON"
_STATISTICS = ("median", "mean")


def matches(document: dict[str, Any]) -> bool:
    """Whether a JSON document was written by pytest-benchmark."""
    entries = document.get("benchmarks")
    return (
        isinstance(entries, list)
        and bool(entries)
        and all(isinstance(entry, dict) and isinstance(entry.get("stats"), dict) for entry in entries)
    )


def read(file: str, document: dict[str, Any], encoding: str, corrections: Corrections) -> Imported:
    """Every test is a technique; the machine's CPU is the device."""
    entries = document["benchmarks"]
    device = _cpu(document.get("machine_info"))
    records = [record for row, entry in enumerate(entries, start=1) for record in _records(row, entry, device)]
    return finish(file, FORMAT, encoding, records, corrections, rows_read=len(entries))


def _cpu(machine: object) -> str | None:
    cpu = machine.get("cpu") if isinstance(machine, dict) else None
    return text(cpu.get("brand_raw")) if isinstance(cpu, dict) else None


def _records(row: int, entry: dict[str, Any], device: str | None) -> Iterator[Record]:
    stats = entry["stats"]
    parameters = entry.get("params")
    setting = (
        ", ".join(f"{name}={value}" for name, value in parameters.items()) if isinstance(parameters, dict) else None
    )
    key = {
        "technique": text(entry.get("name")),
        "operator": text(entry.get("group")),
        "device": device,
        "setting": setting,
        "row": row,
    }
    data = stats.get("data")
    if isinstance(data, list) and data and all(map(is_time, data)):
        # A round of a short test is the mean of several calls.
        yield from samples(data, process=0, calls_per_sample=whole(stats.get("iterations", "")), **key)
    for statistic in _STATISTICS:
        if is_time(stats.get(statistic)):
            yield latency(stats[statistic], statistic=statistic, **key)
