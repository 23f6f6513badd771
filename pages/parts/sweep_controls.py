"""Controls of the pages that measure operators in many sizes: parts, sizes, dtype, length of the chain, caches, protocol."""

from dataclasses import replace
from typing import get_args

import streamlit as st

from engine import captions, catalog, formatting, worker
from engine.estimate import estimate_seconds
from engine.left_out import why_left_out
from engine.operator_experiment import PARTS, POWERS, USUAL_POWERS, Choice, Sizes, choice_of, choose
from engine.spec import MAX_OPERATIONS, PROTOCOLS, CacheMode, Experiment, Workload, find_protocol
from pages.parts import controls, link, notices

SIZES = {"default": "Default sizes", "full": "Full range", "own": "Choose"}
DTYPES = ("float32", "bfloat16", "float16", "float64", "int64")
CHOICES = {"sizes": get_args(Sizes), "operator_dtype": DTYPES, "cache": get_args(CacheMode)}
CACHE_HELP = (
    "Hot: the same arrays again and again, in a cache if they fit. Cold: the caches are emptied before every timed call, and a "
    "sample is one call."
)
OPERATIONS_HELP = (
    "How often the operator is applied, each time to the last result. Generated code can fuse all of them."
)


def experiment_of(technique: catalog.Technique) -> Experiment:
    """The experiment the widgets describe; the usual one while they describe none."""
    _prepare(technique)
    choice = _choice(technique)
    return _experiment(technique, choice if problem(technique) is None else Choice(parts=_usual_parts(technique)))


def problem(technique: catalog.Technique) -> str | None:
    """Why the widgets describe nothing that could be measured; None: they do."""
    choice = _choice(technique)
    if not choice.parts:
        return "Choose at least one part to measure."
    return "Choose at least one size." if choice.sizes == "own" and not choice.powers else None


def show(technique: catalog.Technique) -> None:
    """The widgets; below them stands how long the usual and all sizes take, and what is left out here."""
    trouble = problem(technique)
    notes = [trouble] if trouble else [_durations(technique), *_left_out(technique)]
    parts = {part.key: part.label for part in PARTS[technique.key]}
    st.pills(
        "What to measure", list(parts), selection_mode="multi", format_func=parts.__getitem__,
        key=_parts_key(technique), bind="query-params",
    )  # fmt: skip
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.segmented_control(
            "Sizes", list(SIZES), required=True, key="sizes", bind="query-params", format_func=SIZES.__getitem__,
            help="The full range is 2^10 to 2^26 elements for pre-allocation and 2^10 to 2^27 for fusion. An element has 4 bytes "
            "in float32, 2 in float16 and bfloat16, 8 in float64 and int64.",
        )  # fmt: skip
        st.segmented_control("Dtype", DTYPES, required=True, key="operator_dtype", bind="query-params")
        st.number_input(
            "Operations in the chain", 1, MAX_OPERATIONS, None, key="operations", bind="query-params", width=190,
            help=OPERATIONS_HELP,
        )  # fmt: skip
        st.segmented_control(
            "Caches", list(CHOICES["cache"]), required=True, key="cache", bind="query-params", format_func=str.capitalize,
            help=CACHE_HELP,
        )  # fmt: skip
        st.segmented_control(
            "Protocol", list(PROTOCOLS), required=True, key="protocol", bind="query-params", format_func=str.capitalize,
            help=controls.PROTOCOL_HELP,
        )  # fmt: skip
    if st.session_state.sizes == "own":
        st.multiselect("Elements", POWERS, key="powers", format_func=lambda power: f"2^{power} = {2**power:,}")
    for note in notes:
        st.caption(notices.plain(note))


def differences(technique: catalog.Technique, experiment: Experiment) -> list[str]:
    """How the widgets differ from what a run was measured with, in words."""
    ours, theirs = _choice(technique), choice_of(technique, experiment, worker.get().machine())
    state = st.session_state
    pairs = (
        ("other sizes", _sizes(theirs), _sizes(ours)),
        ("other parts", sorted(theirs.parts), sorted(ours.parts)),
        (theirs.dtype, theirs.dtype, ours.dtype),
        (f"{theirs.operations} operations", theirs.operations, ours.operations),
        (f"{theirs.cache_mode} caches", theirs.cache_mode, ours.cache_mode),
        (experiment.device, experiment.device, state.device),
        (f"the {experiment.protocol.name} protocol", experiment.protocol.name, state.protocol),
    )
    return [words for words, measured, chosen in pairs if measured != chosen] if theirs.parts else []


def _sizes(choice: Choice) -> tuple[str, tuple[int, ...]]:
    return choice.sizes, choice.powers if choice.sizes == "own" else ()


def _usual_parts(technique: catalog.Technique) -> tuple[str, ...]:
    return tuple(part.key for part in PARTS[technique.key] if part.is_usual)


def _parts_key(technique: catalog.Technique) -> str:
    return f"parts_{technique.key}"


def _prepare(technique: catalog.Technique) -> None:
    """Give the widgets their values before they are made: the link's, else those of the run it shows, else the usual ones."""
    state, run = st.session_state, link.shown_run(worker.get().store)
    of_run = _of_run(technique, run.experiment) if run is not None else {}
    linked = {name: key for name, text in st.query_params.to_dict().items() if (key := _key_of(name, text))}
    linked |= _linked_parts(technique)
    if run is not None and state.get("sweep_settings_of") != run.id:
        state["sweep_settings_of"] = run.id
        state.update(of_run)
    state.update(linked)
    usual = {"sizes": "default", "operator_dtype": "float32", "operations": 1, "cache": "hot", "powers": USUAL_POWERS}
    for name, value in ({**usual, _parts_key(technique): list(_usual_parts(technique))} | of_run).items():
        link.settle(name, value)


def _linked_parts(technique: catalog.Technique) -> dict[str, object]:
    """The parts that the link names by their labels, until the widget is made and keeps them itself."""
    name = _parts_key(technique)
    labels = st.query_params.get_all(name)
    named = [part.key for part in PARTS[technique.key] if part.label in labels]
    return {name: named} if named and name not in st.session_state else {}


def _key_of(name: str, text: str) -> str | None:
    """The key behind a choice of the link, where widgets put a choice's label; None for what is no choice."""
    labels = {key: (key, SIZES.get(key, key).lower()) for key in CHOICES.get(name, ())}
    return next((key for key, names in labels.items() if text.lower() in names), None)


def _of_run(technique: catalog.Technique, experiment: Experiment) -> dict[str, object]:
    choice = choice_of(technique, experiment, worker.get().machine())
    if not choice.parts:
        return {}
    return {
        _parts_key(technique): list(choice.parts),
        "sizes": choice.sizes,
        "powers": list(choice.powers),
        "operator_dtype": choice.dtype,
        "operations": choice.operations,
        "cache": choice.cache_mode,
    }


def _choice(technique: catalog.Technique) -> Choice:
    state = st.session_state
    return Choice(
        parts=tuple(state[_parts_key(technique)] or ()),
        sizes=state.sizes,
        powers=tuple(state.powers),
        dtype=state.operator_dtype,
        operations=state.operations,
        cache_mode=state.cache,
    )


def _experiment(technique: catalog.Technique, choice: Choice) -> Experiment:
    state = st.session_state
    model = Workload(model=state.model, batch_size=state.batch_size, sequence_length=state.sequence_length)
    return choose(
        technique,
        choice,
        model=model,
        device=state.device,
        protocol=find_protocol(state.protocol),
        machine=worker.get().machine(),
    )


def _durations(technique: catalog.Technique) -> str:
    """How long the chosen parts take at the default sizes and at all of them."""
    choice = _choice(technique)
    machine = worker.get().machine()
    times = [
        estimate_seconds(_experiment(technique, replace(choice, sizes=sizes)), machine) for sizes in ("default", "full")
    ]
    return (
        f"On a 2-core machine the default sizes take about {formatting.seconds(times[0])}, "
        f"the full range about {formatting.seconds(times[1])}."
    )


def _left_out(technique: catalog.Technique) -> list[str]:
    """A sentence for every chosen point that will not be measured here."""
    machine, device = worker.get().machine(), st.session_state.device
    reasons = {
        point: why_left_out(point, device, machine) for point in _experiment(technique, _choice(technique)).workloads
    }
    return [f"{captions.of_workload(point)}: {reason}." for point, reason in reasons.items() if reason]
