"""Which points of an experiment are left out, and why in words: too large for this machine, or not to be had here at all."""

from __future__ import annotations

from engine.catalog.operators import OPERATORS, OperatorCard
from engine.formatting import bytes_
from engine.result import Machine
from engine.spec import Workload

MEMORY_SHARE = 0.5
"""One size may take half of the memory: the waiting children and the system keep the rest."""


def why_left_out(workload: Workload, device: str, machine: Machine | None = None) -> str | None:
    """Why this point is not measured on `device`, in words; None when it is. Without a machine its memory is not asked."""
    card = OPERATORS.get(workload.operator or "")
    if card is None:
        return None
    if card.is_cpu_only and not device.startswith("cpu"):
        return f"{card.label} runs on the CPU; choose the CPU to measure it"
    return card.why_not(workload) or (_too_large(card, workload, device, machine) if machine else None)


def _too_large(card: OperatorCard, workload: Workload, device: str, machine: Machine) -> str | None:
    found = machine.device(device)
    sizes = [machine.memory_bytes, found.memory_bytes if found else None]
    memory = min(size for size in sizes if size)
    needed = card.needed_bytes(workload)
    if needed <= MEMORY_SHARE * memory:
        return None
    return (
        f"left out: {workload.elements:,} elements need about {bytes_(needed)} while they are measured and compared, "
        f"more than half of the {bytes_(memory)} here"
    )
