"""The description of this machine as it was last seen, so that pages have one before the new one is there."""

from __future__ import annotations

from engine.errors import InvalidSpec
from engine.result import Machine
from engine.serial import from_json, to_json
from engine.store.database import Database


class Machines(Database):
    """The one machine description of a data folder."""

    def set_machine(self, machine: Machine) -> None:
        """Replace the description."""
        self._change("INSERT OR REPLACE INTO remembered (name, value) VALUES ('machine', ?)", to_json(machine))

    def machine(self) -> Machine | None:
        """The description made at the last start; None before the first, or when another version wrote it."""
        rows = self._rows("SELECT value FROM remembered WHERE name = 'machine'")
        try:
            return from_json(rows[0]["value"], Machine) if rows else None
        except InvalidSpec:
            return None
