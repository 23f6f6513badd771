"""The child that makes what the measured arms are compared with: reference outputs as a file, and the device's limits."""

from __future__ import annotations

from collections.abc import Callable

from engine.child.equivalence import make_references
from engine.child.limits import measure_limits
from engine.child.setting import prepare_torch
from engine.child.subject import load_subjects
from engine.messages import MakeReferences, ReferencesMade


def answer(command: MakeReferences, announce: Callable[[str], None]) -> ReferencesMade:
    """Write the references of every workload, then measure the limits if asked, with the arms' threads and precision."""
    prepare_torch(command.device, command.threads, command.matmul_precision)
    announce("load")
    subjects = load_subjects(command.workloads, command.device, command.text, command.seed)
    announce("check")
    make_references(subjects, command.path)
    notes = [subject.note for subject in subjects if subject.note]
    subjects.clear()
    limits = None
    if command.limit_dtypes:
        announce("limits")
        limits = measure_limits(command.device, command.limit_dtypes)
    return ReferencesMade(path=command.path, limits=limits, model_note=notes[0] if notes else None)
