"""The ten mistakes: one chart of how far each moves the number, then each with its code, its numbers and its rule."""

import streamlit as st

from engine import captions, catalog, pitfalls, worker
from engine.catalog.pitfalls import BEFORE
from engine.charts import pitfall_errors
from engine.pitfalls import Lesson
from engine.result import Run
from engine.snippets import fill_text
from engine.spec import Experiment, Workload, find_protocol
from pages.parts import controls, exports, job, link, measured, notices, pictures


def experiment_of(technique: catalog.Technique) -> Experiment:
    """Everything the ten need, at the point and by the protocol that the widgets say."""
    state = st.session_state
    controls.refuse_code(state.model)
    model = Workload(
        model=state.model, batch_size=state.batch_size, sequence_length=state.sequence_length, dtype=state.dtype
    )
    return pitfalls.experiment(model, state.device, find_protocol(state.protocol))


def show(run: Run, technique: catalog.Technique) -> None:
    """What the ten come to, and the chart."""
    measured.show_origin(run)
    found = _lessons_of(run)
    with st.container(border=True, key="verdict"):
        st.markdown(f"#### {technique.icon} {notices.plain(pitfalls.headline(found))}")
        st.caption(notices.plain(captions.of_chart(run, run.experiment.workloads[0])))
    with st.container(border=True):
        pictures.show(
            run,
            measured.rows_of(run),
            "pitfalls",
            lambda: (
                pitfall_errors.pitfall_errors(found, technique.colour, captions.of_run(run)),
                pitfall_errors.alt_text(found),
            ),
        )
        st.caption(
            "Solid: right, with its interval over process sets. Hollow: what the mistaken loop reported. Small: the same loop in "
            "the other process sets."
        )


def explain(technique: catalog.Technique, experiment: Experiment) -> None:
    """Each mistake with its code and its rule, and with its numbers where a finished run has them."""
    store = worker.get().store
    run = link.shown_run(store) or measured.newest_run(store, technique, experiment)
    is_finished = run is not None and run.status not in job.UNFINISHED
    st.subheader("One mistake at a time")
    st.markdown(technique.how_it_works)
    with st.expander("What stands before every loop", icon=":material/code:"):
        st.code(fill_text(BEFORE, experiment.workloads[0], experiment), language="python")
    for number, lesson in enumerate(_lessons_of(run if is_finished else None), start=1):
        _show_lesson(number, lesson)
    if run is not None and is_finished:
        exports.show([run], "export")


def _lessons_of(run: Run | None) -> list[Lesson]:
    if run is None:
        return pitfalls.lessons(None)
    return pictures.drawn(run, measured.rows_of(run), "lessons", lambda: pitfalls.lessons(run))


def _show_lesson(number: int, lesson: Lesson) -> None:
    pitfall = lesson.pitfall
    with st.container(border=True, key=f"pitfall_{pitfall.key}"):
        st.markdown(f"##### {number}. {pitfall.title}")
        left, right = st.columns([2, 3], gap="large")
        with left:
            st.markdown(pitfall.mistake)
            _show_numbers(lesson)
            st.markdown(f":material/rule: **{pitfall.rule}**")
            if pitfall.injected:
                st.caption(f":material/science: {pitfall.injected}")
        with right:
            st.code(pitfall.code, language="python", wrap_lines=True)


def _show_numbers(lesson: Lesson) -> None:
    if lesson.reported is None or lesson.right is None:
        st.badge(notices.plain(lesson.why), icon=":material/hourglass_empty:", color="gray")
        return
    table = pitfalls.numbers(lesson).map(notices.plain)
    st.table(table, border="horizontal", hide_index=True, alt=pitfalls.sentence(lesson))
    if lesson.note:
        st.caption(notices.plain(lesson.note))
