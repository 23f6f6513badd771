"""`python -m engine devices`: what this machine can run, and what every variant would need."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from engine.catalog import VARIANTS, why_unavailable
from engine.cli.console import OUT, say
from engine.formatting import bytes_
from engine.result import Machine
from engine.runner import describe_machine
from engine.serial import to_json


def devices(
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole description as JSON.")] = False,
) -> None:
    """Show this machine's devices, and what can and cannot be measured on each."""
    machine = describe_machine()
    if as_json:
        say(to_json(machine))
        return
    say(f"{machine.cpu_model}, {machine.physical_cores} cores, {bytes_(machine.memory_bytes)}, {machine.system}")
    say(", ".join(f"{name} {version}" for name, version in machine.versions.items() if version))
    OUT.print(_devices(machine))
    OUT.print(_variants(machine))


def _devices(machine: Machine) -> Table:
    table = Table("Device", "Name", "Memory", "Driver")
    for device in machine.devices:
        table.add_row(device.key, device.name, bytes_(device.memory_bytes), device.driver or "-")
    return table


def _variants(machine: Machine) -> Table:
    table = Table("Variant", *(device.key for device in machine.devices))
    for key, variant in VARIANTS.items():
        table.add_row(key, *(why_unavailable(variant, machine, device.key) or "yes" for device in machine.devices))
    return table
