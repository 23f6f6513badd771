"""Named comparison sets: stored runs side by side with frames read from uploaded files, so that a link shows them again."""

from __future__ import annotations

import json
import secrets
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from engine.errors import UnknownKey
from engine.store.database import Database, now, storage_errors


@dataclass(frozen=True, slots=True, kw_only=True)
class SetSummary:
    """A comparison set as lists show it."""

    id: str
    name: str
    created_at: str
    run_ids: tuple[str, ...]
    frame_names: tuple[str, ...]
    details: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonSet:
    """Runs (by id) and imported frames (by the name of their file) that are shown together.

    `details` are plain JSON values the comparison needs to show the set again: column roles, units, the chosen baseline.
    """

    id: str
    name: str
    created_at: str
    run_ids: tuple[str, ...]
    frames: Mapping[str, pd.DataFrame]
    details: Mapping[str, Any]


class ComparisonSets(Database):
    """The comparison sets of one data folder; frames lie beside the database as one parquet file each."""

    def add_set(
        self,
        name: str,
        *,
        run_ids: Sequence[str] = (),
        frames: Mapping[str, pd.DataFrame] | None = None,
        details: Mapping[str, Any] | None = None,
    ) -> str:
        """Keep a set; returns the id its link names."""
        set_id = secrets.token_hex(5)
        frames = frames or {}
        with storage_errors(self._frames_folder(set_id)):
            self._write_frames(set_id, frames.values())
        query = "INSERT INTO comparison_sets (id, name, created_at, run_ids, details, frames) VALUES (?, ?, ?, ?, ?, ?)"
        lists = [json.dumps(value) for value in (list(run_ids), dict(details or {}), list(frames))]
        self._change(query, set_id, name.strip(), now(), *lists)
        return set_id

    def list_sets(self) -> list[SetSummary]:
        """All sets, the newest first; frames are named, not read."""
        return [_summary(row) for row in self._rows("SELECT * FROM comparison_sets ORDER BY rowid DESC")]

    def set_summary(self, set_id: str) -> SetSummary:
        """A set without its frames, or `UnknownKey`."""
        rows = self._rows("SELECT * FROM comparison_sets WHERE id = ?", set_id)
        if not rows:
            raise _unknown(set_id)
        return _summary(rows[0])

    def get_set(self, set_id: str) -> ComparisonSet:
        """The set with its frames, or `UnknownKey`."""
        rows = self._rows("SELECT * FROM comparison_sets WHERE id = ?", set_id)
        if not rows:
            raise _unknown(set_id)
        (row,) = rows
        names = json.loads(row["frames"])
        with storage_errors(self._frames_folder(set_id)):
            frames = {name: pd.read_parquet(self._frame_path(set_id, place)) for place, name in enumerate(names)}
        return ComparisonSet(
            id=row["id"],
            name=row["name"],
            created_at=row["created_at"],
            run_ids=tuple(json.loads(row["run_ids"])),
            frames=frames,
            details=json.loads(row["details"]),
        )

    def change_set(
        self, set_id: str, *, run_ids: Sequence[str], frames: Mapping[str, pd.DataFrame], details: Mapping[str, Any]
    ) -> None:
        """Give a set other contents; its id, name and date stay, so that a link to it shows them."""
        fresh = self._frames_folder(f"{set_id}.{secrets.token_hex(5)}")
        with storage_errors(fresh):
            self._write_frames(fresh.name, frames.values())
            shutil.rmtree(self._frames_folder(set_id), ignore_errors=True)
            fresh.rename(self._frames_folder(set_id))
        lists = [json.dumps(value) for value in (list(run_ids), dict(details), list(frames))]
        if not self._change(
            "UPDATE comparison_sets SET run_ids = ?, details = ?, frames = ? WHERE id = ?", *lists, set_id
        ):
            shutil.rmtree(self._frames_folder(set_id), ignore_errors=True)
            raise _unknown(set_id)

    def rename_set(self, set_id: str, name: str) -> None:
        """Give a set another name."""
        if not self._change("UPDATE comparison_sets SET name = ? WHERE id = ?", name.strip(), set_id):
            raise _unknown(set_id)

    def delete_set(self, set_id: str) -> None:
        """Forget a set and its frames; runs it named stay."""
        if not self._change("DELETE FROM comparison_sets WHERE id = ?", set_id):
            raise _unknown(set_id)
        shutil.rmtree(self._frames_folder(set_id), ignore_errors=True)

    def _write_frames(self, set_id: str, frames: Iterable[pd.DataFrame]) -> None:
        self._frames_folder(set_id).mkdir(parents=True)
        for place, frame in enumerate(frames):
            frame.to_parquet(self._frame_path(set_id, place))

    def _frames_folder(self, set_id: str) -> Path:
        return self.folder / "sets" / set_id

    def _frame_path(self, set_id: str, place: int) -> Path:
        # Numbered, because file names come from uploads and may hold anything.
        return self._frames_folder(set_id) / f"{place}.parquet"


def _summary(row: Any) -> SetSummary:
    return SetSummary(
        id=row["id"],
        name=row["name"],
        created_at=row["created_at"],
        run_ids=tuple(json.loads(row["run_ids"])),
        frame_names=tuple(json.loads(row["frames"])),
        details=json.loads(row["details"]),
    )


def _unknown(set_id: str) -> UnknownKey:
    return UnknownKey(f"There is no comparison set {set_id!r} here; it may have been deleted. Upload the files again.")
