"""The devices of a file's readings: as the file says, as its name says, or as a person corrected."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from engine.imports.device_names import from_file_name, from_list


def named_devices(frame: pd.DataFrame, file: str, names: Mapping[str, str]) -> tuple[pd.DataFrame, str]:
    """`frame` with devices under their names, and where these come from; without any, the file's name speaks of one."""
    device, source = frame["device"], "from the file"
    if device.isna().all():
        device, source = pd.Series(from_file_name(file), index=frame.index).astype("category"), "from the file's name"
    new = {name: from_list(name) for name in device.cat.categories}
    if names:
        new, source = {name: names.get(found, found) for name, found in new.items()}, "as corrected"
    return frame.assign(device=_renamed(device, new)), source


def _renamed(device: pd.Series, new: Mapping[str, str]) -> pd.Series:
    """Categories under new names; two that get the same name become one device."""
    targets = list(dict.fromkeys(new.values()))
    places = np.array([*(targets.index(new[name]) for name in device.cat.categories), -1])
    return pd.Series(
        pd.Categorical.from_codes(places[device.cat.codes], pd.Index(targets, dtype="str")), index=device.index
    )


def names_in(frame: pd.DataFrame) -> tuple[str, ...]:
    """The devices of a frame, in order of appearance."""
    return tuple(map(str, frame["device"].dropna().unique()))
