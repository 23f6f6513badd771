"""`python -m engine gpu-check`: smoke test, GPU tests and first results of a GPU box within five minutes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from engine import gpu_check as gpu
from engine.cli.console import say


def gpu_check(
    device: Annotated[
        str | None, typer.Option(help="The first CUDA device unless named; cpu tries out the check.")
    ] = None,
    folder: Annotated[Path, typer.Option(help="Where CSVs and report.md go.")] = Path("gpu-check"),
    limit_s: Annotated[float, typer.Option(help="Seconds after which everything has ended.")] = gpu.LIMIT_S,
) -> None:
    """Look whether this torch tells what we ask, run the GPU tests, then measure technique after technique."""
    raise typer.Exit(gpu.check(device, folder, say, limit_s))
