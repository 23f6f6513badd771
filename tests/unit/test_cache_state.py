"""Compile-cache states on hand-made counters: proven, contradicted, unknown; and what a row makes of them."""

from dataclasses import replace
from typing import Any

import pytest

from engine.comparison import ComparisonRow, compare_run
from engine.proof.caches import judge_cache, proven_cache
from engine.result import Measurement, Run
from tests.unit.hand_made import COMPILED, measurement, standard_run


def counted(state: str | None, hits: int | None, misses: int | None, **facts: Any) -> Measurement:
    """A compiled measurement named `state` with these counters of both caches."""
    counters = {"fxgraph_cache_hits": hits, "fxgraph_cache_misses": misses}
    counters |= {"autograd_cache_hits": hits, "autograd_cache_misses": misses, "fxgraph_cache_bypasses": 0}
    return measurement(COMPILED, 0, [[0.05]], counters | facts, compile_cache=state)


@pytest.mark.parametrize(
    ("state", "hits", "misses", "passed", "words"),
    [
        ("cold", 0, 1, True, "0 hits and 2 misses"),
        ("cold", 1, 0, False, "the compile cache was not empty: 2 hits and 0 misses"),
        ("cold", 1, 1, False, "not empty"),
        ("cold", 0, 0, None, "never asked"),
        ("warm", 1, 0, True, "2 hits"),
        ("warm", 1, 1, True, "2 hits and 2 misses"),
        ("warm", 0, 1, False, "nothing came from the compile cache: 0 hits and 2 misses"),
        # TORCHINDUCTOR_FORCE_DISABLE_CACHES=1: nothing is asked, nothing counts (METHOD 1.7).
        ("warm", 0, 0, False, "never asked"),
        ("warm", None, None, None, "nothing tells"),
        (None, 0, 1, None, "nothing tells"),
    ],
)
def test_counters_prove_the_state_or_contradict_it(
    state: str | None, hits: int | None, misses: int | None, passed: bool | None, words: str
) -> None:
    """Guard: `judge_cache`; the state itself is only what the runner prepared."""
    measured = counted(state, hits, misses)
    finding = judge_cache(measured)
    assert finding.passed is passed
    assert words in finding.reason
    assert proven_cache(measured) == (None if passed is False else state)


def test_freezing_goes_past_the_graph_cache_and_leaves_the_state_unknown() -> None:
    frozen = counted("warm", 0, 0, fxgraph_cache_bypasses=1)
    assert judge_cache(frozen).passed is None
    assert proven_cache(frozen) == "warm"


def test_where_nothing_was_compiled_nothing_is_wrong() -> None:
    assert judge_cache(counted("warm", 0, 0, graphs=0)).passed is None


def row_with(hits: dict[str, int], misses: dict[str, int]) -> ComparisonRow:
    """The compiled row of a run whose cold and warm process sets counted so many hits and misses."""

    def with_counters(outcome: Any) -> Any:
        if outcome.variant != COMPILED:
            return outcome
        state = outcome.compile_cache
        counters = {"fxgraph_cache_hits": hits[state], "fxgraph_cache_misses": misses[state]}
        return replace(outcome, facts={**outcome.facts, **counters})

    run: Run = standard_run()
    run = replace(run, outcomes=tuple(map(with_counters, run.outcomes)))
    (row,) = (row for row in compare_run(run) if row.variant == COMPILED)
    return row


def test_a_proven_state_is_shown_without_a_badge() -> None:
    row = row_with({"cold": 0, "warm": 1}, {"cold": 1, "warm": 0})
    assert row.setup_cold_s is not None and row.setup_warm_s is not None
    assert not {"not_cold", "not_warm"} & {badge.key for badge in row.badges}


def test_a_set_up_of_another_state_is_neither_cold_nor_warm_and_the_row_says_so() -> None:
    """Guards: `proven_cache` in the costs, `_other_cache` among the badges."""
    row = row_with({"cold": 0, "warm": 0}, {"cold": 1, "warm": 1})
    assert row.setup_cold_s is not None and row.setup_warm_s is None
    badge = next(badge for badge in row.badges if badge.key == "not_warm")
    assert badge.text == "compile cache not warm"
    assert badge.meaning == (
        "It was prepared warm, and 4 of 5 process sets count otherwise. In process set 2 nothing came from the compile cache: "
        "0 hits and 1 miss counted. No warm set-up time is taken from there."
    )
    row = row_with({"cold": 1, "warm": 1}, {"cold": 0, "warm": 0})
    assert row.setup_cold_s is None and row.first_compile_cache is None and row.first_calls_s == ()
    assert "not_cold" in {badge.key for badge in row.badges}
