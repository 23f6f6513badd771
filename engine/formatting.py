"""Number + unit -> text, for screens, tables and the command line. The only place where base units are converted.

Unknown (None or NaN) is "-". Two or three significant figures, units that fit.
"""

from __future__ import annotations

import math

UNKNOWN = "-"
_SECONDS = ((1e-9, "ns"), (1e-6, "us"), (1e-3, "ms"), (1.0, "s"))
_LONG = ((86_400, "d", 3_600, "h"), (3_600, "h", 60, "min"), (60, "min", 1, "s"))
_BYTES = ((1.0, "B"), (2.0**10, "KiB"), (2.0**20, "MiB"), (2.0**30, "GiB"), (2.0**40, "TiB"))


def _significant(value: float, digits: int = 3) -> str:
    """`value` rounded to `digits` significant figures, without an exponent, thousands separated."""
    if value == 0:
        return "0"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return f"{value:,.{min(decimals, 12)}f}"


def _scaled(value: float, units: tuple[tuple[float, str], ...]) -> str:
    size = abs(value)
    factor, unit = units[0]
    for candidate, name in units:
        # 999.6 of a unit would be written "1,000" of it; the next unit reads better.
        if size >= candidate * 0.9995:
            factor, unit = candidate, name
    return f"{_significant(value / factor)} {unit}"


def seconds(value: float | None) -> str:
    """1.23e-3 -> "1.23 ms"; minutes from 120 s on, hours from 120 min on, days from 48 h on."""
    if value is None or math.isnan(value):
        return UNKNOWN
    if value == 0:
        return "0 s"
    if abs(value) >= 120:
        whole = round(value)
        for large, name, small, part in _LONG:
            if whole >= 2 * large:
                return f"{whole // large:,} {name} {whole % large // small} {part}"
    return _scaled(value, _SECONDS)


def bytes_(value: float | None) -> str:
    """1,288,490,189 -> "1.20 GiB"."""
    if value is None or math.isnan(value):
        return UNKNOWN
    return "0 B" if value == 0 else _scaled(value, _BYTES)


def count(value: float | None) -> str:
    """1430.0 -> "1,430"."""
    return UNKNOWN if value is None or math.isnan(value) else f"{value:,.0f}"


def counted(number: float, noun: str, plural: str = "") -> str:
    """(1, "call") -> "1 call", (1430, "call") -> "1,430 calls"."""
    return f"{count(number)} {noun if number == 1 else plural or noun + 's'}"


def speedup(value: float | None) -> str:
    """1.4499 -> "1.45x"; three significant figures, at least two decimals below ten."""
    if value is None or math.isnan(value):
        return UNKNOWN
    return f"{value:.2f}x" if value < 10 else f"{_significant(value)}x"


def interval(low: float | None, high: float | None) -> str:
    """(2.11, 2.29) -> "[2.11, 2.29]"."""
    if low is None or high is None or math.isnan(low) or math.isnan(high):
        return UNKNOWN
    return f"[{speedup(low)[:-1]}, {speedup(high)[:-1]}]"


def fraction(value: float | None) -> str:
    """0.0123 -> "1.23 %"."""
    return UNKNOWN if value is None or math.isnan(value) else f"{_significant(value * 100)} %"


def rate(value: float | None, unit: str) -> str:
    """4.3e10 bytes per second -> "43.0 GB/s" (decimal, as bandwidth is sold)."""
    if value is None or math.isnan(value):
        return UNKNOWN
    units = ((1.0, unit), (1e3, f"k{unit}"), (1e6, f"M{unit}"), (1e9, f"G{unit}"), (1e12, f"T{unit}"))
    return "0 " + unit if value == 0 else _scaled(value, units)


def error(value: float | None) -> str:
    """3.7e-7 -> "3.7e-07": errors of outputs keep their exponent."""
    return UNKNOWN if value is None or math.isnan(value) else f"{value:.1e}"
