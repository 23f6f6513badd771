"""`python -m engine verify`: does a result CSV still say what was measured?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from engine import results_csv
from engine.cli.console import complain, say
from engine.formatting import counted

EXIT_CHANGED = 1


def verify(file: Annotated[Path, typer.Argument(help="A result CSV.")]) -> None:
    """Recompute every statistic from the samples and check the hashes; exit code 1 when anything was changed."""
    report = results_csv.verify(file)
    for problem in report.problems:
        complain(problem)
    if not report.passed:
        raise typer.Exit(EXIT_CHANGED)
    say(f"{report.name}: {counted(report.runs, 'run')}, {counted(report.samples, 'sample')}, all statistics as measured.")
