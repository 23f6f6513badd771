"""Inputs in memory: small ones stay, large ones live for one turn only."""

import gc
import weakref
from typing import Any

import pytest

from engine.child import subject as subject_module
from engine.child import turns
from engine.child.subject import load_subject, load_subjects
from engine.child.techniques import Applied
from engine.child.turns import Turns
from engine.spec import PANGRAM, Workload


def operator(elements: int) -> Workload:
    return Workload(operator="addcmul", elements=elements)


def test_large_inputs_and_buffers_are_dropped_when_the_turn_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "KEPT_BYTES", 100)
    told: list[str] = []
    applied = Applied(call=len, activate=lambda _: told.append("activate"), release=lambda: told.append("release"))
    taking = Turns(load_subjects((operator(64), operator(2)), "cpu", PANGRAM, 1), [applied, applied])

    def hold(index: int) -> weakref.ref[Any]:
        with taking.of(index) as (_, feed):
            return weakref.ref(next(feed)["a"])

    large, small = hold(0), hold(1)
    gc.collect()
    assert large() is None
    assert small() is not None
    assert told == ["activate", "release", "activate"]


def test_a_turn_gets_the_same_values_every_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "KEPT_BYTES", 0)
    taking = Turns([load_subject(operator(8), "cpu", PANGRAM, 1)], [Applied(call=len)])
    with taking.of(0) as (_, feed):
        first = next(feed)["b"].tolist()
    with taking.of(0) as (_, feed):
        assert next(feed)["b"].tolist() == first


def test_a_large_input_is_timed_alone_and_small_ones_rotate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subject_module, "LARGE_INPUT_BYTES", 1000)
    assert len(load_subject(operator(1000), "cpu", PANGRAM, 1).timed_inputs()) == 1
    small = load_subject(operator(10), "cpu", PANGRAM, 1).timed_inputs()
    assert len({tuple(inputs["a"].tolist()) for inputs in small}) == len(small) == 4
