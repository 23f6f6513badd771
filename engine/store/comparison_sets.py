"""Named comparison sets: stored runs side by side with frames read from uploaded files, so that a link shows them again.

A set's frames lie in a folder of their own for every version of its contents, and the row names the version: who reads while
another browser writes sees one of the two, and who writes learns when somebody else has been faster.
"""

from __future__ import annotations

import json
import secrets
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from engine.errors import StorageError, UnknownKey
from engine.store.database import Database, now, storage_errors


@dataclass(frozen=True, slots=True, kw_only=True)
class SetSummary:
    """A comparison set as lists show it; `version` is another one after every change of its contents."""

    id: str
    version: str
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
    version: str
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
        set_id, frames = secrets.token_hex(5), frames or {}
        version = self._write_frames(set_id, frames.values())
        query = (
            "INSERT INTO comparison_sets (id, version, name, created_at, run_ids, details, frames) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)"
        )
        self._change(query, set_id, version, name.strip(), now(), *_lists(run_ids, details or {}, frames))
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
        summary = self.set_summary(set_id)
        folder = self._frames_folder(set_id, summary.version)
        try:
            with storage_errors(folder):
                frames = {
                    name: pd.read_parquet(_frame_path(folder, place)) for place, name in enumerate(summary.frame_names)
                }
        except StorageError:
            if self.set_summary(set_id).version == summary.version:
                raise
            return self.get_set(set_id)  # changed while it was read: this version's files are gone
        return ComparisonSet(
            id=summary.id,
            version=summary.version,
            name=summary.name,
            created_at=summary.created_at,
            run_ids=summary.run_ids,
            frames=frames,
            details=summary.details,
        )

    def change_set(
        self,
        set_id: str,
        version: str,
        *,
        run_ids: Sequence[str],
        frames: Mapping[str, pd.DataFrame],
        details: Mapping[str, Any],
    ) -> str | None:
        """Give a set other contents; its id, name and date stay, so that a link to it shows them. Returns its new version.

        None when the set is no longer at `version`: it stays as somebody else has made it. Read it and change that.
        """
        fresh = self._write_frames(set_id, frames.values())
        query = (
            "UPDATE comparison_sets SET version = ?, run_ids = ?, details = ?, frames = ? WHERE id = ? AND version = ?"
        )
        if self._change(query, fresh, *_lists(run_ids, details, frames), set_id, version):
            shutil.rmtree(self._frames_folder(set_id, version), ignore_errors=True)
            return fresh
        shutil.rmtree(self._frames_folder(set_id, fresh), ignore_errors=True)
        self.set_summary(set_id)
        return None

    def rename_set(self, set_id: str, name: str) -> None:
        """Give a set another name."""
        if not self._change("UPDATE comparison_sets SET name = ? WHERE id = ?", name.strip(), set_id):
            raise _unknown(set_id)

    def delete_set(self, set_id: str) -> None:
        """Forget a set and its frames; runs it named stay."""
        if not self._change("DELETE FROM comparison_sets WHERE id = ?", set_id):
            raise _unknown(set_id)
        for folder in (self.folder / "sets").glob(f"{set_id}*"):
            shutil.rmtree(folder, ignore_errors=True)

    def _write_frames(self, set_id: str, frames: Iterable[pd.DataFrame]) -> str:
        """The frames in the folder of a new version, whose name is returned."""
        version = secrets.token_hex(5)
        folder = self._frames_folder(set_id, version)
        with storage_errors(folder):
            folder.mkdir(parents=True)
            for place, frame in enumerate(frames):
                frame.to_parquet(_frame_path(folder, place))
        return version

    def _frames_folder(self, set_id: str, version: str) -> Path:
        # Sets of the first format have no version.
        return self.folder / "sets" / (f"{set_id}.{version}" if version else set_id)


def _frame_path(folder: Path, place: int) -> Path:
    # Numbered, because file names come from uploads and may hold anything.
    return folder / f"{place}.parquet"


def _lists(run_ids: Iterable[str], details: Mapping[str, Any], frames: Iterable[str]) -> list[str]:
    return [json.dumps(value) for value in (list(run_ids), dict(details), list(frames))]


def _summary(row: Any) -> SetSummary:
    return SetSummary(
        id=row["id"],
        version=row["version"],
        name=row["name"],
        created_at=row["created_at"],
        run_ids=tuple(json.loads(row["run_ids"])),
        frame_names=tuple(json.loads(row["frames"])),
        details=json.loads(row["details"]),
    )


def _unknown(set_id: str) -> UnknownKey:
    return UnknownKey(f"There is no comparison set {set_id!r} here; it may have been deleted. Upload the files again.")
