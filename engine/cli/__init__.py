"""The commands of `python -m engine`, one file each.

Exit codes: 0 everything asked for was measured (or verified), 1 something was not, 2 the request cannot be carried out,
130 cancelled.
"""

from __future__ import annotations

import sys

import typer

from engine.cli.compare import compare
from engine.cli.console import complain
from engine.cli.devices import devices
from engine.cli.gpu_check import gpu_check
from engine.cli.meeting import meeting
from engine.cli.run import run
from engine.cli.selftest import selftest
from engine.cli.suite import suite
from engine.cli.verify import verify
from engine.errors import UserError

EXIT_UNUSABLE = 2

app = typer.Typer(
    help="Latency Lab: which inference optimisation really helps, on this machine, by how much and at what price.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for command in (devices, run, suite, compare, verify, selftest, gpu_check):
    app.command()(command)
app.command("report")(meeting)


def main() -> None:
    """Carry out one command; an error a person can mend is one sentence, never a traceback."""
    try:
        app()
    except UserError as error:
        complain(str(error))
        sys.exit(EXIT_UNUSABLE)
