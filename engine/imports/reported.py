"""What the formats of other tools share: records of one file -> an `Imported`, with devices named and oddities noted."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from engine.imports import readings
from engine.imports.cold_calls import separate
from engine.imports.devices import named_devices, names_in
from engine.imports.numbers import NUMBER, parse_cell
from engine.imports.understanding import Corrections, Imported, SetAside, Understanding, quoted, refuse

Record = Mapping[str, Any]


def latency(value: float, **key: Any) -> dict[str, Any]:
    """One reading of a time, in seconds."""
    return {"measure": readings.LATENCY, "unit": "seconds", "latency_s": value, **key}


def samples(values: Iterable[float], **key: Any) -> list[dict[str, Any]]:
    """One reading per timed call."""
    return [latency(value, statistic="sample", call=call, **key) for call, value in enumerate(values)]


def failure(reason: str, **key: Any) -> dict[str, Any]:
    """A row that says that nothing was measured."""
    return {"measure": readings.LATENCY, "unit": "seconds", "status": "failed", "reason": reason, **key}


def is_time(value: object) -> bool:
    """Whether a JSON value is a usable number of seconds (or other time unit): finite and above zero."""
    # Compared, never converted: a whole number in JSON may be larger than any float.
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= sys.float_info.max


def _is_usable(record: Record) -> bool:
    """Whether a record is a failure, or a time that is still one after its unit was applied."""
    return "latency_s" not in record or is_time(record["latency_s"])


def _impossible(record: Record) -> SetAside:
    reason = "too large or too small for a time in seconds"
    return SetAside(row=record["row"], column="latency_s", value=str(record["latency_s"]), reason=reason)


def number(cell: object) -> float | None:
    """A table's cell as a number, None for anything else."""
    parsed = parse_cell(str(cell))
    return parsed.value if parsed.state == NUMBER else None


def whole(value: object) -> int | None:
    """A count from a cell or JSON value; None for anything that is not a whole number above zero."""
    parsed = number(value) if not isinstance(value, bool) else None
    return int(parsed) if parsed is not None and 0 < parsed < 2**53 and parsed == int(parsed) else None


def text(value: object) -> str | None:
    """A JSON value or cell as text, None when it is blank."""
    return str(value).strip() or None if value is not None and not isinstance(value, float) else None


def finish(
    file: str,
    what: str,
    encoding: str,
    records: Sequence[Record],
    corrections: Corrections,
    *,
    rows_read: int,
    notes: Iterable[str] = (),
    set_aside: Sequence[SetAside] = (),
    delimiter: str | None = None,
) -> Imported:
    """The readings in `records`; raises `UnreadableFile` when none of them is a time."""
    impossible = [_impossible(record) for record in records if not _is_usable(record)]
    records, set_aside = [record for record in records if _is_usable(record)], (*set_aside, *impossible)
    frame = readings.from_rows(({**record, "variant": record.get("technique")} for record in records), file)
    if not frame["latency_s"].notna().any():
        first = (
            f"; row {set_aside[0].row}, column {quoted(set_aside[0].column)}: {set_aside[0].reason}"
            if set_aside
            else ""
        )
        raise refuse(file, f"no timing values in this {what} file{first}", "At least one time above zero is needed")
    frame, cold = separate(frame)
    frame, source = named_devices(frame, file, corrections.devices)
    understood = Understanding(
        file=file, format=what, encoding=encoding, delimiter=delimiter, devices=names_in(frame), device_source=source,
        rows_read=rows_read, rows_kept=int(frame["row"].nunique()), cells_set_aside=len(set_aside), set_aside=tuple(set_aside),
        rows_failed=int(frame.loc[frame["status"].notna(), "row"].nunique()), notes=(*notes, *cold),
    )  # fmt: skip
    return Imported(understood, frame)
