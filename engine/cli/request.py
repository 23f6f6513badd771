"""Options of the command line -> an experiment."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from engine.catalog import TECHNIQUES, Variant, find_technique, find_variant, fits
from engine.errors import InvalidSpec, StorageError
from engine.operator_experiment import in_parts, last_cache_of, operator_workloads, part_keys, variants_of
from engine.result import Machine
from engine.spec import Experiment, Workload, find_protocol

USER_MODEL = ".py:"


def choose_variants(
    techniques: Iterable[str], variants: Iterable[str], parts: Sequence[str] = ()
) -> tuple[Variant, ...]:
    """All variants of the named techniques, then the named variants, each once; raises `InvalidSpec` for none at all.

    Of a technique in parts only those that the named parts need, or the usual parts where none is named.
    """
    chosen = [variant for key in techniques for variant in variants_of(find_technique(key), parts)]
    chosen += [find_variant(key) for key in variants]
    if not chosen:
        known = ", ".join(technique.key for technique in TECHNIQUES)
        raise InvalidSpec(f"Nothing to measure: name a --technique ({known}) or a --variant.")
    return tuple(dict.fromkeys(chosen))


def model_workloads(
    model: str, batch_sizes: Sequence[int], sequence_lengths: Sequence[int], dtype: str
) -> tuple[Workload, ...]:
    """One model at every combination of the given shapes."""
    name = absolute_model(model)
    return tuple(
        Workload(model=name, batch_size=batch_size, sequence_length=length, dtype=dtype)
        for batch_size, length in product(dict.fromkeys(batch_sizes), dict.fromkeys(sequence_lengths))
    )


def absolute_model(model: str) -> str:
    """Local folders and files by their full path, since children run in another folder; hub ids as they are."""
    if USER_MODEL in model:
        path, function = model.rsplit(":", 1)
        return f"{Path(path).resolve()}:{function}"
    return str(Path(model).resolve()) if Path(model).is_dir() else model


def make_experiment(
    variants: Sequence[Variant],
    models: Sequence[Workload],
    protocol: str,
    *,
    dtype: str = "float32",
    elements: Sequence[int] | None = None,
    operations: int = 1,
    parts: Sequence[str] | None = None,
    machine: Machine | None = None,
    **settings: Any,
) -> Experiment:
    """Model variants measure `models`, operator variants their technique's points, at other sizes if asked.

    With `parts` only the points of those (none named: of the usual ones).

    With a machine those sizes end beyond its device's caches.
    """
    last_cache_bytes = last_cache_of(machine, str(settings.get("device", "cpu")))
    techniques = map(find_technique, dict.fromkeys(variant.technique for variant in variants if variant.subjects))
    points = [
        point
        for technique in techniques
        for point in operator_workloads(
            technique,
            dtype=dtype,
            elements=elements or None,
            operations=operations,
            last_cache_bytes=last_cache_bytes,
        )
        if any(fits(variant, point) for variant in variants)
        and (parts is None or in_parts(technique, part_keys(technique, parts), [point]))
    ]
    needs_models = any(not variant.subjects for variant in variants)
    return Experiment(
        workloads=(*(models if needs_models else ()), *dict.fromkeys(points)),
        variants=tuple(variant.key for variant in variants),
        protocol=find_protocol(protocol),
        **settings,
    )


def check_writable(csv: Path | None) -> None:
    """Refuse a result file that cannot be written before minutes are spent on measuring; raises `StorageError`."""
    if csv and not (csv.parent.is_dir() and os.access(csv.parent, os.W_OK) and not csv.is_dir()):
        raise StorageError(f"{csv} cannot be written. Name a file in a folder that exists and can be written.")
