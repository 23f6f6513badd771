"""torch.compile with its defaults, as the article does it: no `fullgraph`, so that graph breaks are seen and counted."""

from __future__ import annotations

import torch

from engine.child.subject import Subject
from engine.child.techniques import Applied, Context, Technique


def default(subject: Subject, context: Context) -> Applied:
    """`torch.compile(model)`, called itself: compiling a module and then calling its `forward` compiles nothing."""
    compiled = torch.compile(subject.program)
    return Applied(call=lambda inputs: compiled(**inputs))


VARIANTS: dict[str, Technique] = {"torch-compile/default": default}
