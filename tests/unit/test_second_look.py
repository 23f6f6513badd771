"""Calls that slow down while they are timed, and latencies that a larger batch leaves alone: said, never judged."""

from dataclasses import replace

import numpy as np
import pytest

from engine.comparison import compare_run
from engine.cost_table import cost_table
from engine.exports import html_report
from engine.result import Run
from engine.second_look import changes, flat_latencies
from engine.spec import Workload
from tests.unit.hand_made import COMPILED, EAGER, TWIN, measurement, run_of
from tests.unit.test_launches import a_row

SMALL = Workload(model="distilbert-base-uncased", batch_size=1, sequence_length=11)
LARGE = replace(SMALL, batch_size=8)


def warming_run(last: float) -> Run:
    """Every arm's hundred calls rise evenly from 1.00 to `last` times their time."""
    rising = np.linspace(1.0, last, 100).reshape(10, 10)
    times = {EAGER: 0.06, TWIN: 0.06, COMPILED: 0.05}
    return run_of(
        *(
            measurement(key, process, (seconds * rising).tolist())
            for process in range(5)
            for key, seconds in times.items()
        )
    )


def test_times_that_rise_by_a_seventh_while_they_are_taken_are_warned_of() -> None:
    """R24: 100 samples, 1.00 rising to 1.15. Guard: all arms slow alike, so no verdict changes."""
    run = warming_run(1.15)
    rows = [row for row in compare_run(run) if not row.is_twin]
    (said,) = changes(rows)
    assert "became 13.5 % slower from the first to the last tenth of a process set" in said
    assert cost_table(rows).set_index("cost").loc["Change while timing", "Eager"] == "+13.5%"
    assert "13.5 % slower" in html_report(run)
    assert rows[1].verdict.value == "faster"


def test_times_that_stay_put_are_not_warned_of() -> None:
    assert changes(compare_run(warming_run(1.05))) == []
    assert changes([a_row()]) == []


@pytest.mark.parametrize(
    ("large_s", "more", "is_warned"),
    [
        (5.2e-3, {}, True),
        (20e-3, {}, False),
        (5.2e-3, {"gpu_s": 5e-3}, False),
        (5.2e-3, {"gpu_s": 40e-3}, True),
        (5.2e-3, {"variant": COMPILED}, False),
        (5.2e-3, {"is_twin": True}, False),
        (5.2e-3, {"workload": replace(LARGE, batch_size=4)}, False),
    ],
)
def test_a_latency_that_stays_flat_while_the_batch_grows_eightfold_is_warned_of(
    large_s: float, more: dict, is_warned: bool
) -> None:
    """R2. Guard: a GPU time that fits into the latency shows that calls were waited for; other variants say nothing."""
    rows = [a_row(workload=SMALL, median_s=5e-3), a_row(**{"workload": LARGE, "median_s": large_s, **more})]
    said = flat_latencies(rows)
    assert bool(said) is is_warned
    if is_warned:
        assert said[0].startswith("Eager takes 5.00 ms at batch 1 and 5.20 ms at batch 8: so flat a latency may mean")
