"""One row per promise, and the Markdown table of them with the machine they were measured on."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from engine.formatting import bytes_
from engine.result import Machine


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One promise: what was measured, the value as text, the limit as text, whether it was kept, from how many samples.

    `is_kept` None: it could not be tested here, and `measured` says why.
    """

    key: str
    what: str
    measured: str
    limit: str
    is_kept: bool | None
    samples: int = 1

    @property
    def verdict(self) -> str:
        """yes, no, or untested."""
        return {True: "yes", False: "**no**", None: "untested"}[self.is_kept]


def describe(machine: Machine) -> str:
    """Processor, cores, memory, versions and day: a table of timings is worth nothing without them."""
    parts = [
        f"{machine.cpu_model}, {machine.physical_cores} cores, {bytes_(machine.memory_bytes)}",
        *(device.name for device in machine.devices if device.backend != "cpu"),
        f"Python {platform.python_version()}",
        *(f"{name} {machine.versions[name]}" for name in ("torch", "transformers") if machine.versions.get(name)),
        f"{datetime.now(UTC):%Y-%m-%d}",
    ]
    return ", ".join(parts)


def markdown(machine: Machine, rows: Iterable[Row]) -> str:
    """The table under its machine, ready for a README."""
    lines = [describe(machine), "", "| | what | measured | limit | kept | samples |", "|---|---|---|---|---|---|"]
    lines += [
        f"| {row.key} | {row.what} | {row.measured} | {row.limit} | {row.verdict} | {row.samples} |" for row in rows
    ]
    return "\n".join(lines)
