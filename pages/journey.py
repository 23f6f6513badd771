"""The landing page: the whole route on one workload, the article's claims against it, and what to do about it."""

import streamlit as st

from engine import formatting, worker
from engine.estimate import estimate_seconds
from engine.journey import drive, leader, rows_beside
from engine.second_look import flat_latencies
from engine.spec import Workload, find_protocol
from pages.parts import (
    advice_part,
    claims_board,
    controls,
    drive_part,
    exports,
    job,
    link,
    measured,
    notices,
    present,
    route,
    suite_hint,
    verdicts,
)

state = st.session_state
store = worker.get().store
controls.refuse_code(state.model)
model = Workload(
    model=state.model, batch_size=state.batch_size, sequence_length=state.sequence_length, dtype=state.dtype
)
wanted = drive(model, state.device, find_protocol(state.protocol))
drive_part.submit_if_asked(wanted)
expected_s = estimate_seconds(wanted, worker.get().machine())
run = link.shown_run(store)
shown = None if run is not None and run.status in job.UNFINISHED and not run.outcomes else run
runs, found = route.current(model, state.device, shown)
results = [(each, measured.rows_of(each)) for each in runs]
rows = [row for step in found for row in step.rows]
lead = leader(found)
source = next((step.run for step in found if lead in step.rows), None)
if present.is_on():
    present.show_route(found, results)
st.title("From city street to motorway")
st.caption(
    "Every step of an article on fast inference, measured: what it really brings, at what price, and whether it happened at all."
)
under_way = run if run is not None and run.status in job.UNFINISHED else None
step = job.step_of(under_way.id) if under_way is not None else None
if under_way is not None:
    st.markdown(":material/timer: This run is being measured; [its progress](#drive) stands beside the controls.")
if lead is None or source is None:
    notices.empty(
        ":material/bar_chart:",
        "Nothing measured here yet",
        "Here the steps will stand side by side: speed-ups with intervals, the claims, and what to do. Drive the route once.",
    )
else:
    with st.container(horizontal=True, vertical_alignment="center"):
        measured.show_origin(source)
        st.space("stretch")
        exports.show_pack(found, results)
        present.show_way_in()
    verdicts.show(source, lead, rows, None)
    route.show_alternative(lead, source)
    for words in flat_latencies(row for _, measured_rows in results for row in measured_rows):
        notices.show_warning(words)
    route.show(found)
    claims_board.show(runs)
    advice_part.show(rows_beside(lead, found, results), {run.id: run.experiment for run in runs})

st.subheader("Drive the whole route", anchor="drive")
if under_way is not None:
    # Whoever pressed the button is here; the steps above and below light up one by one.
    job.show(under_way.id, under_way, step)
with st.container(border=True, key="drive"):
    controls.shape_and_protocol()
    with st.container(horizontal=True, vertical_alignment="center"):
        drive_part.show_buttons(wanted, runs)
        st.caption(
            f"One arm per step, about {formatting.seconds(expected_s)} on a 2-core machine. "
            f"{suite_hint.words(state.device)}"
        )
route.show_steps(found, runs, step)
