"""The words between the runner and a measured child: commands in on the child's stdin, events out on a pipe of their own.

One JSON object per line, `{"kind": "<class name>", ...fields}`. The child's stdout and stderr belong to the libraries it
loads and go to its log file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engine.errors import InvalidSpec
from engine.result import Block, CacheState, FailureKind, Limits, Measurement, PointSetUp
from engine.serial import structure, unstructure
from engine.spec import CacheMode, Protocol, Workload


@dataclass(frozen=True, slots=True, kw_only=True)
class SetUp:
    """Load, apply the technique, make the first calls, prove, check the outputs, warm up; then wait.

    `references` is the file a `MakeReferences` child wrote for these workloads, or None where outputs are checked in place.
    `compile_cache` names the state the runner prepared the compile-cache folder in. With `request_lengths` the child waits for
    `AnswerRequests` after `Finish`.
    """

    variant: str
    process: int
    workloads: tuple[Workload, ...]
    device: str
    threads: int
    matmul_precision: str
    protocol: Protocol
    cache_mode: CacheMode
    text: str
    compile_cache: CacheState
    references: str | None
    request_lengths: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MakeReferences:
    """Write eager and float64 outputs of these workloads to `path`, then measure the device's limits if asked; then end.

    `limit_dtypes` are torch dtypes whose matmul peak is among the limits; empty: no limits are measured.
    """

    workloads: tuple[Workload, ...]
    device: str
    threads: int
    matmul_precision: str
    text: str
    seed: int
    path: str
    limit_dtypes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WarmUp:
    """Make `calls` more untimed-for-results calls at one workload, so that every arm was warmed up equally long."""

    workload: int
    calls: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureBlock:
    """Time one block: `throw_away` calls, then `samples` samples of `calls_per_sample` calls each."""

    workload: int
    round: int
    order: int
    samples: int
    calls_per_sample: int
    throw_away: int = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Finish:
    """Measure throughput, check outputs and counters again, report the measurement; then end, unless requests follow.

    With `limit_dtypes` (as of `MakeReferences`) the device's limits too, when everything else is over.
    """

    limit_dtypes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRequests:
    """Answer the requests of `SetUp` one by one, with a compiler that starts afresh; then end."""


Command = SetUp | MakeReferences | WarmUp | MeasureBlock | Finish | AnswerRequests


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseChanged:
    """The child entered a phase: `start`, `load`, `apply`, `first_call`, `check`, `warmup`, `steady`; at the end `throughput`,
    `check`, `profile`, `afterwards`, `limits`, `requests`.
    """

    phase: str
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadyToMeasure:
    """Set-up is over. `call_s[i]` is the median warmed-up call at workload i, `warmup_calls[i]` how many led there."""

    call_s: tuple[float, ...]
    warmup_calls: tuple[int, ...]
    points: tuple[PointSetUp, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WarmedUp:
    """Answer to `WarmUp`."""

    workload: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockMeasured:
    """Answer to `MeasureBlock`."""

    block: Block


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferencesMade:
    """Answer to `MakeReferences`."""

    path: str
    limits: Limits | None
    model_note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """Answer to `Finish`. The measurement's `rounds` and `log_path` are filled in by the runner."""

    measurement: Measurement
    limits: Limits | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestsAnswered:
    """Answer to `AnswerRequests`: seconds of each request, and what the compiler did meanwhile (keys of `metrics.FACTS`)."""

    request_s: tuple[float, ...]
    facts: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """The child could not go on; it ends after this. The runner makes a `Failure` of it."""

    stage: str
    failure_kind: FailureKind
    message: str


Event = PhaseChanged | ReadyToMeasure | WarmedUp | BlockMeasured | ReferencesMade | Finished | RequestsAnswered | Failed

_KINDS: dict[str, type[Any]] = {
    kind.__name__: kind
    for kind in (
        SetUp, MakeReferences, WarmUp, MeasureBlock, Finish, AnswerRequests,
        PhaseChanged, ReadyToMeasure, WarmedUp, BlockMeasured, ReferencesMade, Finished, RequestsAnswered, Failed,
    )
}  # fmt: skip


def encode(message: Command | Event) -> bytes:
    """One line of JSON, newline included."""
    return json.dumps({"kind": type(message).__name__, **unstructure(message)}, allow_nan=False).encode() + b"\n"


def decode(line: bytes | str) -> Command | Event:
    """Inverse of `encode`; raises `InvalidSpec` for a line that is not one of these messages."""
    try:
        value = json.loads(line)
        kind = _KINDS[value.pop("kind")]
    except (json.JSONDecodeError, KeyError, AttributeError, TypeError) as error:
        raise InvalidSpec(f"Not a message between runner and child: {line[:200]!r}.") from error
    message: Command | Event = structure(value, kind)
    return message
