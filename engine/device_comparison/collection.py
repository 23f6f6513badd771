"""What a comparison set holds while it is put together: files as understood, runs of this machine; what may be added."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from engine.errors import UnreadableFile
from engine.imports import Imported, Understanding, latency_lab
from engine.imports.readings import complete, merge
from engine.imports.understanding import quoted
from engine.result import Run
from engine.serial import structure, unstructure
from engine.store import ComparisonSet

MAX_FILES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One file of a set."""

    frame: pd.DataFrame
    understanding: Understanding
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """Files by name, and ids of runs stored here; `version` of the stored set that it comes from or began as."""

    entries: Mapping[str, Entry] = field(default_factory=dict)
    run_ids: tuple[str, ...] = ()
    version: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to compare."""
        return not self.entries and not self.run_ids

    def with_file(self, file: Imported, digest: str) -> Collection:
        """With one more file, or one of them understood anew."""
        entry = Entry(frame=file.frame, understanding=file.understanding, digest=digest)
        return replace(self, entries={**self.entries, file.understanding.file: entry})

    def with_runs(self, run_ids: Sequence[str]) -> Collection:
        """With more of the runs that are stored here."""
        return replace(self, run_ids=tuple(dict.fromkeys((*self.run_ids, *run_ids))))

    def without_run(self, run_id: str) -> Collection:
        """Without one run."""
        return replace(self, run_ids=tuple(each for each in self.run_ids if each != run_id))

    def without(self, name: str) -> Collection:
        """Without one file."""
        return replace(self, entries={key: entry for key, entry in self.entries.items() if key != name})

    def apart_from(self, name: str, digest: str) -> Collection:
        """Without the file of this name and content, which is understood anew; another file of the name stays."""
        entry = self.entries.get(name)
        return self.without(name) if entry and entry.digest == digest else self

    def frames(self) -> dict[str, pd.DataFrame]:
        """Readings by file name, as a store keeps them."""
        return {name: entry.frame for name, entry in self.entries.items()}

    def details(self) -> dict[str, Any]:
        """Everything else a store must keep to show the set again."""
        files = [
            {"digest": entry.digest, "understanding": unstructure(entry.understanding)}
            for entry in self.entries.values()
        ]
        return {"files": files}

    def readings(self, runs: Sequence[Run]) -> pd.DataFrame:
        """All readings: those of the files, then those of `runs`."""
        measured_here = [latency_lab.frame_of([run], run.label or f"run {run.id}") for run in runs]
        return merge([*self.frames().values(), *measured_here])


def digest_of(data: bytes) -> str:
    """What tells files of the same content."""
    return hashlib.sha256(data).hexdigest()


def check_new(collection: Collection, name: str, digest: str) -> None:
    """Raise `UnreadableFile` when this file, another one of its name, or too many files are here already."""
    for other, entry in collection.entries.items():
        if entry.digest == digest:
            raise UnreadableFile(
                f"{name}: the same content as {quoted(other)}, which is here already. It is counted once."
            )
        if other == name and entry.digest != digest:
            raise UnreadableFile(
                f"{name}: another file of this name is here already. Rename it, or remove the other one."
            )
    if len(collection.entries) >= MAX_FILES:
        raise UnreadableFile(f"{name}: a set holds at most {MAX_FILES} files. Remove one, or start another set.")


def of_set(stored: ComparisonSet) -> Collection:
    """The collection that a store kept."""
    described = stored.details.get("files", [])
    entries = {
        name: Entry(
            frame=complete(frame), digest=one["digest"], understanding=structure(one["understanding"], Understanding)
        )
        for (name, frame), one in zip(stored.frames.items(), described, strict=True)
    }
    return Collection(entries=entries, run_ids=stored.run_ids, version=stored.version)
