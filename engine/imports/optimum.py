"""optimum-benchmark's CSV and JSON: dotted keys below `config.` and `report.<target>.latency.`, in seconds unless said.

`values` is a list of single times inside one cell. It is read as JSON, never evaluated: a cell that is not a plain list of
numbers is refused and the summary beside it used instead.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from engine.imports import device_names
from engine.imports.reported import Record, finish, is_time, latency, number, samples, text, whole
from engine.imports.table import Table
from engine.imports.understanding import Corrections, Imported, SetAside
from engine.imports.units import find_unit

FORMAT = "optimum-benchmark"
_LATENCY = re.compile(r"^report\.(?P<target>\w+)\.latency\.(?P<field>\w+)$")
_SUMMARIES = {"p50": "median", "mean": "mean", "p95": "p95", "p99": "p99"}
_NOT_CALLS = ("load", "load_model", "load_dataset", "warmup")
"""Targets that are reported once and are set-up, not calls."""
_SHAPES = "config.scenario.input_shapes."
Flat = Mapping[str, Any]


def matches_table(table: Table) -> bool:
    """Whether some column is a latency of optimum-benchmark."""
    return any(_LATENCY.match(name) for name in table.names)


def matches(document: dict[str, Any]) -> bool:
    """Whether a JSON document is a benchmark of optimum-benchmark."""
    return isinstance(document.get("config"), dict) and isinstance(document.get("report"), dict)


def read(file: str, document: dict[str, Any], encoding: str, corrections: Corrections) -> Imported:
    """One benchmark, as the tool writes it to `benchmark.json`."""
    return _read(file, [(1, flatten(document))], encoding, corrections)


def read_table(file: str, table: Table, encoding: str, corrections: Corrections) -> Imported:
    """One benchmark per row."""
    return _read(file, list(table.rows()), encoding, corrections, table)


def _read(
    file: str, rows: list[tuple[int, Flat]], encoding: str, corrections: Corrections, table: Table | None = None
) -> Imported:
    set_aside = list(table.set_aside) if table else []
    cut_off = len(set_aside)
    records = [record for row, flat in rows for record in _records(row, flat, set_aside)]
    has_memory = any("config.environment.gpu_vram_mb" in flat for _, flat in rows)
    return finish(
        file,
        f"{FORMAT} {'CSV' if table else 'JSON'}",
        encoding,
        records,
        corrections,
        rows_read=len(rows) + cut_off,
        set_aside=set_aside,
        notes=["gpu_vram_mb is in bytes, whatever its name says, and is not used."] if has_memory else (),
        delimiter=table.delimiter if table else None,
    )


def flatten(value: object, prefix: str = "") -> dict[str, Any]:
    """Nested dictionaries -> dotted keys; lists stay as they are."""
    if not isinstance(value, dict):
        return {prefix: value}
    flat: dict[str, Any] = {}
    for key, inner in value.items():
        flat |= flatten(inner, f"{prefix}.{key}" if prefix else str(key))
    return flat


def _records(row: int, flat: Flat, set_aside: list[SetAside]) -> Iterator[Record]:
    targets = dict.fromkeys(found["target"] for name in flat if (found := _LATENCY.match(name)))
    for target in targets:
        if target not in _NOT_CALLS:
            key = {**_key(flat), "row": row, "operator": None if target == "forward" else target}
            yield from _target(f"report.{target}.latency", flat, key, set_aside)


def _target(prefix: str, flat: Flat, key: dict[str, Any], set_aside: list[SetAside]) -> Iterator[Record]:
    unit = find_unit(str(flat.get(f"{prefix}.unit") or "s"))
    if unit is None or unit.kind != "seconds":
        set_aside.append(
            SetAside(
                row=key["row"], column=f"{prefix}.unit", value=str(flat[f"{prefix}.unit"]), reason="not a unit of time"
            )
        )
        return
    cell = flat.get(f"{prefix}.values")
    values = _list(cell)
    if values is not None:
        yield from samples((value * unit.factor for value in values), process=0, **key)
        return
    if text(cell):
        reason = "expected a plain list of times; it is never evaluated"
        set_aside.append(SetAside(row=key["row"], column=f"{prefix}.values", value=str(cell), reason=reason))
    for field, statistic in _SUMMARIES.items():
        value = number(flat.get(f"{prefix}.{field}"))
        if value and value > 0:
            yield latency(value * unit.factor, statistic=statistic, **key)


def _list(cell: object) -> list[float] | None:
    if isinstance(cell, str):
        try:
            cell = json.loads(cell)
        except (ValueError, RecursionError):
            return None
    return [float(value) for value in cell] if isinstance(cell, list) and cell and all(map(is_time, cell)) else None


def _key(flat: Flat) -> dict[str, Any]:
    gpu = flat.get("config.environment.gpu")
    device = (
        device_names.from_list(str(gpu))
        if gpu not in (None, "", [], "[]")
        else text(flat.get("config.environment.cpu"))
    )
    return {
        "device": device,
        "technique": text(flat.get("config.name")) or "optimum-benchmark",
        "model": text(flat.get("config.backend.model")),
        "batch_size": whole(flat.get(f"{_SHAPES}batch_size", "")),
        "sequence_length": whole(flat.get(f"{_SHAPES}sequence_length", "")),
        "dtype": _dtype(flat.get("config.backend.torch_dtype")),
        "torch": text(flat.get("config.backend.version")),
    }


def _dtype(value: object) -> str | None:
    spelled = (text(value) or "").removeprefix("torch.")
    return spelled if spelled not in ("", "None", "auto") else None
