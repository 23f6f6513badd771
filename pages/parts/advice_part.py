"""What to do about it: one recommendation with its price, the second choice, and what to leave alone here."""

from collections.abc import Mapping

import streamlit as st

from engine import catalog, formatting, snippets
from engine.advice import Advice, advise, pays_back_after_days
from engine.comparison import ComparisonRow, short
from engine.spec import Experiment
from pages.parts import link, notices


def show(rows: list[ComparisonRow], experiments: Mapping[str, Experiment]) -> None:
    """Advice read off these rows of one workload, and the complete code of the recommended variant; `experiments` by run."""
    advice = advise(rows)
    st.subheader("What to do here")
    with st.container(border=True, key="advice"):
        most = link.COUNTS["calls_per_day"]
        calls = st.number_input(
            "Your calls per day", 1, most, value=100_000, key="calls_per_day", bind="query-params", width=220
        )
        if advice.best is None:
            st.markdown(advice.without_best)
        else:
            _show_choice("Use", advice.best, calls)
        _show_alternatives(advice, calls)
    chosen = advice.best or advice.lower_precision
    if chosen is not None:
        variant = catalog.find_variant(chosen.variant)
        with st.expander(f"Code for {variant.label}", icon=":material/code:"):
            st.code(snippets.fill(variant, chosen.workload, experiments[chosen.run_id]), language="python")


def _show_alternatives(advice: Advice, calls: int) -> None:
    if advice.lower_precision is not None:
        _show_choice("If lower precision is acceptable:", advice.lower_precision, calls)
    if advice.when_shapes_vary is not None:
        _show_choice("If lengths vary:", advice.when_shapes_vary, calls)
    for row, reason in advice.avoid:
        st.markdown(f":material/do_not_disturb_on: Avoid **{notices.plain(row.label)}** here: {notices.plain(reason)}.")


def _show_choice(lead: str, row: ComparisonRow, calls: int) -> None:
    st.markdown(f"{lead} **{notices.plain(row.label)}**: {notices.plain(short(row))}.")
    st.caption(_price(row, calls))


def _price(row: ComparisonRow, calls: int) -> str:
    days = pays_back_after_days(row.break_even_cold, calls)
    if row.setup_cold_s is None or days is None:
        return "Set-up with an empty compile cache was not measured, so when it is earned back is not known."
    return (
        f"Set-up {formatting.seconds(row.setup_cold_s)} with an empty compile cache, earned back in "
        f"{formatting.seconds(days * 86_400)} at {formatting.counted(calls, 'call')} a day."
    )
