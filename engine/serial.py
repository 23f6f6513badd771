"""Frozen dataclasses to plain JSON values and back, by cattrs; one converter for the whole engine."""

from __future__ import annotations

import json
from typing import Any, TypeVar

import cattrs
from cattrs.preconf.json import make_converter

from engine.errors import InvalidSpec

T = TypeVar("T")

_converter = make_converter(forbid_extra_keys=True)
# A number that JSON wrote as 1 is a fine float, and None stays None; a string is never silently a number.
_converter.register_structure_hook(float, lambda value, _: _number(value))
_converter.register_structure_hook(int, lambda value, _: _integer(value))
_converter.register_structure_hook(str, lambda value, _: _text(value))
_converter.register_structure_hook(bool, lambda value, _: _boolean(value))


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{value!r} is not a number")
    return float(value)


def _integer(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"{value!r} is not a whole number")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is not text")
    return value


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{value!r} is neither true nor false")
    return value


def unstructure(value: Any) -> Any:
    """Dataclass -> dicts, lists, strings and numbers."""
    return _converter.unstructure(value)


def structure(value: Any, kind: type[T]) -> T:
    """Dicts and lists -> dataclass `kind`; raises `InvalidSpec` naming every field that does not fit."""
    try:
        return _converter.structure(value, kind)
    except cattrs.BaseValidationError as error:
        raise InvalidSpec(
            f"This is not a valid {kind.__name__}: {'; '.join(cattrs.transform_error(error))}."
        ) from error


def to_json(value: Any) -> str:
    """Canonical JSON of a dataclass: sorted keys, no spaces, and never NaN or infinity."""
    return json.dumps(unstructure(value), sort_keys=True, separators=(",", ":"), allow_nan=False)


def from_json(text: str, kind: type[T]) -> T:
    """Inverse of `to_json`; raises `InvalidSpec` for broken JSON as well."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise InvalidSpec(f"This is not JSON: {error}.") from error
    return structure(value, kind)
