"""Where words go: results to stdout, everything said on the way to stderr, so that results can be piped."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

OUT = Console(soft_wrap=True, highlight=False)
ERR = Console(stderr=True, soft_wrap=True, highlight=False)


def say(text: str) -> None:
    """A result, as it is: nothing in it is markup."""
    OUT.print(Text(text))


def say_aside(text: str) -> None:
    """Something to know that is not the result."""
    ERR.print(Text(text))


def complain(text: str) -> None:
    """What is wrong and what to do."""
    ERR.print(Text(text, style="red"))
