"""What to measure where one process serves many lengths: the lengths, and the stream of requests that follows."""

import streamlit as st

from engine import catalog
from engine.catalog.dynamic_shapes import TWELVE_LENGTHS
from engine.dynamic_shapes.lengths import (
    default_lengths,
    in_words,
    longest_of,
    read_lengths,
    read_request_file,
    read_requests,
)
from engine.dynamic_shapes.requests import Stream, describe, realistic_lengths, warn_of_shapes, within_budget
from engine.errors import UserError
from engine.spec import Experiment, Workload, find_protocol
from pages.parts import controls, link, notices

REALISTIC, OWN, NONE = link.REQUESTS


def experiment_of(technique: catalog.Technique) -> Experiment:
    """The experiment the widgets describe; while one of them cannot be used (see `problem`) the usual lengths stand in."""
    state = st.session_state
    controls.refuse_code(state.model)
    lengths = _lengths_or_problem()[0]
    stream = _stream_or_problem()[0]
    return Experiment(
        workloads=tuple(
            Workload(model=state.model, batch_size=state.batch_size, sequence_length=length, dtype=state.dtype)
            for length in lengths
        ),
        variants=tuple(variant.key for variant in technique.variants),
        device=state.device,
        protocol=find_protocol(state.protocol),
        request_lengths=stream.lengths,
    )


def problem() -> str | None:
    """Why the widgets describe nothing that can be measured, in one sentence."""
    return _lengths_or_problem()[1] or _stream_or_problem()[1]


def differences(experiment: Experiment) -> list[str]:
    """How the widgets differ from what a run was measured with, in words."""
    measured = tuple(point.sequence_length for point in experiment.workloads)
    found = controls.differences_but_length(experiment)
    if measured != _lengths_or_problem()[0]:
        found.append(f"lengths {', '.join(map(str, measured))}")
    if experiment.request_lengths != _stream_or_problem()[0].lengths:
        found.append(f"{len(experiment.request_lengths):,} requests" if experiment.request_lengths else "no requests")
    return found


def show_controls(technique: catalog.Technique) -> None:
    """Lengths beside batch, dtype and protocol; below, the requests, what is wrong, and what many shapes lead to."""
    controls.shape_and_protocol(_length_box)
    st.segmented_control(
        "Requests after the rounds", link.REQUESTS, required=True, key="requests", bind="query-params",
        help="Answered one by one by every variant, with nothing compiled and an empty compile cache, stalls included.",
    )  # fmt: skip
    if _kind_of_requests() == OWN:
        _own_list()
    lengths, stream = _lengths_or_problem()[0], _stream_or_problem()[0]
    if sentence := problem():
        notices.show_warning(sentence)
        return
    st.caption(describe(stream))
    if warning := warn_of_shapes(lengths, stream.lengths, longest_of(st.session_state.model)):
        notices.show_warning(warning)


def _length_box() -> None:
    st.selectbox(
        "Sequence lengths", list(dict.fromkeys([st.session_state.lengths, *_presets()])), key="lengths", bind="query-params",
        accept_new_options=True, width=300, help="Choose a set, or type lengths with commas between them. The first process set "
        "meets them in this order, the next one reversed, later ones in random orders.",
    )  # fmt: skip


def _own_list() -> None:
    left, right = st.columns(2)
    left.text_area("One request per row", key="request_text", height=120, placeholder="tokens\n12\n48\n17")
    right.file_uploader("Or a CSV whose first column is the tokens", type=["csv", "txt", "tsv"], key="request_file")


def _presets() -> tuple[str, str]:
    return in_words(default_lengths("cpu")), in_words(TWELVE_LENGTHS)


def _lengths_or_problem() -> tuple[tuple[int, ...], str | None]:
    state = st.session_state
    usual = default_lengths(state.device)
    try:
        return read_lengths(state.setdefault("lengths", in_words(usual)) or "", longest_of(state.model)), None
    except UserError as error:
        return usual, str(error)


def _stream_or_problem() -> tuple[Stream, str | None]:
    state = st.session_state
    nothing = Stream((), 0, state.device)
    try:
        wanted = _requests()
    except UserError as error:
        return nothing, str(error)
    return within_budget(wanted, state.batch_size, state.device) if wanted else nothing, None


def _kind_of_requests() -> str:
    """What the widget says; before it is made, what the link says."""
    link.settle("requests", st.query_params.get("requests", REALISTIC))  # its worth was looked at by `drop_unusable`
    kind: str = st.session_state.requests
    return kind


def _requests() -> tuple[int, ...]:
    state, kind = st.session_state, _kind_of_requests()
    if kind == NONE:
        return ()
    if kind == REALISTIC:
        return realistic_lengths(max(_lengths_or_problem()[0]))
    file, longest = state.get("request_file"), longest_of(state.model)
    if file is not None:
        return read_request_file(file.name, file.getvalue(), longest)
    return read_requests(state.get("request_text") or "", longest)
