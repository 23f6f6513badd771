"""What CUDA's allocator did in this process: fragmentation in four numbers, failures, and the largest piece it can still give."""

from __future__ import annotations

from typing import Any

import torch

from engine.child import torch_internals

SMALLEST_STEP = 64 * 2**20
"""The largest allocation is found to within this many bytes."""


def allocator_facts(device: str) -> dict[str, Any]:
    """What is read and changes nothing, under keys of `engine.metrics.FACTS`."""
    return {"allocator": allocator_in_use(), **fragmentation(torch.cuda.memory_stats(device))}


def allocator_in_use() -> str | None:
    """`caching`, `expandable segments` or `no caching`, by what the allocator holds now; None where torch does not tell."""
    segments = torch_internals.cuda_segments()
    if segments is None:
        return None
    if not segments:
        return "no caching"
    return "expandable segments" if any(segment.get("is_expandable") for segment in segments) else "caching"


def fragmentation(statistics: dict[str, Any]) -> dict[str, float | int | None]:
    """The four numbers of METHOD 2.6 from `torch.cuda.memory_stats`; one whose parts are missing or zero is None."""

    def share(part: str, whole: str) -> float | None:
        if part not in statistics or not statistics.get(whole):
            return None
        return float(statistics[part] / statistics[whole])

    def gap(part: str, whole: str) -> float | None:
        used = share(part, whole)
        return None if used is None else 1 - used

    return {
        "fragmentation_cache": gap("allocated_bytes.all.current", "reserved_bytes.all.current"),
        "fragmentation_split": share("inactive_split_bytes.all.current", "reserved_bytes.all.current"),
        "fragmentation_round": gap("requested_bytes.all.current", "allocated_bytes.all.current"),
        "fragmentation_peak": gap("active_bytes.all.peak", "reserved_bytes.all.peak"),
        "out_of_memory_events": statistics.get("num_ooms"),
        "allocation_retries": statistics.get("num_alloc_retries"),
    }


def largest_allocation(device: str) -> int:
    """Bytes of the largest single tensor that can still be made, by halving the unknown.

    It fills the device while it tries: for when every peak has been read.
    """
    fits, fails = 0, torch.cuda.mem_get_info(device)[1]
    while fails - fits > SMALLEST_STEP:
        size = (fits + fails) // 2
        fits, fails = (size, fails) if _can_allocate(size, device) else (fits, size)
    return fits


def _can_allocate(size: int, device: str) -> bool:
    try:
        torch.empty(size, dtype=torch.uint8, device=device)
    except RuntimeError as error:  # without caching it is the driver's error, of no type of its own
        if "out of memory" not in str(error).lower():
            raise
        return False
    torch.cuda.empty_cache()
    return True
