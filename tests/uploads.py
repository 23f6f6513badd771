"""The upload files under tests/data/uploads, read as a person would: questions answered, then compared."""

from __future__ import annotations

from pathlib import Path

from engine.device_comparison import (
    DeviceArm,
    Ratio,
    measures_of,
    over_device,
    over_own_baseline,
    summarise,
    usual_baseline,
)
from engine.imports import Corrections, Imported, read
from engine.imports.readings import merge

FOLDER = Path(__file__).parent / "data" / "uploads"


def path_of(start: str) -> Path:
    """The one file whose name starts with `start`."""
    (path,) = FOLDER.glob(f"{start}*")
    return path


def read_upload(start: str, unit: str | None = None, **corrections: object) -> Imported:
    """A file with every unit question answered by `unit`, and anything else corrected."""
    path = path_of(start)
    known = Corrections(**corrections)  # type: ignore[arg-type]
    found = read(path.name, path.read_bytes(), known)
    if unit is None:
        return found
    units = {column: unit for question in found.understanding.questions for column in question.columns}
    return read(path.name, path.read_bytes(), Corrections(units=units, **corrections))  # type: ignore[arg-type]


def arms_of(*files: Imported, measure: str | None = None) -> list[DeviceArm]:
    """The arms of some files for one measure, the first by default."""
    arms = summarise(merge([file.frame for file in files]))
    measure = measure or next(measures_of(arms))
    return [arm for arm in arms if arm.measure == measure]


def own_speedups(arms: list[DeviceArm], baseline: str | None = None) -> dict[tuple[str, str], float | None]:
    """Speed-up over the device's own baseline by (device, technique), for sets with one point per technique."""
    return {(one.arm.device, one.arm.variant): one.speedup for one in own_ratios(arms, baseline)}


def own_ratios(arms: list[DeviceArm], baseline: str | None = None) -> list[Ratio]:
    """All ratios over each device's own baseline."""
    return over_own_baseline(arms, baseline or usual_baseline(arms))


def between(arms: list[DeviceArm], device: str) -> list[Ratio]:
    """Ratios of the other devices against `device`."""
    return [one for one in over_device(arms, device)[0] if not one.is_reference]
