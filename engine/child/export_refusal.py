"""A model that another runtime's exporter refuses: a failure of that variant, with the one line that says why."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from engine.errors import UserError

NOISE = re.compile(r"Check '|Exception from |FrontEnd API failed|Model wasn't fully|Summary|Failed to export|-*$")
"""How lines begin that name a place in the exporter's own source, or only that something failed."""
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


class ExportRefused(UserError):
    """The exporter does not take this model."""


@contextmanager
def exporting(runtime: str, *refusals: type[Exception]) -> Iterator[None]:
    """Turns the exporter's own `refusals` into a sentence; anything else is no refusal and passes."""
    try:
        yield
    except refusals as error:
        raise ExportRefused(
            f"This model cannot be exported to {runtime}: {useful_line(error)} Change the model, or leave this runtime out."
        ) from error


def useful_line(error: BaseException) -> str:
    """The first line that says something, of the error's deepest cause: exporters wrap theirs in advice."""
    while error.__cause__ is not None:
        error = error.__cause__
    lines = [line.strip().removeprefix("-- ") for line in _COLOURS.sub("", str(error)).splitlines()]
    useful = next((line for line in lines if line and not NOISE.match(line)), type(error).__name__)
    return useful if useful.endswith(".") else f"{useful}."
