"""One screen: a sentence, a picture or a table, and where the numbers come from. Plain text; whoever shows it escapes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pandas as pd

Drawing = tuple[Any, str]
"""A plotly figure (not imported before one is drawn) and what it shows, in words."""


@dataclass(frozen=True, slots=True, eq=False)
class Slide:
    """`key` is the same for the same screen of the same result. `stamp` names workload, device, versions and date.

    Of `draw` and `table` one is set. `draw` makes the figure when it is called, without subtitle: the stamp takes its place.
    """

    key: str
    sentence: str
    stamp: str
    draw: Callable[[], Drawing] | None = None
    table: pd.DataFrame | None = None
