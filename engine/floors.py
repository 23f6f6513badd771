"""The least time physics allows at a point: arithmetic at the measured peak, memory at the measured bandwidth (METHOD 5).

Every term is a lower bound of its own, so the floor is the largest of them, never their sum: work on the device overlaps
with launching. Where something needed is unknown there is no term, and without a term no floor.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from engine.catalog import VARIANTS
from engine.catalog.types import TWIN_SUFFIX
from engine.metrics import FACTS
from engine.result import Device, Limits, Measurement, Run
from engine.spec import DTYPES, Workload

FLOOR_TOLERANCE = 0.95
"""A time below 95 % of the floor cannot be real: the measurement is rejected."""
CACHE_MULTIPLE = 4
"""Below four last-level caches the data may come from the cache, and a memory floor says nothing."""
ITEM_BYTES = {"float64": 8, "float32": 4, "tf32": 4, "bfloat16": 2, "float16": 2, "int64": 8, "int8": 1}
TOKEN_BYTES = 2 * 8
"""One token's id and mask, both int64."""
PLAIN_ENCODERS = frozenset({"distilbert", "bert", "roberta", "xlm-roberta", "camembert", "electra", "mpnet"})
"""Architectures made of the layer counted here: four h x h projections, two feed-forward matrices, full attention."""

Bound = Literal["arithmetic", "memory", "launches"]


@dataclass(frozen=True, slots=True)
class Floor:
    """Seconds per call that nothing can go below, and what sets them."""

    seconds: float
    bound: Bound


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoder:
    """Shape of a plain transformer encoder, from the model's configuration."""

    layers: int
    hidden: int
    intermediate: int

    @property
    def layer_parameters(self) -> int:
        """Weights and biases of all layers, each read at least once per call; embeddings are only sampled."""
        h, f = self.hidden, self.intermediate
        weights = 4 * h * h + 2 * h * f
        biases_and_norms = 4 * h + f + h + 2 * 2 * h
        return self.layers * (weights + biases_and_norms)

    def flops(self, batch_size: int, length: int) -> int:
        """layers * (8 L h^2 + 4 L h f + 4 L^2 h) per sequence: a multiplication and an addition count as two."""
        h, f = self.hidden, self.intermediate
        return batch_size * self.layers * (8 * length * h * h + 4 * length * h * f + 4 * length * length * h)

    def touched_bytes(self, batch_size: int, length: int, item_bytes: int) -> int:
        """Weights once, token ids and mask in, hidden states out."""
        tokens = batch_size * length
        return self.layer_parameters * item_bytes + tokens * (TOKEN_BYTES + self.hidden * item_bytes)


def encoder_of(facts: Mapping[str, Any]) -> Encoder | None:
    """The encoder that a child's facts describe; None for another architecture or unknown sizes."""
    sizes = [facts.get(key) for key in ("num_layers", "hidden_size", "intermediate_size")]
    if facts.get("model_type") not in PLAIN_ENCODERS or not all(isinstance(size, int) for size in sizes):
        return None
    layers, hidden, intermediate = (int(size) for size in sizes if size is not None)
    return Encoder(layers=layers, hidden=hidden, intermediate=intermediate)


def best_of(measured: Sequence[Limits]) -> Limits:
    """Of several measurements of one device the best in every respect.

    Memory and arithmetic of a virtual machine depend on its neighbours: between two runs of one machine, ten minutes apart, the
    bandwidth went from 55 to 91 GB/s. A floor made of one bad moment would call honest times impossible.
    """
    rates = [each.bandwidth_bytes_per_s for each in measured if each.bandwidth_bytes_per_s]
    dtypes = dict.fromkeys(dtype for each in measured for dtype in each.flops_per_s)
    return replace(
        measured[0],
        bandwidth_bytes_per_s=max(rates, default=None),
        flops_per_s={dtype: max(each.flops_per_s.get(dtype, 0.0) for each in measured) for dtype in dtypes},
    )


def dtypes_with_a_floor(variants: Iterable[str], workloads: Iterable[Workload]) -> tuple[str, ...]:
    """Torch dtypes that these variants compute in at these workloads: their matmul peaks are what `find_floor` asks for.

    TF32 is no dtype; it has no peak and no floor of arithmetic.
    """
    points = list(workloads)
    used = {_precision_of(variant, workload) for variant in variants for workload in points}
    return tuple(sorted(used & set(DTYPES)))


def find_floor(
    workload: Workload, precision: str, facts: Mapping[str, Any], limits: Limits, device: Device
) -> Floor | None:
    """The floor of one arm: `precision` is what it computes in, `facts` what its child recorded."""
    terms: list[tuple[float | None, Bound]] = [
        (_arithmetic_s(workload, precision, facts, limits), "arithmetic"),
        (_memory_s(workload, precision, facts, limits, device), "memory"),
        (_launches_s(facts, limits), "launches"),
    ]
    known = [Floor(seconds, bound) for seconds, bound in terms if seconds]
    return max(known, key=lambda floor: floor.seconds, default=None)


def floor_of(variant: str, workload: Workload, run: Run) -> float | None:
    """Floor in seconds for one arm of a run; the smallest over its process sets, None where none is known."""
    if run.limits is None or run.environment is None:
        return None
    precision = _precision_of(variant, workload)
    floors = [
        find_floor(workload, precision, facts_at(outcome, workload), run.limits, run.environment.device)
        for outcome in run.outcomes
        if isinstance(outcome, Measurement) and outcome.variant == variant and workload in outcome.workloads
    ]
    return min((floor.seconds for floor in floors if floor is not None), default=None)


def facts_at(measurement: Measurement, workload: Workload) -> dict[str, Any]:
    """The facts with those that hold one value per workload narrowed to this one."""
    index = measurement.workloads.index(workload)
    return {key: _narrowed(key, value, index) for key, value in measurement.facts.items()}


def _narrowed(key: str, value: Any, index: int) -> Any:
    is_list = key in FACTS and FACTS[key].is_per_workload and isinstance(value, list | tuple)
    return value[index] if is_list else value


def is_impossible(latency_s: float, floor_s: float) -> bool:
    """Whether a time is too far below the floor to be real."""
    return latency_s < FLOOR_TOLERANCE * floor_s


def _precision_of(variant: str, workload: Workload) -> str:
    known = VARIANTS.get(variant.removesuffix(TWIN_SUFFIX))
    return (known.precision if known else None) or workload.dtype


def _arithmetic_s(workload: Workload, precision: str, facts: Mapping[str, Any], limits: Limits) -> float | None:
    encoder, peak = encoder_of(facts), limits.flops_per_s.get(precision)
    if encoder is None or not peak or workload.batch_size is None or workload.sequence_length is None:
        return None
    return encoder.flops(workload.batch_size, workload.sequence_length) / peak


def _memory_s(
    workload: Workload, precision: str, facts: Mapping[str, Any], limits: Limits, device: Device
) -> float | None:
    traffic, cache = _least_traffic(workload, precision, facts), device.last_level_cache_bytes
    if traffic is None or cache is None or not limits.bandwidth_bytes_per_s:
        return None
    if not is_beyond_caches(footprint(facts) or traffic, cache):
        return None
    # What the cache still holds from the call before need not come from memory again.
    return (traffic - cache) / limits.bandwidth_bytes_per_s


def footprint(facts: Mapping[str, Any]) -> float | None:
    """Bytes of memory a call of an operator touches; files of earlier versions know only what it moves at least."""
    return facts.get("footprint_bytes") or facts.get("minimum_bytes")


def is_beyond_caches(footprint_bytes: float, cache_bytes: int) -> bool:
    """Whether so much memory must really be moved at each call."""
    return footprint_bytes >= CACHE_MULTIPLE * cache_bytes


def _least_traffic(workload: Workload, precision: str, facts: Mapping[str, Any]) -> int | None:
    """Least traffic of one call: what the child recorded for an operator, the encoder's formula for a model."""
    if isinstance(facts.get("minimum_bytes"), int):
        return int(facts["minimum_bytes"])
    encoder, item_bytes = encoder_of(facts), ITEM_BYTES.get(precision)
    if encoder is None or item_bytes is None or workload.batch_size is None or workload.sequence_length is None:
        return None
    return encoder.touched_bytes(workload.batch_size, workload.sequence_length, item_bytes)


def _launches_s(facts: Mapping[str, Any], limits: Limits) -> float | None:
    """Launches one after another on the host; only counted ones count."""
    launches, graphs = facts.get("kernel_launches_per_call"), facts.get("graph_launches_per_call")
    single = launches * limits.launch_s if launches and limits.launch_s else 0.0
    whole = graphs * limits.graph_launch_s if graphs and limits.graph_launch_s else 0.0
    return single + whole or None
