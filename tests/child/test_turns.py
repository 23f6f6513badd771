"""Inputs in memory: small ones stay, one large set at a time, the largest live for one turn only."""

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


class Held:
    """Turns over a large and a small workload; `take(index)` is one turn and points at an input of it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, one_turn_bytes: int) -> None:
        monkeypatch.setattr(turns, "KEPT_BYTES", 100)
        monkeypatch.setattr(turns, "ONE_TURN_BYTES", one_turn_bytes)
        self.told: list[str] = []
        applied = Applied(
            call=len, activate=lambda _: self.told.append("activate"), release=lambda: self.told.append("release")
        )
        self.turns = Turns(load_subjects((operator(64), operator(2)), "cpu", PANGRAM, 1), [applied, applied])

    def take(self, index: int) -> weakref.ref[Any]:
        with self.turns.of(index) as (_, feed):
            found = weakref.ref(next(feed)["a"])
        gc.collect()
        return found


def test_large_inputs_and_buffers_are_dropped_when_another_workload_takes_its_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    held = Held(monkeypatch, one_turn_bytes=10**6)
    large = held.take(0)
    assert large() is not None
    held.take(0)
    assert held.told == ["activate"]
    small = held.take(1)
    assert large() is None
    assert small() is not None
    assert held.told == ["activate", "release", "activate"]


def test_the_largest_inputs_are_dropped_when_their_turn_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    held = Held(monkeypatch, one_turn_bytes=200)
    assert held.take(0)() is None
    assert held.take(0)() is None
    assert held.told == ["activate", "release", "activate", "release"]


def test_a_turn_gets_the_same_values_every_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "KEPT_BYTES", 0)
    monkeypatch.setattr(turns, "ONE_TURN_BYTES", 0)
    taking = Turns([load_subject(operator(8), "cpu", PANGRAM, 1)], [Applied(call=len)])
    with taking.of(0) as (_, feed):
        first = next(feed)["b"].tolist()
    with taking.of(0) as (_, feed):
        assert next(feed)["b"].tolist() == first


def test_a_large_input_is_timed_alone_and_small_ones_rotate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subject_module, "LARGE_OPERATOR_BYTES", 1000)
    assert len(load_subject(operator(1000), "cpu", PANGRAM, 1).timed_inputs()) == 1
    small = load_subject(operator(10), "cpu", PANGRAM, 1).timed_inputs()
    assert len({tuple(inputs["a"].tolist()) for inputs in small}) == len(small) == 4
