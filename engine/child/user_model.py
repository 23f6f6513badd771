"""A user's own model: `path/to/file.py:build` returns a module and example inputs. Its code runs here, in the child, only."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from engine.errors import InvalidSpec, UnknownKey

SEPARATOR = ".py:"


def is_user_model(name: str) -> bool:
    """Whether `name` has the form `path/to/file.py:function`."""
    return SEPARATOR in name


def build(name: str, batch_size: int, sequence_length: int) -> tuple[torch.nn.Module, dict[str, Any]]:
    """Module and example inputs by name. `batch_size` and `sequence_length` are passed where the function takes them."""
    function = _find_function(name)
    wanted = inspect.signature(function).parameters
    sizes = {"batch_size": batch_size, "sequence_length": sequence_length}
    answer = function(**{key: value for key, value in sizes.items() if key in wanted})
    if not (isinstance(answer, tuple) and len(answer) == 2 and isinstance(answer[0], torch.nn.Module)):
        raise InvalidSpec(
            f"{name} returned {type(answer).__name__}; it must return a pair: an nn.Module and its example inputs "
            "(a dict, a tuple or one tensor)."
        )
    module, example = answer
    return module, _by_name(module, example)


@dataclass(frozen=True)
class ExampleInputs:
    """Inputs like the example: same names, shapes and types, other seeded values inside the example's range."""

    example: dict[str, Any]
    seed: int

    def random(self, index: int) -> dict[str, Any]:
        """Input set `index`; set 0 is the example itself."""
        if index == 0:
            return dict(self.example)
        generator = torch.Generator().manual_seed(self.seed + index)
        return {name: _like(value, generator) for name, value in self.example.items()}

    timed = random


def _find_function(name: str) -> Callable[..., Any]:
    file, _, function_name = name.rpartition(":")
    path = Path(file).expanduser().resolve()
    if not path.is_file():
        raise UnknownKey(
            f"Model file {file!r} does not exist. Name an existing Python file, as in path/to/file.py:build."
        )
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise UnknownKey(f"Model file {file!r} is not a Python file. Name one, as in path/to/file.py:build.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    function = getattr(module, function_name, None)
    if not callable(function):
        raise UnknownKey(f"{file} has no function {function_name!r}. Name the one that builds the model.")
    return function  # type: ignore[no-any-return]


def _by_name(module: torch.nn.Module, example: Any) -> dict[str, Any]:
    if isinstance(example, Mapping):
        return dict(example)
    positional = example if isinstance(example, tuple | list) else (example,)
    return dict(inspect.signature(module.forward).bind(*positional).arguments)


def _like(value: Any, generator: torch.Generator) -> Any:
    if not isinstance(value, torch.Tensor) or value.numel() == 0 or value.is_complex():
        return value
    if value.is_floating_point():
        reference = value.float()
        spread = reference.std(correction=0).item() if value.numel() > 1 else 1.0
        noise = torch.randn(value.shape, generator=generator)
        return (noise * spread + reference.mean().item()).to(value.dtype)
    low, high = int(value.min()), int(value.max())
    return torch.randint(low, high + 1, value.shape, generator=generator).to(value.dtype)
