"""What a workload's outputs should be: inputs, eager's own errors and float64 outputs, made once and passed as a file.

Made in a child of its own so that no measured arm's memory carries them; read back one case at a time. The file holds the
inputs too: both sides then compare the same thing even when a user's example inputs are random.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import safe_open
from safetensors.torch import save_file

from engine.child.output_errors import Errors, errors_of, real_positions
from engine.child.subject import Inputs, Subject, in_dtype
from engine.errors import UserError
from engine.serial import unstructure
from engine.spec import Workload, digest_of

RANDOM_CASES = 8
"""METHOD 4 A2 asks for at least 8 different inputs; a padded and an extreme case come on top."""
LARGE_CASE_BYTES = 4 * 2**20
"""Operators over megabytes are compared on three inputs, and in place: a file of them would fill the disk."""
MIN_CASES = 4
FILE_BYTES = 2**28
"""A workload whose outputs fill this much of the file is compared on fewer inputs, but at least on the first four."""
SAMPLED_ELEMENTS = 2**16
"""Of a large rowwise result so many elements at its beginning, at its end and spread between them are compared."""
EXTREME_SCALE = 1024.0


@dataclass(frozen=True, slots=True)
class Case:
    """One input with the outputs it should give: `exact` in float64 on the CPU, `eager` plain eager's own errors.

    `rows` are those of the outputs that `exact` holds; None: all.
    """

    name: str
    inputs: Inputs
    exact: tuple[torch.Tensor, ...]
    eager: tuple[Errors, ...]
    rows: torch.Tensor | None = None

    def kept(self, outputs: Iterable[torch.Tensor]) -> list[torch.Tensor]:
        """Copies of what is compared: the program may overwrite the originals at its next call."""
        return [_at(tensor, self.rows) if self.rows is not None else tensor.detach().clone() for tensor in outputs]


def flatten(outputs: Any) -> list[torch.Tensor]:
    """All tensors of any nest of dicts, sequences and dataclasses, in order; everything else is left out.

    A numpy array becomes a tensor over the same memory.
    """
    if isinstance(outputs, torch.Tensor):
        return [outputs]
    if isinstance(outputs, np.ndarray):
        return [torch.from_numpy(outputs)]
    if isinstance(outputs, Mapping):
        parts: Iterable[Any] = outputs.values()
    elif isinstance(outputs, list | tuple):
        parts = outputs
    elif is_dataclass(outputs):
        parts = [getattr(outputs, field.name) for field in fields(outputs)]
    else:
        return []
    return [tensor for part in parts for tensor in flatten(part)]


def case_inputs(subject: Subject) -> Iterator[tuple[str, Inputs]]:
    """Named input sets to compare outputs on: different random ones, a padded one, an extreme one; all of one shape."""
    first = subject.inputs(0)
    yield "random 0", first
    yield "random 1", subject.inputs(1)
    # Of another input than the one before: ignoring the mask would look like a stale answer otherwise.
    padded = _padded(subject.inputs(2))
    if padded is not None:
        yield "padded", padded
    yield "extreme", _extreme(first)
    if not _is_large(first):
        for index in range(2, RANDOM_CASES):
            yield f"random {index}", subject.inputs(index)


def make_cases(subject: Subject) -> Iterator[Case]:
    """Each case computed here and now, one at a time."""
    double = subject.as_float64()
    for name, inputs in case_inputs(subject):
        rows = sampled_rows(inputs) if subject.is_rowwise and _is_large(inputs) else None
        compared = inputs if rows is None else _inputs_at(inputs, rows)
        with torch.inference_mode():
            exact = tuple(_to_float64(tensor) for tensor in flatten(double.eager(compared)))
            outputs = flatten(subject.eager(_as_weights(subject, compared)))
        real = real_positions(inputs)
        eager = tuple(errors_of(output, want, real) for output, want in zip(outputs, exact, strict=True))
        yield Case(name, inputs, exact, eager, rows)


def _as_weights(subject: Subject, inputs: Inputs) -> Inputs:
    """Where a technique has cast the weights in place, eager takes inputs like them; the reference keeps the originals."""
    dtype = subject.dtype()
    return inputs if dtype is None else in_dtype(inputs, dtype)


def sampled_rows(inputs: Inputs) -> torch.Tensor:
    """Rows of a large result to compare: its first ones, as many spread evenly, its last ones; some may come twice."""
    largest = _largest(inputs)
    size = largest.shape[0]
    count = min(size, max(1, SAMPLED_ELEMENTS * size // largest.numel()))
    spread = torch.linspace(0, size - 1, count, dtype=torch.float64).long()
    return torch.cat([torch.arange(count), spread, torch.arange(size - count, size)])


def make_references(subjects: Sequence[Subject], path: str | Path) -> None:
    """Write the cases of every subject's workload to `path` (safetensors), except those too large for a file."""
    tensors: dict[str, torch.Tensor] = {}
    # An entry of its own: safetensors cannot read back a file with neither tensors nor metadata.
    metadata: dict[str, str] = {"format": "pt"}
    for subject in subjects:
        if _is_large(subject.inputs(0)):
            continue
        key = _key(subject.workload)
        described, size = [], 0
        for number, case in enumerate(make_cases(subject)):
            inputs = _tensors(case.inputs)
            for name, tensor in inputs.items():
                tensors[f"{key}/{number}/input/{name}"] = tensor.detach().cpu().clone().contiguous()
            for position, tensor in enumerate(case.exact):
                tensors[f"{key}/{number}/exact/{position}"] = tensor.contiguous()
            plain = {name: value for name, value in case.inputs.items() if name not in inputs}
            described.append([case.name, list(inputs), plain, [asdict(errors) for errors in case.eager]])
            size += sum(tensor.nbytes for tensor in case.exact)
            if size > FILE_BYTES and len(described) >= MIN_CASES:
                break
        metadata[key] = json.dumps(described)
        metadata[f"{key}/weights"] = subject.note or ""
    save_file(tensors, str(path), metadata)


def cases_of(subject: Subject, path: str | Path | None) -> Iterator[Case]:
    """The cases of a subject from the file at `path`; made here and now where there is no file, or it has none for it.

    Raises `UserError` when the file was made with other weights than this process has.
    """
    key = _key(subject.workload)
    if path is not None:
        with safe_open(str(path), framework="pt") as file:
            metadata = file.metadata() or {}
            described = metadata.get(key)
            if described is not None:
                _check_weights(subject.note or "", metadata.get(f"{key}/weights", ""))
                yield from _read(file, key, json.loads(described), subject.device)
                return
    yield from make_cases(subject)


def _check_weights(ours: str, theirs: str) -> None:
    """Every child looks for the model itself: a hub that answers one and not the other must not look like a wrong result."""
    if _are_random(ours) != _are_random(theirs):
        raise UserError(
            f"Wrong weights: this process has {ours}; the references were made with {theirs}. "
            "Download the model, or wait until the hub answers every time, and measure again."
        )


def _are_random(note: str) -> bool:
    return note.startswith("random weights")


def _read(file: Any, key: str, described: list[Any], device: str) -> Iterator[Case]:
    for number, (name, tensors, plain, eager) in enumerate(described):
        yield Case(
            name=name,
            inputs=plain | {each: file.get_tensor(f"{key}/{number}/input/{each}").to(device) for each in tensors},
            exact=tuple(file.get_tensor(f"{key}/{number}/exact/{place}") for place in range(len(eager))),
            eager=tuple(Errors(**errors) for errors in eager),
        )


def _largest(inputs: Inputs) -> torch.Tensor:
    """The input whose rows are the result's."""
    return max(_tensors(inputs).values(), key=torch.Tensor.numel)


def _inputs_at(inputs: Inputs, rows: torch.Tensor) -> Inputs:
    """The inputs at some rows; what has not the rows of the largest, like a bias, is the same for all of them."""
    shape = _largest(inputs).shape
    return {
        name: _at(value, rows) if isinstance(value, torch.Tensor) and value.shape == shape else value
        for name, value in inputs.items()
    }


def _at(tensor: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    return tensor.detach().index_select(0, rows.to(tensor.device))


def _is_large(inputs: Inputs) -> bool:
    return sum(tensor.nbytes for tensor in _tensors(inputs).values()) > LARGE_CASE_BYTES


def _key(workload: Workload) -> str:
    return digest_of(unstructure(workload))


def _to_float64(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().to("cpu", torch.float64)


def _tensors(inputs: Inputs) -> dict[str, torch.Tensor]:
    return {name: value for name, value in inputs.items() if isinstance(value, torch.Tensor)}


def _padded(inputs: Inputs) -> Inputs | None:
    """The same inputs with the second half of the last row masked out; None without an attention mask to do it with."""
    mask = _tensors(inputs).get("attention_mask")
    if mask is None or mask.ndim != 2 or mask.shape[1] < 2:
        return None
    padded = mask.clone()
    padded[-1, (mask.shape[1] + 1) // 2 :] = 0
    return {**inputs, "attention_mask": padded}


def _extreme(inputs: Inputs) -> Inputs:
    """Floats a thousand times larger; whole numbers other than masks all equal to their largest."""
    extreme = dict(inputs)
    for name, tensor in _tensors(inputs).items():
        if tensor.is_floating_point():
            extreme[name] = tensor * EXTREME_SCALE
        elif "mask" not in name:
            extreme[name] = torch.full_like(tensor, tensor.max().item())
    return extreme
