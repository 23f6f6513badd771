"""What a file was taken to mean, what is still open, and what a person said about it instead.

An `Understanding` is shown before a file counts; `Corrections` override any part of it; a `Question` is what cannot be
known from the file and is never guessed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import pandas as pd

from engine.errors import UnreadableFile
from engine.imports.units import RATE_KINDS, UNITS

MAX_LISTED = 200
"""Cells set aside are listed up to this many; beyond it only their number is kept."""

ROLES: dict[str, str] = {
    "latency": "Time per call (lower is better)",
    "rate": "Rate (higher is better)",
    "technique_values": "Values of the technique this column is named after",
    "memory": "Memory",
    "set_up": "Set-up or compile time",
    "device": "Device",
    "technique": "Technique",
    "model": "Model",
    "operator": "Operator or benchmark",
    "batch_size": "Batch size",
    "sequence_length": "Sequence length",
    "elements": "Elements (size)",
    "dtype": "Data type",
    "process": "Process",
    "round": "Round",
    "call": "Call (iteration)",
    "phase": "Phase",
    "status": "Status",
    "unit": "Unit of the times in this row",
    "torch": "Torch version",
    "backend": "Backend (cuda, hip, xpu, cpu)",
    "precision": "Matmul precision",
    "protocol": "Protocol",
    "cache_state": "Compile cache (cold, warm)",
    "driver": "Driver",
    "setting": "Another setting that keeps rows apart",
    "ignored": "Not used",
}
VALUE_ROLES = ("latency", "rate", "technique_values")

Statistic = Literal["sample", "median", "mean", "p95", "p99"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column of the file: what it holds. `unit` is a key of `engine.imports.units.UNITS`, None when cells say it."""

    name: str
    role: str = "ignored"
    unit: str | None = None
    statistic: Statistic = "sample"
    example: str = ""

    @property
    def better(self) -> str:
        """Which direction is good, where the column holds values: rates up, times down."""
        if self.role not in VALUE_ROLES:
            return ""
        is_rate = self.role == "rate" or (self.unit in UNITS and UNITS[self.unit].kind in RATE_KINDS)
        return "higher" if is_rate else "lower"


@dataclass(frozen=True, slots=True, kw_only=True)
class SetAside:
    """One cell or row that does not count, and why. `row` counts data rows from 1."""

    row: int
    column: str
    value: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What the file does not say. `columns` is empty when the question is about the whole file."""

    kind: Literal["unit", "roles", "decimal_mark"]
    text: str
    columns: tuple[str, ...] = ()
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Understanding:
    """How one file was read, in the words the page shows."""

    file: str
    format: str
    encoding: str
    delimiter: str | None = None
    decimal_mark: str = "."
    has_header: bool = True
    columns: tuple[Column, ...] = ()
    devices: tuple[str, ...] = ()
    device_source: str = ""
    rows_read: int = 0
    rows_kept: int = 0
    rows_failed: int = 0
    cells_set_aside: int = 0
    set_aside: tuple[SetAside, ...] = ()
    notes: tuple[str, ...] = ()
    questions: tuple[Question, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Corrections:
    """What a person says about a file; None and empty mean "as understood". Columns are named as shown."""

    delimiter: str | None = None
    decimal_mark: str | None = None
    has_header: bool | None = None
    roles: Mapping[str, str] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    devices: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Imported:
    """A file as read: `frame` holds its readings (`engine.imports.readings`), empty while questions are open."""

    understanding: Understanding
    frame: pd.DataFrame

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left to ask, so that the file may count."""
        return not self.understanding.questions


def quoted(value: object) -> str:
    """A cell for a message: quoted, control characters escaped, shortened."""
    text = str(value)
    return repr(text if len(text) <= 60 else text[:57] + "...")


def refuse(file: str, what: str, allowed: str) -> UnreadableFile:
    """The error for a file that is not used: what is wrong, and what would be accepted."""
    return UnreadableFile(f"{file}: {what}. {allowed}")
