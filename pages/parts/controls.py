"""What to measure: device and model for every page, shape, dtype and protocol for one. Each value is part of the link."""

from collections.abc import Callable

import streamlit as st

from engine import catalog, formatting
from engine.errors import InvalidSpec
from engine.result import Device, Machine, Run
from engine.spec import MAX_BATCH_SIZE, MAX_SEQUENCE_LENGTH, PROTOCOLS, Experiment, Workload, find_protocol
from pages.parts import link

PROTOCOL_HELP = (
    "Quick: 1 process set, dots and medians, no verdict. Standard: 5 process sets, the default. Rigorous: 10. "
    "Fixed before the run; nobody looks at the numbers and stops early."
)
DEFAULTS = {
    "device": "cpu",
    "model": catalog.MODELS[0].key,
    "batch_size": 1,
    "sequence_length": 11,
    "dtype": "float32",
    "protocol": "standard",
}


def device_and_model(machine: Machine | None) -> None:
    """The sidebar's two choices, shared by all pages."""
    devices = {device.key: _device_label(machine, device) for device in machine.devices} if machine else {"cpu": "CPU"}
    st.selectbox(
        "Device", list(devices), format_func=lambda key: devices.get(key, key), key="device", bind="query-params"
    )
    typed = st.session_state.get("model") or catalog.MODELS[0].key
    models = {typed: typed} | {card.key: card.label for card in catalog.MODELS}
    st.selectbox(
        "Model",
        list(models),
        format_func=lambda key: models.get(key, key),
        key="model",
        bind="query-params",
        accept_new_options=True,
        help="Choose one, or type any Hugging Face hub id or the path of a local folder with safetensors weights.",
    )
    if machine is None:
        st.caption("Looking at this machine: its devices appear in a few seconds.")


def _device_label(machine: Machine, device: Device) -> str:
    if device.backend == "cpu":
        return f"CPU · {machine.cpu_model} · {machine.physical_cores} cores"
    memory = f" · {formatting.bytes_(device.memory_bytes)}" if device.memory_bytes else ""
    return f"{device.name} · {device.key}{memory}"


def shape_and_protocol(length_box: Callable[[], None] | None = None) -> None:
    """Batch size, sequence length, dtype and protocol, with their limits stated; another box may ask for the length."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.number_input(
            "Batch size", 1, MAX_BATCH_SIZE, None, key="batch_size", bind="query-params", width=130,
            help=f"Sentences per call: 1 to {MAX_BATCH_SIZE:,}.",
        )  # fmt: skip
        (length_box or _length_box)()
        st.segmented_control(
            "Dtype", link.MODEL_DTYPES, required=True, key="dtype", bind="query-params",
            help="Number format of weights and activations, the same in every variant.",
        )  # fmt: skip
        st.segmented_control(
            "Protocol", list(PROTOCOLS), required=True, key="protocol", bind="query-params",
            format_func=str.capitalize, help=PROTOCOL_HELP,
        )  # fmt: skip


def _length_box() -> None:
    st.number_input(
        "Sequence length", 1, MAX_SEQUENCE_LENGTH, None, key="sequence_length", bind="query-params", width=150,
        help=f"Tokens per sentence: 1 to {MAX_SEQUENCE_LENGTH:,}, and no more than the model was made for. "
        "The article's sentence has 11.",
    )  # fmt: skip


def label_and_note() -> None:
    """What the person wants to remember about this run."""
    with st.expander("Label and note", icon=":material/label:"):
        st.text_input("Label", max_chars=80, key="run_label", placeholder="A100, driver 580, quiet machine")
        st.text_area("Note", max_chars=2000, key="run_note", height=80)


def experiment_of(technique: catalog.Technique) -> Experiment:
    """The experiment the widgets describe: every variant of the technique and those beside it, at the chosen point."""
    state = st.session_state
    refuse_code(state.model)
    workload = Workload(
        model=state.model, batch_size=state.batch_size, sequence_length=state.sequence_length, dtype=state.dtype
    )
    beside = (variant for kind, variant in technique.beside if state.device.startswith(kind))
    return Experiment(
        workloads=(workload,),
        variants=(*beside, *(variant.key for variant in technique.variants if catalog.fits(variant, workload))),
        device=state.device,
        protocol=find_protocol(state.protocol),
    )


def refuse_code(model: str | None) -> None:
    """Raise `InvalidSpec` for a model that is code.

    A model of one's own runs its own code; that is for the command line, where whoever types it owns the machine.
    """
    if not model or ".py:" in model or model.endswith(".py"):
        raise InvalidSpec(
            f"The model is {model!r}; this page takes a Hugging Face hub id or a local folder. "
            "Run a model from a Python file with the command line: python -m engine run --model file.py:build."
        )


def prepare(run: Run | None) -> None:
    """Give the widgets their values before they are made: the link's own, else those of the run it shows, else defaults."""
    state, linked = st.session_state, link.settings()
    of_run = _settings_of(run.experiment) if run is not None else {}
    if run is not None and state.get("settings_of") != run.id:
        state["settings_of"] = run.id
        state.update(of_run | linked)
    for name, value in (DEFAULTS | of_run | linked).items():
        link.settle(name, value)


def _settings_of(experiment: Experiment) -> dict[str, object]:
    """What the widgets can take of an experiment."""
    point = next((workload for workload in experiment.workloads if workload.model), None)
    shape = (
        {name: getattr(point, name) for name in ("model", "batch_size", "sequence_length", "dtype")} if point else {}
    )
    lengths = [str(workload.sequence_length) for workload in experiment.workloads if workload.model]
    shape |= {"lengths": ", ".join(lengths)} if len(lengths) > 1 else {}
    wanted = {"device": experiment.device, "protocol": experiment.protocol.name, **shape}
    return {name: value for name, value in wanted.items() if value in link.CHOICES.get(name, (value,))}


def differences(experiment: Experiment) -> list[str]:
    """How the widgets differ from what a run was measured with, in words; empty when they agree or cannot be compared."""
    length = experiment.workloads[0].sequence_length
    has_other_length = length is not None and length != st.session_state.sequence_length
    return differences_but_length(experiment) + ([f"{length} tokens"] if has_other_length else [])


def differences_but_length(experiment: Experiment) -> list[str]:
    """The same without the sequence length."""
    state = st.session_state
    point = experiment.workloads[0]
    measured_and_chosen = (
        (f"batch {point.batch_size}", point.batch_size, state.batch_size),
        (point.dtype, point.dtype, state.dtype),
        (point.model or "", point.model, state.model),
        (experiment.device, experiment.device, state.device),
        (f"the {experiment.protocol.name} protocol", experiment.protocol.name, state.protocol),
    )
    return [words for words, measured, chosen in measured_and_chosen if measured != chosen] if point.model else []
