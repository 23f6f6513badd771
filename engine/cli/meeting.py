"""`python -m engine report`: result CSVs of one device as one HTML file for a meeting."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from engine import results_csv
from engine.cli.console import say
from engine.comparison import compare_run
from engine.errors import UnreadableFile, UserError
from engine.exports import meeting_pack
from engine.journey import steps
from engine.result import Run

Files = Annotated[list[Path], typer.Argument(help="Result CSVs of one device, the newest first.")]
Html = Annotated[Path, typer.Option(help="Where to write the page.")]


def meeting(files: Files, html: Html = Path("latency-lab.html")) -> None:
    """Route, claims, distributions, costs and environment as one HTML file that opens with no network."""
    if find_spec("plotly") is None:
        raise UserError("Charts need plotly, which is not installed here: pip install plotly.")
    runs = [run for file in files for run in results_csv.read(file)]
    _check_device(runs)
    points = [point for run in runs for point in run.experiment.workloads]
    model = next((point for point in points if point.model), points[0])
    results = [(run, compare_run(run)) for run in runs]
    html.write_text(meeting_pack(steps(results, model), results), encoding="utf-8")
    say(f"{html} written: {html.stat().st_size / 2**20:.1f} MB, opens with no network.")


def _check_device(runs: Sequence[Run]) -> None:
    """One route is measured on one device; several belong side by side."""
    devices = list(
        dict.fromkeys(run.environment.device.name if run.environment else run.experiment.device for run in runs)
    )
    if len(devices) > 1:
        raise UnreadableFile(
            f"The files are of several devices: {', '.join(devices)}. Give those of one, or use python -m engine compare."
        )
