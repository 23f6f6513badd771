"""Units as people write them, in headers and in cells -> factor to base units."""

from __future__ import annotations

import re
from dataclasses import dataclass

_TIME = {
    "s": (1.0, "s sec secs second seconds sekunde sekunden"),
    "ms": (1e-3, "ms msec msecs millisecond milliseconds millisekunden"),
    "us": (1e-6, "us \u00b5s \u03bcs usec usecs microsecond microseconds"),
    "ns": (1e-9, "ns nsec nanosecond nanoseconds"),
}
_BYTES = {
    "B": (1.0, "b byte bytes"),
    "kB": (1e3, "kb"),
    "MB": (1e6, "mb"),
    "GB": (1e9, "gb"),
    "TB": (1e12, "tb"),
    "KiB": (2.0**10, "kib"),
    "MiB": (2.0**20, "mib"),
    "GiB": (2.0**30, "gib"),
}
_COUNTED = "req reqs requests sample samples it iter items image images img tok tokens calls"
_PER_SECOND = ("1/s", "hz", "fps", "qps", *(f"{what}/s" for what in _COUNTED.split()))
_FLOPS = {"FLOP/s": 1.0, "MFLOP/s": 1e6, "GFLOP/s": 1e9, "TFLOP/s": 1e12}


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit: `kind` is the base unit (a `engine.metrics.Unit`, or `per_second`), `factor` converts to it."""

    key: str
    kind: str
    factor: float


def _table() -> tuple[dict[str, Unit], dict[str, Unit]]:
    units: dict[str, Unit] = {}
    spellings: dict[str, Unit] = {}

    def add(key: str, kind: str, factor: float, *names: str) -> None:
        units[key] = Unit(key, kind, factor)
        spellings.update(dict.fromkeys((key.lower(), *names), units[key]))

    for key, (factor, names) in _TIME.items():
        add(key, "seconds", factor, *names.split())
    for key, (factor, names) in _BYTES.items():
        add(key, "bytes", factor, *names.split())
        add(
            f"{key}/s",
            "bytes_per_second",
            factor,
            *(f"{name}{per}" for name in names.split() for per in ("/s", "/sec", "ps")),
        )
    for key, factor in _FLOPS.items():
        stem = key.removesuffix("/s").lower()
        add(key, "flops_per_second", factor, stem + "s", stem + "/s")
    add("1/s", "per_second", 1.0, *_PER_SECOND)
    add("%", "fraction", 0.01, "percent")
    return units, spellings


UNITS, _SPELLINGS = _table()
TIME_UNITS = tuple(_TIME)
BYTE_UNITS = tuple(_BYTES)
RATE_KINDS = ("bytes_per_second", "flops_per_second", "per_second")
RATE_UNITS = tuple(key for key, unit in UNITS.items() if unit.kind in RATE_KINDS)

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_BRACKETS = re.compile(r"^(.*?)\s*[(\[]\s*([^()\[\]]+?)\s*[)\]]\s*(#\d+)?$")
_AFTER = re.compile(r"^(.*\S)(?:\s+in\s+|\s*/\s*)(\S+)$")


def find_unit(text: str) -> Unit | None:
    """The unit written as `text`, in any usual spelling; None when it is none."""
    return _SPELLINGS.get(text.strip().lower())


def words(header: str) -> list[str]:
    """ "GPUName", "seq_len", "Batch size" -> lower-case words."""
    return re.findall(r"[^\W_]+", _CAMEL.sub(" ", header).lower())


def split_header(header: str) -> tuple[str, Unit | None]:
    """Name and unit of a column: "Latency (ms)", "time_us", "Latenz/ms", "samples_per_second", "GFLOPS"."""
    for pattern in (_BRACKETS, _AFTER):
        found = pattern.match(header)
        if found and (unit := find_unit(found[2])):
            return found[1], unit
    parts = words(header)
    if parts[-2:] in (["per", "second"], ["per", "sec"], ["per", "s"]):
        return header, UNITS["1/s"]
    # "min" and "b" as last words mean minimum and the letter, so only unmistakable units are taken from names.
    if parts and parts[-1] != "b" and (unit := find_unit(parts[-1])):
        return " ".join(parts[:-1]), unit
    return header, None
