"""Small hand-made values for unit tests: a machine, an experiment, a measurement, a failure. Nothing here was measured."""

from engine.result import Block, Capability, Device, Environment, Failure, Limits, Machine, Measurement, PointSetUp
from engine.spec import PROTOCOLS, Experiment, Workload

POINT = Workload(model="distilbert-base-uncased", batch_size=1, sequence_length=11)
CPU = Device(key="cpu", name="Hand-made CPU", backend="cpu", identity="hand-made")
MACHINE = Machine(
    hostname="test",
    system="Linux",
    cpu_model="Hand-made CPU",
    physical_cores=2,
    usable_cores=2,
    memory_bytes=2**34,
    devices=(CPU,),
    versions={"torch": "2.13.0", "python": "3.11"},
    capabilities={"cxx": Capability(is_present=True, detail="g++")},
)
ENVIRONMENT = Environment(machine=MACHINE, device=CPU, threads=2, matmul_precision="highest")
LIMITS = Limits(bandwidth_bytes_per_s=2e10, bandwidth_bytes=2**28)


def experiment(
    batch_size: int = 1, variants: tuple[str, ...] = ("baseline/eager", "torch-compile/default")
) -> Experiment:
    """A quick experiment; another batch size makes it another experiment."""
    point = Workload(model="distilbert-base-uncased", batch_size=batch_size, sequence_length=11)
    return Experiment(workloads=(point,), variants=variants, protocol=PROTOCOLS["quick"])


def measurement(
    variant: str = "baseline/eager", process: int = 0, latency_s: tuple[float, ...] = (0.010, 0.011)
) -> Measurement:
    """One block of these latencies at one point."""
    return Measurement(
        variant=variant,
        process=process,
        workloads=(POINT,),
        load_s=0.5,
        apply_s=0.0,
        points=(PointSetUp(first_calls_s=(0.02,), reached_steady_state=True),),
        blocks=(Block(workload=0, round=0, order=0, calls_per_sample=1, latency_s=latency_s),),
        facts={"graphs": 1},
    )


def failure(variant: str = "torch-compile/default", kind: str = "crashed") -> Failure:
    """A child that did not come back."""
    return Failure(
        variant=variant, process=0, workloads=(POINT,), stage="steady", kind=kind, message="The process died."
    )  # type: ignore[arg-type]
