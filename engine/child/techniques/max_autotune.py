"""max-autotune: candidates timed per operation. On a CPU nothing is tuned unless freezing made the weights constants."""

from __future__ import annotations

from collections.abc import Callable

from engine.child.autotune_log import AutotuneLog
from engine.child.subject import Outputs
from engine.child.techniques import Applied, Technique


def compiled_with(
    program: Callable[..., Outputs], mode: str | None, *, dynamic: bool | None = None, freezing: bool = False
) -> Applied:
    """`torch.compile` in this mode, its tuning recorded; `freezing` is process-wide and needs no-grad."""
    import torch._inductor.config  # not before it is needed: an eager arm carries no compiler

    torch._inductor.config.freezing = freezing
    log = AutotuneLog()
    compiled = torch.compile(program, mode=mode, dynamic=dynamic)
    return Applied(call=lambda inputs: compiled(**inputs), facts=log.facts)


VARIANTS: dict[str, Technique] = {
    "max-autotune/documented": lambda subject, context: compiled_with(subject.program, "max-autotune"),
    "max-autotune/no-cudagraphs": lambda subject, context: compiled_with(subject.program, "max-autotune-no-cudagraphs"),
    "max-autotune/freezing-only": lambda subject, context: compiled_with(subject.program, None, freezing=True),
    "max-autotune/freezing": lambda subject, context: compiled_with(subject.program, "max-autotune", freezing=True),
}
