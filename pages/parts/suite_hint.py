"""The command that measures every variant of every step, and about how long that takes."""

import streamlit as st

from engine import catalog, formatting, worker
from engine.dynamic_shapes.lengths import default_lengths
from engine.dynamic_shapes.requests import realistic_lengths, within_budget
from engine.estimate import estimate_seconds
from engine.journey import suite
from engine.result import Machine
from engine.spec import Workload, find_protocol

ARTICLE_LENGTH = 11


def words(device: str) -> str:
    """One sentence, as Markdown: the command as it stands there measures the usual model, batch and protocol."""
    machine = worker.get().machine()
    command = "python -m engine suite" + ("" if device == "cpu" else f" --device {device}")
    about = formatting.seconds(round(_expected_s(device, repr(machine), machine)))
    return f"Every variant of every step takes about {about} there, from a terminal: `{command}`."


@st.cache_resource(max_entries=8, show_spinner=False)
def _expected_s(device: str, key: str, _machine: Machine | None) -> float:
    """Seconds on a 2-core CPU without what this machine cannot run; worked out once for each device."""
    lengths = default_lengths(device)
    stages = suite(
        [_point(ARTICLE_LENGTH)],
        [_point(length) for length in lengths],
        protocol=find_protocol("standard"),
        device=device,
        requests=within_budget(realistic_lengths(max(lengths)), 1, device).lengths,
        machine=_machine,
    )
    return sum(estimate_seconds(stage.experiment, _machine) for stage in stages)


def _point(length: int) -> Workload:
    return Workload(model=catalog.MODELS[0].key, batch_size=1, sequence_length=length)
