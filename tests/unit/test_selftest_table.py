"""What the self-tests make of intervals and machines, without measuring."""

from dataclasses import replace

import pytest

from engine.selftest.spins import same_row
from engine.selftest.table import Row, describe, markdown
from engine.stats import Interval
from tests.hand_made import MACHINE

SAME = Interval(1.0, 0.995, 1.005, 5)
UNDECIDED = Interval(1.0, 0.97, 1.03, 5)
FASTER = Interval(1.05, 1.03, 1.07, 5)


@pytest.mark.parametrize(("called_different", "is_kept"), [(0, True), (1, True), (2, False)])
def test_identical_arms_may_be_called_different_once(called_different: int, is_kept: bool) -> None:
    row = same_row("T4b", "", [FASTER] * called_different + [SAME, UNDECIDED] * 10)
    assert row.is_kept is is_kept
    assert row.samples == 20 + called_different


def test_the_row_tells_half_widths() -> None:
    row = same_row("T4b", "", [SAME, SAME, UNDECIDED])
    assert "half-width 0.501 % (largest 3.05 %)" in row.measured
    assert '2 "no measurable difference"' in row.measured


def test_a_table_names_its_machine_and_marks_what_was_not_kept_or_not_tested() -> None:
    row = Row(key="T1", what="a", measured="b", limit="c", is_kept=True)
    table = markdown(MACHINE, [row, replace(row, is_kept=False), replace(row, is_kept=None)])
    assert table.startswith("Hand-made CPU, 2 cores, 16.0 GiB, Python ")
    assert "torch 2.13.0" in describe(MACHINE)
    assert [line.split("|")[5].strip() for line in table.splitlines()[4:]] == ["yes", "**no**", "untested"]
