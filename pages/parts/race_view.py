"""What the tuner tried: the race of each operation, every candidate in a table, and who really ran."""

import streamlit as st

from engine import candidates, captions, catalog
from engine.candidates import TunedOperation
from engine.charts import candidate_race, theme
from engine.comparison import ComparisonRow
from engine.proof import TUNING
from engine.result import Run
from pages.parts import driving_view, link, notices, pictures, result


def show_result(run: Run, technique: catalog.Technique) -> None:
    """A finished run with its races."""
    result.show(run, technique, _show_story)


def _show_story(run: Run, rows: list[ComparisonRow]) -> None:
    tuned = {row.variant: row for row in rows if candidates.tuned_operations(run, row.variant)}
    silent = {row.label: words for row in rows if (words := candidates.why_nothing(run, row.variant)) and _tunes(row)}
    if tuned or silent:
        st.subheader("What the tuner tried")
    for label, words in silent.items():
        st.markdown(notices.plain(f"{label}: {words}"))
    if tuned:
        _show_races(run, rows, tuned)
    driving_view.show(run, rows)


def _tunes(row: ComparisonRow) -> bool:
    """Whether tuning is what the variant is for; freezing alone tunes nothing on purpose."""
    variant = catalog.VARIANTS.get(row.variant)
    return bool(variant and TUNING & set(variant.proofs))


def _show_races(run: Run, rows: list[ComparisonRow], tuned: dict[str, ComparisonRow]) -> None:
    variant = next(iter(tuned))
    if len(tuned) > 1:
        labels = {row.label: key for key, row in tuned.items()}
        link.drop_unless("raced_variant", labels)
        variant = labels[st.selectbox("Variant", list(labels), key="raced_variant", bind="query-params")]
    operations = candidates.tuned_operations(run, variant)
    words = candidates.outcome(operations, run.experiment.device.startswith("cpu"))
    st.markdown(notices.plain(f"{tuned[variant].label}: {words}"))
    if candidates.is_from_cache(run, variant):
        notices.show_warning(
            "Cached tuning: these times were read from an earlier run's cache, nothing was timed here."
        )
    if ran := candidates.kernels_that_ran(run, variant):
        st.markdown(notices.plain(ran))
    with st.container(border=True, key="race"):
        _show_race(run, rows, variant, operations)
    with st.expander("Every candidate", icon=":material/table_rows:"):
        table = candidates.candidates_table(operations)
        st.dataframe(table, key="candidates", hide_index=True, height="content", alt="Every candidate with its time")


def _show_race(run: Run, rows: list[ComparisonRow], variant: str, operations: list[TunedOperation]) -> None:
    def draw() -> pictures.Picture:
        colour, subtitle = theme.variant_style(variant).colour, captions.of_chart(run, rows[0].workload)
        return candidate_race.candidate_race(operations[place], colour, subtitle), candidate_race.alt_text(
            operations[place]
        )

    place = 0
    if len(operations) > 1:
        labels = [operation.label for operation in operations]
        link.drop_unless("tuned_operation", labels)
        place = st.selectbox(
            "Operation",
            range(len(labels)),
            format_func=labels.__getitem__,
            key="tuned_operation",
            bind="query-params",
        )
    pictures.show(run, rows, "race", draw, f"{variant} {place}")
