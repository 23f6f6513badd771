"""`python -m engine selftest`: does this harness tell the truth on this machine?"""

from __future__ import annotations

import time
from typing import Annotated

import typer

from engine.cli.console import say, say_aside
from engine.formatting import seconds
from engine.runner import describe_machine
from engine.selftest import suite
from engine.selftest.table import markdown

EXIT_NOT_KEPT = 1


def selftest(
    short: Annotated[bool, typer.Option("--short", help="About a minute instead of up to 25.")] = False,
) -> None:
    """Send known truths through the harness and compare with other timers; leave the machine alone meanwhile."""
    started = time.monotonic()
    machine = describe_machine()
    rows = list(suite.run(machine, suite.SHORT if short else suite.FULL, say_aside))
    say(markdown(machine, rows))
    say_aside(f"Took {seconds(time.monotonic() - started)}.")
    raise typer.Exit(EXIT_NOT_KEPT if any(row.is_kept is False for row in rows) else 0)
