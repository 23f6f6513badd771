"""The real measured child on a tiny model: what it reports when all goes well."""

from pathlib import Path

import pytest
from measured import MeasuredChild, members_of_group, point, set_up, write_model_file

from engine.messages import (
    AnswerRequests,
    BlockMeasured,
    Failed,
    Finish,
    Finished,
    MakeReferences,
    MeasureBlock,
    ReadyToMeasure,
    ReferencesMade,
    RequestsAnswered,
    WarmedUp,
    WarmUp,
)
from engine.result import Measurement
from engine.spec import PANGRAM, Workload


@pytest.fixture(scope="module")
def measured(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[MeasuredChild, Measurement]:
    """One eager measurement that several tests look at."""
    with MeasuredChild(tmp_path_factory.mktemp("child")) as child:
        measurement = child.measure(set_up(point(tiny_model)), samples=7, calls=3)
        assert isinstance(measurement, Measurement), measurement
        assert child.exit_code() == 0
        return child, measurement


def test_phases_come_in_the_order_of_the_method(measured: tuple[MeasuredChild, Measurement]) -> None:
    child, _ = measured
    assert child.phases()[:6] == ["load", "apply", "first_call", "check", "warmup", "steady"]


def test_first_calls_warm_up_and_steady_calls_are_kept_apart(measured: tuple[MeasuredChild, Measurement]) -> None:
    _, measurement = measured
    (set_up_of_point,) = measurement.points
    assert len(set_up_of_point.first_calls_s) == 3
    assert set_up_of_point.warmup_s
    assert not set(set_up_of_point.first_calls_s) & set(set_up_of_point.warmup_s)
    (block,) = measurement.blocks
    assert (len(block.latency_s), block.calls_per_sample) == (7, 3)
    assert all(host <= wall for host, wall in zip(block.host_s or (), block.latency_s, strict=True))
    assert block.gpu_s is None


def test_what_must_be_equal_in_all_arms_is_recorded(measured: tuple[MeasuredChild, Measurement]) -> None:
    _, measurement = measured
    facts = measurement.facts
    assert facts["attention"] == "sdpa"
    assert facts["grad_mode"] == "inference"
    assert facts["threads"] == 1
    assert facts["cpus_allowed"] >= 1
    assert facts["model_note"] == "real weights from a local folder"


def test_eager_compiles_nothing_and_reports_no_compile_time(measured: tuple[MeasuredChild, Measurement]) -> None:
    _, measurement = measured
    assert measurement.facts["frames_compiled"] == 0
    assert measurement.compile_s is None
    assert measurement.compile_cache is None
    assert measurement.points[0].new_graphs is None


def test_outputs_are_checked_before_and_after_timing(measured: tuple[MeasuredChild, Measurement]) -> None:
    _, measurement = measured
    assert [check.stage for check in measurement.outputs] == ["before", "after"]
    for check in measurement.outputs:
        assert check.rmse == check.rmse_eager
        assert check.inputs >= 8
        assert (check.is_stale, check.is_overwritten) == (False, False)


def test_timing_itself_is_timed(measured: tuple[MeasuredChild, Measurement]) -> None:
    _, measurement = measured
    assert 0 < measurement.harness_s["empty"] < 1e-4
    assert 0 < measurement.harness_s["synchronize"] < 1e-4
    assert measurement.throughput_s[0] is not None


def test_references_come_from_a_child_of_their_own(tiny_model: Path, tmp_path: Path) -> None:
    path = tmp_path / "references.safetensors"
    workload = point(tiny_model)
    with MeasuredChild(tmp_path) as child:
        command = MakeReferences(
            workloads=(workload,),
            device="cpu",
            threads=2,
            matmul_precision="highest",
            text=PANGRAM,
            seed=1,
            path=str(path),
        )
        made = child.ask(command, ReferencesMade)
        assert child.exit_code() == 0
    assert (made.limits, made.model_note) == (None, "real weights from a local folder")
    with MeasuredChild(tmp_path) as child:
        measurement = child.measure(set_up(workload, references=str(path)))
    assert isinstance(measurement, Measurement)
    assert measurement.outputs[0].rmse == measurement.outputs[0].rmse_eager


def test_more_warm_up_and_throw_away_calls_leave_no_samples(tiny_model: Path, tmp_path: Path) -> None:
    with MeasuredChild(tmp_path) as child:
        child.ask(set_up(point(tiny_model)), ReadyToMeasure)
        assert child.ask(WarmUp(workload=0, calls=5), WarmedUp) == WarmedUp(workload=0)
        block = MeasureBlock(workload=0, round=3, order=1, samples=4, calls_per_sample=1, throw_away=3)
        answer = child.ask(block, BlockMeasured).block
    assert (len(answer.latency_s), answer.round, answer.order) == (4, 3, 1)


GRAD_SPY = """
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x):
        self.report()
        return self.linear(x)

    @torch._dynamo.disable
    def report(self):
        print("SPY", torch.is_inference_mode_enabled(), torch.is_grad_enabled(), flush=True)

def build():
    return Model().eval(), (torch.randn(2, 4),)
"""


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["baseline/eager", "torch-compile/default"])
def test_every_technique_compiles_warms_up_and_runs_in_inference_mode(tmp_path: Path, variant: str) -> None:
    """Weights that require gradients included: a user's model needs no preparation."""
    with MeasuredChild(tmp_path) as child:
        measurement = child.measure(set_up(point(write_model_file(tmp_path, GRAD_SPY)), variant=variant))
        assert isinstance(measurement, Measurement), child.log()
        said = {line for line in child.log().splitlines() if line.startswith("SPY")}
    assert said == {"SPY True False"}
    assert measurement.facts["grad_mode"] == "inference"


def test_one_child_sweeps_several_sizes_of_an_operator(tmp_path: Path) -> None:
    sizes = [Workload(operator="addcmul", elements=elements) for elements in (2**10, 2**14)]
    with MeasuredChild(tmp_path) as child:
        measurement = child.measure(set_up(*sizes))
    assert isinstance(measurement, Measurement)
    assert [block.workload for block in measurement.blocks] == [0, 1]
    assert [(check.workload, check.stage) for check in measurement.outputs] == [
        (0, "before"),
        (1, "before"),
        (0, "after"),
        (1, "after"),
    ]


def test_cold_caches_make_every_sample_one_call(tmp_path: Path) -> None:
    workload = Workload(operator="addcmul", elements=2**12)
    with MeasuredChild(tmp_path) as child:
        hot = child.measure(set_up(workload), calls=16)
    with MeasuredChild(tmp_path) as child:
        cold = child.measure(set_up(workload, cache_mode="cold"), calls=16)
    assert isinstance(hot, Measurement) and isinstance(cold, Measurement)
    assert (hot.blocks[0].calls_per_sample, cold.blocks[0].calls_per_sample) == (16, 1)
    assert min(cold.blocks[0].latency_s) > min(hot.blocks[0].latency_s)


def test_requests_of_other_lengths_are_answered_after_everything_else(tiny_model: Path, tmp_path: Path) -> None:
    with MeasuredChild(tmp_path) as child:
        child.measure(set_up(point(tiny_model), request_lengths=(5, 9, 5, 64)))
        answered = child.ask(AnswerRequests(), RequestsAnswered)
        assert child.exit_code() == 0
    assert len(answered.request_s) == 4
    assert answered.facts["requests_that_compiled"] == []


def test_a_request_longer_than_the_model_takes_is_refused_before_measuring(tiny_model: Path, tmp_path: Path) -> None:
    with MeasuredChild(tmp_path) as child:
        failed = child.measure(set_up(point(tiny_model), request_lengths=(5, 65)))
    assert isinstance(failed, Failed)
    assert failed.stage == "load" and "Row 2: the length is 65" in failed.message and "1 to 64 tokens" in failed.message


@pytest.mark.slow
def test_a_compiled_model_says_what_it_compiled_and_its_compilers_are_gone(tiny_model: Path, tmp_path: Path) -> None:
    with MeasuredChild(tmp_path) as child:
        ready = child.ask(set_up(point(tiny_model), variant="torch-compile/default"), ReadyToMeasure)
        assert ready.points[0].new_graphs == (1, 0, 0)
        assert [process.pid for process in members_of_group(child.process.pid)] == [child.process.pid]
        finished = child.ask(Finish(), Finished)
    measurement = finished.measurement
    assert measurement.facts["frames_compiled"] > 0
    assert measurement.facts["recompiles_while_timing"] == 0
    assert measurement.compile_s is not None and measurement.compile_s > 0
    assert measurement.compile_cache == "cold"
    assert measurement.facts["fxgraph_cache_misses"] > 0
