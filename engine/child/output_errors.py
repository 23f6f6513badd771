"""How far one output tensor is from its float64 reference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch


@dataclass(frozen=True, slots=True)
class Errors:
    """Distances of one tensor from the float64 reference, over real tokens and finite positions; unknown is None."""

    rmse: float | None
    max_abs: float | None
    reference_rms: float
    cosine: float | None
    argmax_agreement: float | None
    non_finite: int


def real_positions(inputs: Mapping[str, Any]) -> torch.Tensor | None:
    """(batch, sequence) booleans, False at padding; None without an attention mask."""
    mask = inputs.get("attention_mask")
    return None if mask is None else mask.detach().cpu().bool()


def errors_of(output: torch.Tensor, exact: torch.Tensor, real: torch.Tensor | None) -> Errors:
    """Compare in float64 on the CPU; raises `ValueError` when the shapes differ."""
    if output.shape != exact.shape:
        raise ValueError(f"an output has shape {tuple(output.shape)}, expected {tuple(exact.shape)}")
    found = output.detach().to("cpu", torch.float64)
    if real is not None and found.ndim >= 2 and found.shape[:2] == real.shape:
        found, exact = found[real], exact[real]
    is_finite = torch.isfinite(found) & torch.isfinite(exact)
    difference = (found - exact)[is_finite]
    return Errors(
        rmse=_rms(difference) if difference.numel() else None,
        max_abs=difference.abs().max().item() if difference.numel() else None,
        reference_rms=_rms(exact[torch.isfinite(exact)]),
        cosine=_worst_cosine(found, exact),
        argmax_agreement=_argmax_agreement(found, exact),
        non_finite=int((~torch.isfinite(found)).sum().item()),
    )


def _rms(values: torch.Tensor) -> float:
    return values.square().mean().sqrt().item() if values.numel() else 0.0


def _worst_cosine(found: torch.Tensor, exact: torch.Tensor) -> float | None:
    """Smallest cosine over tokens (last dimension), over the whole for a vector; a zero against a non-zero row counts 0."""
    rows, want = (tensor.reshape(-1, tensor.shape[-1] if tensor.ndim else 1) for tensor in (found, exact))
    known = torch.isfinite(rows).all(-1) & torch.isfinite(want).all(-1) & (want.norm(dim=-1) > 0)
    if not known.any():
        return None
    return torch.nn.functional.cosine_similarity(rows[known], want[known], dim=-1, eps=1e-300).min().item()


def _argmax_agreement(found: torch.Tensor, exact: torch.Tensor) -> float | None:
    """Fraction of tokens whose largest feature is the reference's; None for a vector."""
    if found.ndim < 2 or found.shape[-1] < 2 or not found.numel():
        return None
    return (found.argmax(-1) == exact.argmax(-1)).double().mean().item()
