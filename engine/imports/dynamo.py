"""PyTorch's own benchmark runner (pytorch/benchmarks/dynamo, `--performance`): one row per model, eager against compiled.

`abs_latency` is the compiled median in milliseconds, `speedup` eager over compiled, `compilation_latency` seconds,
`*_peak_mem` gigabytes. A speed-up of 0 means that the model failed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engine.imports.reported import Record, failure, finish, latency, number, text, whole
from engine.imports.table import Table
from engine.imports.understanding import Corrections, Imported

FORMAT = "PyTorch dynamo performance CSV"
COMPILED = "torch.compile"
_NEEDED = {"name", "batch_size", "speedup", "abs_latency"}


def matches(table: Table) -> bool:
    """Whether the columns are those of the runner's performance CSV."""
    return set(table.names) >= _NEEDED


def read(file: str, table: Table, encoding: str, corrections: Corrections) -> Imported:
    """Two readings per model, eager and compiled; a failed model is one failed row."""
    records = [record for row, cells in table.rows() for record in _records(row, cells)]
    notes = (
        "Eager latencies are speedup x abs_latency; abs_latency is in milliseconds, memory in gigabytes.",
        *table.notes,
    )
    return finish(
        file, FORMAT, encoding, records, corrections,
        rows_read=table.rows_read, notes=notes, set_aside=table.set_aside, delimiter=table.delimiter,
    )  # fmt: skip


def _records(row: int, cells: dict[str, Any]) -> Iterator[Record]:
    shared = {
        "row": row,
        "model": text(cells["name"]),
        "batch_size": whole(cells["batch_size"]),
        "backend": text(cells.get("dev")),
    }
    speedup, compiled_ms = number(cells["speedup"]), number(cells["abs_latency"])
    if not speedup or not compiled_ms or speedup < 0 or compiled_ms < 0:
        yield failure("speedup 0: the runner could not measure this model", technique=COMPILED, **shared)
        return
    seconds = compiled_ms / 1e3
    yield latency(
        seconds * speedup,
        technique="eager",
        statistic="median",
        memory_bytes=_gigabytes(cells, "eager_peak_mem"),
        **shared,
    )
    yield latency(
        seconds, technique=COMPILED, statistic="median", memory_bytes=_gigabytes(cells, "dynamo_peak_mem"),
        set_up_s=number(cells.get("compilation_latency")) or None, remark=_remark(cells), **shared,
    )  # fmt: skip


def _gigabytes(cells: dict[str, Any], name: str) -> float | None:
    value = number(cells.get(name))
    return value * 1e9 if value else None


def _remark(cells: dict[str, Any]) -> str | None:
    """What the runner's counters say against the speed-up being the technique's."""
    remarks = []
    if whole(cells.get("cudagraph_skips")):
        remarks.append("CUDA graphs skipped")
    if breaks := whole(cells.get("graph_breaks")):
        remarks.append(f"{breaks} graph breaks" if breaks > 1 else "1 graph break")
    return ", ".join(remarks) or None
