"""A variant's code with the settings filled in: complete, runnable, exactly what was measured."""

from __future__ import annotations

import json
import re
from pathlib import Path

from engine.catalog import MODELS, Variant
from engine.spec import Experiment, Workload

_PLACEHOLDER = re.compile(r"\{(model|batch_size|sequence_length|dtype|device|text|elements|operations)\}")
_LOADING = re.compile(r"^model = AutoModel.*?^inputs = [^\n]*\n", re.DOTALL | re.MULTILINE)
_PRECISION = re.compile(r"dtype=(torch\.\w+)")
_CAST = """\
model = model.to({dtype})
inputs = {{name: value.to({dtype}) if value.is_floating_point() else value for name, value in inputs.items()}}
"""
_USER_MODEL = ".py:"


def fill(variant: Variant, workload: Workload, experiment: Experiment) -> str:
    """The code to copy for `variant` at `workload` on the experiment's device, with its text."""
    return fill_text(dict(variant.codes).get(workload.subject, variant.code), workload, experiment)


def fill_text(code: str, workload: Workload, experiment: Experiment) -> str:
    """Any piece of the catalog's code with the settings filled in."""
    if workload.model and _USER_MODEL in workload.model:
        code = _LOADING.sub(lambda loading: _build_lines(workload, loading[0]), code)
    values = {
        "model": _quoted(_loadable(workload.model or "")),
        "batch_size": str(workload.batch_size),
        "sequence_length": str(workload.sequence_length),
        "dtype": workload.dtype,
        "device": experiment.device,
        "text": _quoted(experiment.text),
        "elements": str(workload.elements),
        "operations": str(workload.operations or 1),
    }
    # In one pass: a text that itself says {device} stays as it is.
    return _PLACEHOLDER.sub(lambda found: values[found[1]], code)


def _loadable(model: str) -> str:
    """What `from_pretrained` understands: a model that comes with a package here is on the hub under its own name."""
    return next((card.hub_id for card in MODELS if card.key == model and card.hub_id), model)


def _build_lines(workload: Workload, loading: str) -> str:
    """What loads a model of one's own in the place of `loading`, in the precision that names, if it names one."""
    file, _, function = (workload.model or "").rpartition(":")
    precision = _PRECISION.search(loading)
    cast = "" if precision is None else _CAST.format(dtype=precision[1])
    return (
        f"from {Path(file).stem} import {function}\n\n"
        f"model, inputs = {function}()  # inputs: tensors by name\n"
        'model, inputs = model.to("{device}"), {name: value.to("{device}") for name, value in inputs.items()}\n' + cast
    )


def _quoted(text: str) -> str:
    """`text` as it stands between double quotes in Python."""
    return json.dumps(text, ensure_ascii=False)[1:-1]
