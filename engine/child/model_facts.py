"""What a model's configuration says about its size, as facts of `engine.metrics`; `engine.floors` computes with them."""

from __future__ import annotations

from typing import Any

import torch

INTERMEDIATE_NAMES = ("intermediate_size", "hidden_dim", "ffn_dim")


def model_facts(program: Any) -> dict[str, Any]:
    """Architecture, sizes and bytes of the parameters; a size the configuration does not name is None."""
    if not isinstance(program, torch.nn.Module):
        return {}
    config = getattr(program, "config", None)
    return {
        "model_type": getattr(config, "model_type", None),
        "num_layers": getattr(config, "num_hidden_layers", None),
        "hidden_size": getattr(config, "hidden_size", None),
        "intermediate_size": next(filter(None, (getattr(config, name, None) for name in INTERMEDIATE_NAMES)), None),
        "parameter_bytes": sum(parameter.nbytes for parameter in program.parameters()),
    }
