"""What to measure: workloads, protocols, experiments. Frozen, validated on construction, JSON in and out.

Nothing here measures, and nothing here imports torch.
"""

from __future__ import annotations

import hashlib
import json
import unicodedata
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from engine.errors import InvalidSpec, UnknownKey
from engine.serial import structure, to_json, unstructure

DTYPES = ("float64", "float32", "bfloat16", "float16", "int64")
MATMUL_PRECISIONS = ("highest", "high", "medium")
MAX_BATCH_SIZE = 4096
MAX_SEQUENCE_LENGTH = 8192
MAX_ELEMENTS = 2**30
MAX_OPERATIONS = 64
MAX_REQUESTS = 10_000
PANGRAM = "The quick brown fox jumps over the lazy dog"
"""The article's sentence: 11 tokens with the two special ones of a BERT tokenizer."""


def _check_range(name: str, value: int, largest: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= largest:
        raise InvalidSpec(f"{name} is {value!r}; allowed are whole numbers from 1 to {largest:,}. Choose one of those.")


def _check_choice(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise InvalidSpec(f"{name} is {value!r}; allowed are {', '.join(allowed)}. Choose one of those.")


def _check_name(name: str, value: str) -> None:
    # Names become cells of a CSV, lines of a table and arguments of a command line.
    if not value or any(unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") for character in value):
        raise InvalidSpec(
            f"{name} is {value!r}; allowed is text without line breaks and control characters. Change it."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """One point: a model at one shape, or an operator at one size.

    A model point has `model`, `batch_size` and `sequence_length` (tokens); an operator point has `operator` and
    `elements` (of its result), and `operations`, how often the operator is chained.
    """

    model: str | None = None
    batch_size: int | None = None
    sequence_length: int | None = None
    operator: str | None = None
    elements: int | None = None
    operations: int | None = None
    dtype: str = "float32"

    def __post_init__(self) -> None:
        _check_choice("dtype", self.dtype, DTYPES)
        if (self.model is None) == (self.operator is None):
            raise InvalidSpec("A workload names either a model or an operator, not both and not neither.")
        _check_name("operator" if self.model is None else "model", self.subject)
        if self.model is not None:
            if self.batch_size is None or self.sequence_length is None or self.elements is not None:
                raise InvalidSpec("A model workload needs batch_size and sequence_length, and no elements.")
            _check_range("batch_size", self.batch_size, MAX_BATCH_SIZE)
            _check_range("sequence_length", self.sequence_length, MAX_SEQUENCE_LENGTH)
        else:
            if self.elements is None or self.batch_size is not None or self.sequence_length is not None:
                raise InvalidSpec("An operator workload needs elements, and no batch_size or sequence_length.")
            _check_range("elements", self.elements, MAX_ELEMENTS)
            if self.operations is not None:
                _check_range("operations", self.operations, MAX_OPERATIONS)

    @property
    def subject(self) -> str:
        """Name of the model or operator."""
        return self.model or self.operator or ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """How much is measured, fixed before the run (METHOD 1.4): there is no peeking and no adaptive stop.

    `process_sets` is P; `rounds` is R for a model, `operator_rounds` for an operator, which is measured in many sizes: there
    processes differ more than rounds, and a small size's round is mostly rests. `block_s` is the time one block aims at. A
    point stops adding rounds, for all arms alike, when an arm has used `point_budget_s` seconds of timed calls in a process
    set.
    """

    name: str
    process_sets: int
    rounds: int = 20
    operator_rounds: int = 10
    block_s: float = 0.020
    min_calls_per_block: int = 3
    max_calls_per_block: int = 50
    min_sample_s: float = 50e-6
    point_budget_s: float = 10.0
    rest_s: float = 0.020
    warmup_min_calls: int = 10
    warmup_min_s: float = 1.0
    warmup_max_s: float = 10.0
    set_up_limit_s: float = 600.0
    block_limit_s: float = 120.0
    seed: int = 20250630

    def __post_init__(self) -> None:
        _check_range("process_sets", self.process_sets, 100)
        _check_range("rounds", self.rounds, 1000)
        _check_range("operator_rounds", self.operator_rounds, 1000)

    def rounds_at(self, workload: Workload) -> int:
        """R at this point."""
        return self.rounds if workload.model else self.operator_rounds

    def evening_out_s(self, workload: Workload, points: int) -> float:
        """Seconds an arm may go on warming up to make as many calls as the arm that made most; `points` share a child.

        For a model the cap of warm-up itself. Arms of an operator differ thirtyfold in time per call: as many calls of each
        would take longer than measuring them, so there an arm warms up at most as long again.
        """
        return self.warmup_max_s if workload.model else self.warmup_min_s / points

    @property
    def gives_verdicts(self) -> bool:
        """Fewer than three process sets cannot carry an interval over process sets, so no verdict word is used."""
        return self.process_sets >= 3


PROTOCOLS: dict[str, Protocol] = {
    "quick": Protocol(name="quick", process_sets=1),
    "standard": Protocol(name="standard", process_sets=5),
    "rigorous": Protocol(name="rigorous", process_sets=10),
}


def find_protocol(name: str) -> Protocol:
    """The protocol called `name`, or `UnknownKey`."""
    if name not in PROTOCOLS:
        raise UnknownKey(f"Protocol {name!r} does not exist; choose one of {', '.join(PROTOCOLS)}.")
    return PROTOCOLS[name]


CacheMode = Literal["hot", "cold"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """Everything that decides what will be measured; two equal experiments on one machine share a stored result.

    `variants` are catalog keys without the A/A twin, which the runner always adds. `threads` None means all physical
    cores the process may use. `cache_mode` matters to operator points only. `request_lengths` (tokens) is the stream that
    variants serving several lengths answer once, after everything else, with nothing compiled.
    """

    workloads: tuple[Workload, ...]
    variants: tuple[str, ...]
    device: str = "cpu"
    protocol: Protocol = field(default_factory=lambda: PROTOCOLS["standard"])
    threads: int | None = None
    matmul_precision: str = "highest"
    cache_mode: CacheMode = "hot"
    request_lengths: tuple[int, ...] = ()
    text: str = PANGRAM

    def __post_init__(self) -> None:
        if not self.workloads:
            raise InvalidSpec("An experiment needs at least one workload.")
        if not self.variants:
            raise InvalidSpec("An experiment needs at least one variant.")
        for name, items in (("workloads", self.workloads), ("variants", self.variants)):
            if len(set(items)) != len(items):
                raise InvalidSpec(f"The experiment names some {name} twice; name each once.")
        _check_choice("matmul_precision", self.matmul_precision, MATMUL_PRECISIONS)
        _check_choice("cache_mode", self.cache_mode, ("hot", "cold"))
        if self.threads is not None:
            _check_range("threads", self.threads, 1024)
        if len(self.request_lengths) > MAX_REQUESTS:
            raise InvalidSpec(
                f"{len(self.request_lengths):,} request lengths given; at most {MAX_REQUESTS:,} are allowed."
            )
        for position, length in enumerate(self.request_lengths, start=1):
            _check_range(f"request length in row {position}", length, MAX_SEQUENCE_LENGTH)

    def to_json(self) -> str:
        """Canonical JSON: sorted keys, no spaces. Equal experiments give equal text."""
        return to_json(self)

    @classmethod
    def from_json(cls, text: str) -> Experiment:
        """Inverse of `to_json`; raises `InvalidSpec` for anything that is not an experiment."""
        return structure(json.loads(text), cls)

    @property
    def digest(self) -> str:
        """16 hex digits that identify this experiment."""
        return digest_of(unstructure(self))

    def with_protocol(self, protocol: Protocol) -> Experiment:
        """The same experiment measured by another protocol."""
        return replace(self, protocol=protocol)


def digest_of(value: Any) -> str:
    """First 16 hex digits of the sha256 of `value`'s canonical JSON."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).hexdigest()[:16]
