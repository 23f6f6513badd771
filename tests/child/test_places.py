"""Static inputs and outputs are proven by addresses, in a real child and against a technique that only says so."""

from pathlib import Path
from typing import Any

import pytest
import torch

from engine.catalog import find_variant
from engine.child.techniques.places import places
from engine.proof import judge_mechanism
from engine.result import Measurement
from tests.child.measured import MeasuredChild, point, set_up


@pytest.mark.slow
@pytest.mark.parametrize("name", ["static-inputs", "static-output"])
def test_memory_made_once_is_proven_to_be_used_again(name: str, tiny_model: Path, tmp_path: Path) -> None:
    with MeasuredChild(tmp_path) as child:
        measured = child.measure(set_up(point(tiny_model), variant=f"preallocation/{name}"))
    assert isinstance(measured, Measurement), child.log()
    assert measured.facts["inputs_stay"] is True
    assert measured.facts["outputs_stay"] is (name == "static-output")
    finding = judge_mechanism(find_variant(measured.variant), [measured])
    assert finding.passed and "found its inputs in the same memory" in finding.reason


def test_inputs_made_anew_are_not_taken_for_static_ones() -> None:
    """The allocator would give the first input's memory out again. Guard: what was taken is kept."""
    program = torch.nn.Linear(4, 4)
    request = {"input": torch.ones(2, 4)}

    def call(inputs: dict[str, Any]) -> Any:
        return program(**{name: value.clone() for name, value in inputs.items()})

    assert places(program, call, request) == {"inputs_stay": False, "outputs_stay": False, "requests_pinned": False}
    assert not program._forward_pre_hooks


def test_a_function_has_no_door_to_watch() -> None:
    seen = places(lambda x: x, lambda inputs: inputs["x"], {"x": torch.ones(2)})
    assert seen == {"inputs_stay": None, "outputs_stay": True, "requests_pinned": False}
