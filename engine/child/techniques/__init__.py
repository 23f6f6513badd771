"""One file per technique, each with a table `VARIANTS` from variant key to the function that applies it.

A file is imported only when one of its variants is measured, so that no arm carries another's libraries.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from engine.catalog import find_variant
from engine.child.subject import Call, Inputs, Subject


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """A technique applied to a subject's program.

    `call` is what is timed and checked; it returns all outputs, and serves every subject that shares the program.
    `prepare` puts inputs where `call` expects them (numpy arrays, host memory) before the clock starts; it may share memory.
    `activate` is told, before another workload takes its turn, one of its inputs: make buffers of that size, drop the last
    ones. `release` comes at the end of a turn whose inputs were too large to keep: drop what `activate` made.
    `facts` reports what the technique itself observed, under keys of `engine.metrics.FACTS`. `afterwards` may
    change whatever it likes, everything has been measured; it returns facts too. `close` ends what it started.
    """

    call: Call
    prepare: Callable[[Inputs], Inputs] | None = None
    activate: Callable[[Inputs], None] | None = None
    release: Callable[[], None] | None = None
    facts: Callable[[], Mapping[str, Any]] | None = None
    afterwards: Callable[[], Mapping[str, Any]] | None = None
    close: Callable[[], None] | None = None

    def prepared(self, inputs: Inputs) -> Inputs:
        """The inputs as `call` takes them."""
        return self.prepare(inputs) if self.prepare else inputs

    def answer(self, inputs: Inputs) -> Any:
        """`call` on inputs that have not been prepared: for comparing outputs, never for timing."""
        return self.call(self.prepared(inputs))


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What else a technique may depend on: the seed, which process set this is, and whether it is the first of its group.

    The first one finds an empty compile cache.
    """

    seed: int
    process: int
    is_first: bool = True


Technique = Callable[[Subject, Context], Applied]


def apply(variant_key: str, subject: Subject, context: Context) -> Applied:
    """Apply the variant called `variant_key` (a twin applies as the variant it doubles) to `subject`."""
    variant = find_variant(variant_key)
    module = importlib.import_module(f"{__name__}.{variant.technique.replace('-', '_')}")
    technique: Technique = module.VARIANTS[variant.key]
    return technique(subject, context)
