"""The probe for the largest allocation fills the card, so it comes when every peak has been read; a fake stands in for CUDA."""

from typing import Any

import pytest
import torch

from engine.child import cuda_allocator
from engine.child.session import Session
from engine.child.techniques import preallocation
from engine.spec import Workload
from tests.child.measured import set_up

STREAM = Workload(operator="request-stream", elements=8 * 768)


def test_the_largest_allocation_is_tried_only_after_both_memory_peaks_were_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Before, the peaks of every pool arm showed the probe: the size of the card."""
    happened: list[str] = []

    def noting(name: str, answer: Any) -> Any:
        def note(*_: Any) -> Any:
            happened.append(name)
            return answer

        return note

    monkeypatch.setattr(cuda_allocator, "allocator_in_use", lambda: "caching")
    monkeypatch.setattr(cuda_allocator.torch.cuda, "memory_stats", noting("facts", {}))
    for module in (cuda_allocator, preallocation):
        monkeypatch.setattr(module, "largest_allocation", noting("probe", 2**30))
    # As many threads as before: this session lives in the process of the tests.
    command = set_up(STREAM, variant="preallocation/pool-caching", threads=torch.get_num_threads())
    session = Session(command, announce=lambda _: None)
    session.set_up()
    monkeypatch.setattr(session.memory, "steady", noting("steady", {}))
    monkeypatch.setattr(session.memory, "whole_life", noting("whole life", {}))
    measured = session.finish()
    assert happened == ["steady", "facts", "whole life", "probe"]
    assert measured.facts["largest_allocation_bytes"] == 2**30
