"""Where words go: results to stdout, everything said on the way to stderr, so that results can be piped.

Words may quote a file from anywhere: nothing in them is markup, and no character of theirs steers the terminal.
"""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

OUT = Console(soft_wrap=True, highlight=False)
ERR = Console(stderr=True, soft_wrap=True, highlight=False)

_STEERING = dict.fromkeys((*range(0x20), *range(0x7F, 0xA0)), "\N{REPLACEMENT CHARACTER}")
"""C0, DEL and C1: colours, cursor and title are set by these."""
for _kept in "\n\t":
    del _STEERING[ord(_kept)]


def plain(text: str, style: str = "") -> Text:
    """Text for the terminal, or for a cell of a table, letter by letter."""
    return Text(text.translate(_STEERING), style)


def say(text: str) -> None:
    """A result, as it is: nothing in it is markup."""
    OUT.print(plain(text))


def say_aside(text: str) -> None:
    """Something to know that is not the result."""
    ERR.print(plain(text))


def complain(text: str) -> None:
    """What is wrong and what to do."""
    ERR.print(plain(text, "red"))
