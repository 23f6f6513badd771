"""The subject as it is."""

from __future__ import annotations

from engine.child.subject import Subject
from engine.child.techniques import Applied, Context, Technique


def eager(subject: Subject, context: Context) -> Applied:
    """No technique at all: what the others are divided by."""
    return Applied(call=subject.eager)


VARIANTS: dict[str, Technique] = {"baseline/eager": eager}
