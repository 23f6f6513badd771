"""What a column's name says: role, statistic and unit. Names only; `engine.imports.roles` looks at the cells."""

from __future__ import annotations

from dataclasses import dataclass

from engine.imports.understanding import Statistic
from engine.imports.units import RATE_KINDS, Unit, split_header, words


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NAMES = {
    "device": "device|gpu|gpuname|gpu name|device name|gpu model|gpu type|accelerator|hardware|card|gerät|geraet|grafikkarte",
    "technique": "technique|method|mode|optimization|optimisation|implementation|config|configuration|config name|variant|arm|"
    "strategy|engine|runtime|framework|compiler|command|verfahren|technik",
    "model": "model|model name|network|architecture|modell|model id",
    "operator": "operator|op|kernel|benchmark|benchmark name|test|case|function|operation|workload|task|fullname|name",
    "batch_size": "batch|batch size|batchsize|bs|batchgröße|batch sizes|input shapes batch size",
    "sequence_length": "sequence length|seq len|seqlen|seq length|seq|sequence|length|tokens|max length|input length",
    "elements": "elements|numel|size|n|num elements|problem size|input size|größe",
    "dtype": "dtype|data type|datatype|precision|torch dtype|datentyp|type|float type",
    "process": "process|process set|worker|pid",
    "round": "round|block|repeat|run|run id",
    "call": "call|iteration|iter|i|step|sample|repetition|rep|trial|iterations",
    "phase": "phase|stage",
    "status": "status|result|state|outcome|error",
    "backend": "backend|backends|device type",
    "unit": "unit|time unit|latency unit|einheit",
    "torch": "torch|torch version|pytorch version|pytorch",
    "precision": "matmul precision|float32 matmul precision|tf32|allow tf32",
    "protocol": "protocol",
    "cache_state": "cache|cache state|compile cache",
    "driver": "driver|driver version|cuda version|cuda driver",
    "latency": "latency|time|duration|elapsed|elapsed time|p50|median|mean|avg|average|p95|p99|forward time|real time|wall|"
    "wall time|latenz|zeit|dauer|laufzeit|tiempo|temps",
    "set_up": "compile time|compilation time|compilation latency|compile|warmup time|set up time|setup time|load time|"
    "first call|cold start|autotune time",
}
_ROLES = {phrase: role for role, phrases in _NAMES.items() for phrase in phrases.split("|")}
_TIME_WORDS = _set("latency time duration elapsed runtime wall latenz zeit dauer laufzeit tiempo temps durée ttft tpot")
_SET_UP_WORDS = _set("compile compilation compiling autotune setup")
_NOT_CALL_TIMES = _SET_UP_WORDS | _set(
    "load warmup cold first timestamp date start end created cpu user system tuning download stddev std stdev stderr "
    "min max minimum maximum iqr q1 q3 var variance p5 p10 p25 p75 p90"
)
_RATE_WORDS = _set("throughput qps fps bandwidth gflops tflops rate durchsatz")
_RATE_PHRASES = _RATE_WORDS | _set("per second sec speed")
_MEMORY_WORDS = _set("memory mem vram speicher ram")
_NEITHER = _set(
    "accuracy breaks count counts calls epoch index id params parameters number num speedup ratio util utilization row "
    "notes note comment comments description date timestamp datetime url hash commit seed energy power temperature "
    "change loss score f1"
)
"""Words of columns that are known to be neither a time nor a key."""

TECHNIQUE_WORDS = _set(
    "eager compile compiled inductor graphs cudagraph cudagraphs graph tensorrt trt onnx openvino autotune baseline "
    "fused unfused pytorch torch triton jit torchscript flash sdpa fp16 bf16 int8 native reference optimized naive"
)
_STATISTICS: dict[str, Statistic] = {
    "p50": "median",
    "median": "median",
    "mean": "mean",
    "avg": "mean",
    "average": "mean",
    "mittelwert": "mean",
    "mittel": "mean",
    "p95": "p95",
    "p99": "p99",
}


@dataclass(frozen=True, slots=True)
class Heading:
    """What one header says: `role` None where the name is unknown, `ignored` where it is known not to matter."""

    name: str
    role: str | None
    unit: Unit | None
    statistic: Statistic = "sample"


def understand(header: str) -> Heading:
    """Read one column name, unit included."""
    name, unit = split_header(header)
    parts = words(name)
    role = _role(parts, unit.kind if unit else None)
    found = next((_STATISTICS[part] for part in parts if part in _STATISTICS), None)
    return Heading(name, role, unit, found if found and role in ("latency", "rate") else "sample")


def may_be_times(heading: Heading) -> bool:
    """Whether a column of numbers under this heading can be what was timed, if a person says so: "p90_ms", "result (ms)"."""
    if heading.unit:
        return heading.unit.kind in ("seconds", *RATE_KINDS)
    return heading.role in (None, "status", "set_up") or bool(set(words(heading.name)) & _TIME_WORDS)


def _role(parts: list[str], kind: str | None) -> str | None:
    """The unit speaks first, then the whole name, then its words."""
    if kind in RATE_KINDS and (not parts or _RATE_PHRASES & set(parts)):
        return "rate"  # its own name ("throughput (req/s)", "GFLOPS"), not a technique's ("Fused (GB/s)")
    if kind == "bytes" or (kind is None and _MEMORY_WORDS & set(parts)):
        return "memory"
    if kind == "fraction":
        return "ignored"
    role = _ROLES.get(" ".join(parts)) or _by_words(set(parts), kind)
    return "ignored" if role in ("latency", "set_up") and kind not in (None, "seconds") else role


def _by_words(parts: set[str], kind: str | None) -> str | None:
    if parts & _RATE_WORDS:
        return "rate"
    if parts & _TIME_WORDS or (kind == "seconds" and (not parts or parts & set(_STATISTICS))):
        if parts & _SET_UP_WORDS:
            return "set_up"
        return "ignored" if parts & _NOT_CALL_TIMES else "latency"
    return "ignored" if parts & (_NEITHER | _NOT_CALL_TIMES) else None
