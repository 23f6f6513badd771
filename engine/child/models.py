"""Loading a model as its users do: safetensors only, never remote code, evaluation mode, one fixed attention implementation.

Looked for in this order: an installed package or local folder; the local cache of the hub; the hub, if it answers quickly;
for well-known architectures, seeded random weights. Which of them it was is `LoadedModel.note`.
"""

from __future__ import annotations

import importlib.util
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import torch
from transformers import AutoModel, AutoTokenizer, BertConfig, DistilBertConfig, set_seed

from engine.catalog.models import MODELS
from engine.child.hub import hub_answers, hub_host
from engine.child.tokens import TokenInputs
from engine.child.user_model import ExampleInputs, build, is_user_model
from engine.errors import InvalidSpec, UnknownKey, UserError
from engine.spec import Workload

ATTENTION = "sdpa"
"""The implementation every arm uses; the library's own default. A model without it falls back to its eager attention."""
RANDOM_WEIGHTS = "random weights: timing valid, outputs meaningless"
KNOWN_CONFIGS: dict[str, Callable[[], Any]] = {
    "distilbert-base-uncased": DistilBertConfig,
    "distilbert/distilbert-base-uncased": DistilBertConfig,
    "bert-base-uncased": BertConfig,
    "google-bert/bert-base-uncased": BertConfig,
}
"""Architectures whose library defaults are exactly the published model, so they can be built without the hub."""


class InputSource(Protocol):
    """Where a model's inputs come from: random ones for comparing outputs, text ones for timing."""

    def random(self, index: int) -> dict[str, Any]: ...

    def timed(self, index: int) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedModel:
    """A model on its device in evaluation mode. `max_length` None means that the configuration names no limit."""

    module: torch.nn.Module
    note: str
    attention: str | None
    max_length: int | None
    inputs_of: Callable[[Workload, str, int], InputSource]
    """`(workload, text, seed)` -> inputs of that shape."""


def load_model(workload: Workload, device: str, seed: int) -> LoadedModel:
    """The workload's model (hub id, catalog key, local folder or `file.py:build`) in its dtype on `device`.

    Raises a `UserError` for a model that cannot be had.
    """
    name, dtype = workload.model or "", getattr(torch, workload.dtype)
    if not dtype.is_floating_point:
        raise InvalidSpec(
            f"dtype is {workload.dtype}; a model needs a floating-point type. Choose float32, bfloat16 or float16."
        )
    # Whatever is not in a checkpoint (a pooler, a user's layers) is drawn at random: the same numbers in every process.
    set_seed(seed)
    if is_user_model(name):
        return _load_user_model(workload, dtype, device)
    module, tokenizer, note = _load_transformer(name, dtype)
    vocabulary = module.config.vocab_size
    return LoadedModel(
        module=_ready(module, name).to(device),
        note=note if tokenizer is not None else f"{note}; no tokenizer, so token ids are random",
        attention=module.config._attn_implementation,
        max_length=_max_length(module.config, tokenizer),
        inputs_of=lambda point, text, inputs_seed: TokenInputs(
            point.batch_size or 1, point.sequence_length or 1, text, inputs_seed, vocabulary, tokenizer
        ),
    )


def _load_user_model(workload: Workload, dtype: torch.dtype, device: str) -> LoadedModel:
    module, example = build(workload.model or "", workload.batch_size or 1, workload.sequence_length or 1)
    if any(part.training for part in module.modules()):
        raise InvalidSpec(
            f"{workload.model} returned a module in training mode. Call .eval() on it before returning it."
        )
    example = {
        key: value.to(dtype) if isinstance(value, torch.Tensor) and value.is_floating_point() else value
        for key, value in example.items()
    }
    return LoadedModel(
        module=module.to(device=device, dtype=dtype).requires_grad_(False),
        note="the user's own model and example inputs",
        attention=None,
        max_length=None,
        inputs_of=lambda _point, _text, inputs_seed: ExampleInputs(example, inputs_seed),
    )


def _load_transformer(name: str, dtype: torch.dtype) -> tuple[Any, Any | None, str]:
    """(module, tokenizer or None, note)."""
    folder = _find_folder(name)
    if folder is not None:
        return (*_pretrained(name, str(folder), dtype, local_only=True), f"real weights from {_source_of(name)}")
    try:
        return (*_pretrained(name, name, dtype, local_only=True), "real weights from the hub's local cache")
    except UnknownKey:
        if hub_answers(name):
            return (*_pretrained(name, name, dtype, local_only=False), f"real weights from {hub_host()}")
    if name not in KNOWN_CONFIGS:
        raise UnknownKey(
            f"Model {name!r} was not found: it is no local folder, not in the hub's local cache, and {hub_host()} did not "
            "answer. Check the name or the network, or name a folder that holds config.json and model.safetensors."
        )
    module = AutoModel.from_config(  # type: ignore[no-untyped-call]
        KNOWN_CONFIGS[name](), attn_implementation=ATTENTION, dtype=dtype
    )
    looked = f"not in the hub's local cache, and {hub_host()} did not answer"
    return module, None, f"{RANDOM_WEIGHTS} ({looked})"


def _find_folder(name: str) -> Path | None:
    card = next((card for card in MODELS if card.key == name), None)
    if card is None or card.package is None:
        return Path(name) if Path(name).is_dir() else None
    spec = importlib.util.find_spec(card.package)
    if spec is None or spec.origin is None:
        raise UnknownKey(
            f"Model {name} comes with the package {card.package}, which is not installed. Install it with pip."
        )
    return next(Path(spec.origin).parent.rglob("model.safetensors")).parent


def _source_of(name: str) -> str:
    card = next((card for card in MODELS if card.key == name), None)
    return f"the package {card.package}" if card and card.package else "a local folder"


def _pretrained(name: str, source: str, dtype: torch.dtype, *, local_only: bool) -> tuple[Any, Any | None]:
    """(module, tokenizer or None) from `source`; `UnknownKey` when it is not there or holds no safetensors."""
    options = {"local_files_only": local_only, "trust_remote_code": False}
    try:
        module = _with_attention(
            lambda attention: AutoModel.from_pretrained(
                source, dtype=dtype, attn_implementation=attention, use_safetensors=True, **options
            )
        )
    except (OSError, ValueError) as error:
        reason = str(error).strip().splitlines()[0]
        raise UnknownKey(f"Model {name!r} cannot be loaded (only safetensors are): {reason}") from error
    try:
        return module, AutoTokenizer.from_pretrained(source, **options)
    except (OSError, ValueError):
        return module, None


def _with_attention(load: Callable[[str], Any]) -> Any:
    try:
        return load(ATTENTION)
    except ValueError as error:
        if "scaled_dot_product_attention" not in str(error):
            raise
        return load("eager")


def _ready(module: torch.nn.Module, name: str) -> torch.nn.Module:
    """In evaluation mode, without gradients and without a cache of past keys; refused when it is not a text encoder."""
    config: Any = module.config
    takes = inspect.signature(module.forward).parameters
    if getattr(config, "is_encoder_decoder", False) or not {"input_ids", "attention_mask"} <= set(takes):
        raise UserError(
            f"Model {name!r} ({config.model_type}) cannot be called with input_ids and attention_mask alone. "
            "Choose a text encoder or decoder, or write a file.py:build that returns the module and its inputs."
        )
    config.use_cache = False
    return module.eval().requires_grad_(False)


def _max_length(config: Any, tokenizer: Any | None) -> int | None:
    """The smaller of what the positions and the tokenizer allow (RoBERTa has two positions that no token may use)."""
    positions = [getattr(config, key, None) for key in ("max_position_embeddings", "n_positions")]
    limits = [limit for limit in (*positions, getattr(tokenizer, "model_max_length", None)) if limit]
    return int(min(limits)) if limits else None
