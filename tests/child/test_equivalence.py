"""Wrong answers, each caught on the callable itself: METHOD 4 and the mutants of METHOD 6 that a CPU can make.

Guards are named in the docstrings; each test was seen failing with its guard removed.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from dataclasses import replace  # noqa: E402

from engine.catalog.types import Variant  # noqa: E402
from engine.child.equivalence import cases_of, check, make_references  # noqa: E402
from engine.child.output_errors import errors_of  # noqa: E402
from engine.child.references import case_inputs, flatten  # noqa: E402
from engine.child.subject import Subject  # noqa: E402
from engine.errors import UserError  # noqa: E402
from engine.proof import Finding, judge_outputs  # noqa: E402
from engine.result import OutputCheck  # noqa: E402
from engine.spec import Workload  # noqa: E402
from tests.hand_made import measurement  # noqa: E402

pytestmark = pytest.mark.beside

BATCH, HIDDEN, VOCABULARY = 2, 16, 50
Inputs = dict[str, Any]


class TinyEncoder(torch.nn.Module):
    """Embeds tokens, mixes the real ones, and returns a nest of outputs as transformers do."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.embed = torch.nn.Embedding(VOCABULARY, HIDDEN)
        self.layer = torch.nn.Linear(HIDDEN, HIDDEN)

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> dict[str, Any]:
        real = attention_mask[..., None].to(self.layer.weight.dtype)
        hidden = torch.tanh(self.layer(self.embed(input_ids)))
        mean = (hidden * real).sum(1) / real.sum(1)
        return {"last_hidden_state": hidden + mean[:, None], "pooled": (mean, None)}


def tiny_subject(length: int = 8) -> Subject:
    def inputs(index: int) -> Inputs:
        generator = torch.Generator().manual_seed(index)
        ids = torch.randint(0, VOCABULARY, (BATCH, length), generator=generator)
        return {"input_ids": ids, "attention_mask": torch.ones(BATCH, length, dtype=torch.int64)}

    return Subject(
        workload=Workload(model="tiny", batch_size=BATCH, sequence_length=length),
        device="cpu",
        program=TinyEncoder().eval(),
        make_inputs=inputs,
        make_timed=inputs,
    )


def operator_subject(elements: int) -> Subject:
    def inputs(index: int) -> Inputs:
        generator = torch.Generator().manual_seed(index)
        return {name: torch.randn(elements, generator=generator) for name in "abc"}

    return Subject(
        workload=Workload(operator="addcmul", elements=elements),
        device="cpu",
        program=lambda a, b, c: a + 0.5 * (b * c),
        make_inputs=inputs,
        make_timed=inputs,
    )


def checked(subject: Subject, call: Callable[[Inputs], Any], references: Path | None = None) -> OutputCheck:
    cases = cases_of(subject, references)
    return check(call, cases, stage="before", workload=0, dtype=subject.workload.dtype)


def judged(subject: Subject, result: OutputCheck) -> Finding:
    variant = Variant(key="some/thing", label="", summary="", code="")
    outcome = replace(measurement(), workloads=(subject.workload,), outputs=(result,))
    return judge_outputs(variant, subject.workload, [outcome])


def verdict_of(subject: Subject, call: Callable[[Inputs], Any]) -> Finding:
    return judged(subject, checked(subject, call))


def test_eager_agrees_with_itself(tmp_path: Path) -> None:
    subject = tiny_subject()
    make_references([subject, tiny_subject(4)], tmp_path / "references")
    result = checked(subject, subject.eager, tmp_path / "references")
    assert result.inputs == 10  # eight random, one padded, one extreme
    assert result.rmse == result.rmse_eager
    assert 0 < (result.rmse or 0) < 1e-6
    assert (result.is_stale, result.is_overwritten, result.is_deterministic) == (False, False, True)
    assert result.argmax_agreement == 1.0
    assert judged(subject, result).passed is True


def test_a_file_and_a_comparison_in_place_agree(tmp_path: Path) -> None:
    subject = tiny_subject()
    make_references([subject], tmp_path / "references")
    assert checked(subject, subject.eager, tmp_path / "references") == checked(subject, subject.eager)


def test_references_made_with_random_weights_are_no_measure_for_real_ones(tmp_path: Path) -> None:
    """Each child asks the hub anew; where it answered one and not the other, right answers were called wrong results."""
    random = "random weights: timing valid, outputs meaningless (the hub did not answer)"
    real, fetched = (replace(tiny_subject(), note=f"real weights from {place}") for place in ("the cache", "the hub"))
    make_references([replace(tiny_subject(), note=random)], tmp_path / "random")
    with pytest.raises(UserError, match="Wrong weights: this process has real weights from the cache; the references"):
        list(cases_of(real, tmp_path / "random"))
    make_references([fetched], tmp_path / "real")
    assert list(cases_of(real, tmp_path / "real"))


def test_a_workload_missing_in_the_file_is_compared_in_place(tmp_path: Path) -> None:
    """Guard: references are keyed by the workload; another one's inputs would prove nothing about this one."""
    make_references([tiny_subject()], tmp_path / "references")
    other = tiny_subject(5)
    assert checked(other, other.eager, tmp_path / "references") == checked(other, other.eager)


def test_large_operators_are_not_written_to_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.child.references.LARGE_CASE_BYTES", 1000)
    subject = operator_subject(1000)
    make_references([subject], tmp_path / "references")
    assert (tmp_path / "references").stat().st_size < 1000
    result = checked(subject, subject.eager, tmp_path / "references")
    assert result.inputs == 3
    assert judged(subject, result).passed is True


def test_workloads_with_large_outputs_are_compared_on_fewer_inputs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.child.references.FILE_BYTES", 1000)
    subject = tiny_subject()
    make_references([subject], tmp_path / "references")
    cases = list(cases_of(subject, tmp_path / "references"))
    assert [case.name for case in cases] == ["random 0", "random 1", "padded", "extreme"]


def test_cases_contain_padding_and_extremes_of_the_same_shape() -> None:
    named = dict(case_inputs(tiny_subject()))
    assert len(named) == 10
    assert named["padded"]["attention_mask"].tolist() == [[1] * 8, [1] * 4 + [0] * 4]
    assert len(set(named["extreme"]["input_ids"].flatten().tolist())) == 1
    assert {inputs["input_ids"].shape for inputs in named.values()} == {(BATCH, 8)}


def test_padding_is_not_compared() -> None:
    """R33. Guard: `real_positions`. Whatever stands at padded tokens is nobody's answer."""
    subject = tiny_subject()

    def garbage_at_padding(inputs: Inputs) -> Any:
        outputs = subject.eager(inputs)
        outputs["last_hidden_state"][inputs["attention_mask"] == 0] = 7.0
        return outputs

    assert verdict_of(subject, garbage_at_padding).passed is True


def test_ignoring_the_mask_is_caught() -> None:
    """R33. Guard: the padded case of `case_inputs`; on full rows this mutant is right."""
    subject = tiny_subject()

    def unmasked(inputs: Inputs) -> Any:
        return subject.eager({**inputs, "attention_mask": torch.ones_like(inputs["attention_mask"])})

    finding = verdict_of(subject, unmasked)
    assert finding.passed is False
    assert finding.reason.startswith("RMSE")


def test_zeros_are_caught() -> None:
    """M8. Guard: the comparison with the float64 reference; the words come from cosine 0."""
    subject = tiny_subject()

    def zeros(inputs: Inputs) -> Any:
        return {"last_hidden_state": torch.zeros(BATCH, 8, HIDDEN), "pooled": torch.zeros(BATCH, HIDDEN)}

    finding = verdict_of(subject, zeros)
    assert finding.passed is False
    assert "all zeros" in finding.reason


def test_a_wrong_answer_of_tiny_size_is_caught() -> None:
    """M8. Guard: the tolerance scales with the output in `allowed_rmse`; 1e-5 would excuse anything this small."""
    subject = replace(operator_subject(100), program=lambda a, b, c: 1e-14 * (a + 0.5 * b * c))
    assert verdict_of(subject, subject.eager).passed is True
    assert verdict_of(subject, lambda inputs: 1.5 * subject.eager(inputs)).passed is False


@pytest.mark.parametrize(("length", "passed"), [(63, True), (64, False)])
def test_a_result_wrong_only_for_long_inputs_is_caught_at_that_length(length: int, passed: bool) -> None:
    """M9. Guard: the error rule in `_inexact`, asked at every workload."""
    subject = tiny_subject(length)

    def wrong_from_64(inputs: Inputs) -> Any:
        outputs = subject.eager(inputs)
        if inputs["input_ids"].shape[1] >= 64:
            outputs["last_hidden_state"] = outputs["last_hidden_state"] * 1.001
        return outputs

    assert verdict_of(subject, wrong_from_64).passed is passed


def test_a_stale_input_is_caught() -> None:
    """M10, R6: captured once, replayed for ever. Guard: the first comparison in `_is_stale`, outputs that stand still."""
    subject = tiny_subject()
    captured = subject.inputs(99)

    def stale(inputs: Inputs) -> Any:
        return subject.eager(captured)

    result = checked(subject, stale)
    assert result.is_stale is True
    assert "stale" in judged(subject, result).reason


def test_an_answer_that_comes_one_call_late_is_caught() -> None:
    """M10. Guard: the second comparison in `_is_stale`, with the previous input's reference."""
    subject = tiny_subject()
    waiting = [subject.inputs(99)]

    def late(inputs: Inputs) -> Any:
        waiting.append({name: tensor.clone() for name, tensor in inputs.items()})
        return subject.eager(waiting.pop(0))

    assert checked(subject, late).is_stale is True


def test_an_overwritten_output_is_caught() -> None:
    """M11, R5: one output buffer for all calls, each answer right when it is handed out. Guard: `_is_overwritten`."""
    subject = tiny_subject()
    buffers = [tensor.clone() for tensor in flatten(subject.eager(subject.inputs(0)))]

    def reuses_buffers(inputs: Inputs) -> Any:
        for buffer, tensor in zip(buffers, flatten(subject.eager(inputs)), strict=True):
            buffer.copy_(tensor)
        return buffers

    result = checked(subject, reuses_buffers)
    assert (result.is_overwritten, result.is_stale) == (True, False)
    assert result.rmse == result.rmse_eager
    assert "overwritten by the next call" in judged(subject, result).reason


def test_an_output_that_can_no_longer_be_read_counts_as_overwritten() -> None:
    """M11 as CUDA graph trees show it: reading an old output raises. Guard: the words in `_is_overwritten`."""

    @dataclass
    class Pool:
        generation: int = 0

    class Recorded(torch.Tensor):
        """A tensor that cannot be read once its pool has moved on."""

        pool: Pool
        generation: int

        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            for one in args:
                if isinstance(one, Recorded) and one.generation != one.pool.generation:
                    raise RuntimeError(
                        "Error: accessing tensor output of CUDAGraphs that has been overwritten by a subsequent run. "
                    )
            with torch._C.DisableTorchFunctionSubclass():
                return func(*args, **(kwargs or {}))

    subject, pool = operator_subject(100), Pool()

    def replayed(inputs: Inputs) -> Any:
        pool.generation += 1
        output = subject.eager(inputs).as_subclass(Recorded)
        output.pool, output.generation = pool, pool.generation
        return output

    assert checked(subject, replayed).is_overwritten is True


def test_a_remembered_answer_is_caught_when_the_same_tensors_hold_new_values() -> None:
    """M7: `lru_cache` keyed by the tensors is right on every new input. Guard: `_ignores_new_contents`."""
    subject = operator_subject(100)
    remembered = functools.lru_cache(subject.program)

    def cached(inputs: Inputs) -> Any:
        return remembered(inputs["a"], inputs["b"], inputs["c"])

    result = checked(subject, cached)
    assert result.is_stale is True
    assert judged(subject, result).passed is False


def test_a_cache_keyed_by_shape_is_caught() -> None:
    """M7. Guard: the second comparison in `_is_stale`: another input got the first one's answer."""
    subject = tiny_subject()
    answers: dict[Any, Any] = {}

    def cached(inputs: Inputs) -> Any:
        return answers.setdefault(inputs["input_ids"].shape, subject.eager(inputs))

    assert checked(subject, cached).is_stale is True


def test_nan_is_caught() -> None:
    """Guard: `non_finite` against eager's own; the error alone is taken over finite positions."""
    subject = tiny_subject()

    def poisoned(inputs: Inputs) -> Any:
        outputs = subject.eager(inputs)
        outputs["last_hidden_state"][0, 0, 0] = float("nan")
        return outputs

    result = checked(subject, poisoned)
    assert result.non_finite == 10
    assert "NaN" in judged(subject, result).reason


def test_a_random_output_is_not_deterministic() -> None:
    """A5. Guard: `_is_deterministic`; rounding noise passes the error rule."""
    subject = tiny_subject()
    generator = torch.Generator().manual_seed(0)

    def noisy(inputs: Inputs) -> Any:
        outputs = subject.eager(inputs)
        outputs["last_hidden_state"] += 1e-8 * torch.randn(outputs["last_hidden_state"].shape, generator=generator)
        return outputs

    result = checked(subject, noisy)
    assert result.is_deterministic is False
    assert "differs in some bits" in judged(subject, result).reason


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda outputs: {**outputs, "last_hidden_state": outputs["last_hidden_state"][:, :4]}, "expected (2, 8, 16)"),
        (lambda outputs: outputs["last_hidden_state"], "1 output tensors, expected 2"),
    ],
)
def test_missing_outputs_are_caught(change: Callable[[Any], Any], words: str) -> None:
    """M12: what is not returned need not be computed. Guard: the count and shapes in `_Findings.add_case`."""
    subject = tiny_subject()
    finding = verdict_of(subject, lambda inputs: change(subject.eager(inputs)))
    assert finding.passed is False
    assert words in finding.reason


def test_addcmul_rounds_differently_and_passes() -> None:
    """R14: a fused multiply-add changes bits, not the answer."""
    subject = operator_subject(1000)
    finding = verdict_of(subject, lambda inputs: torch.addcmul(inputs["a"], inputs["b"], inputs["c"], value=0.5))
    assert finding.passed is True
    assert "identical" not in finding.reason


def test_bfloat16_in_the_place_of_float32_is_caught() -> None:
    """M14. Guard: the float32 rule, to which only a variant with a declared precision is an exception."""
    subject = tiny_subject()
    half = TinyEncoder().bfloat16().eval()
    result = checked(subject, lambda inputs: half(**inputs))
    assert judged(subject, result).passed is False
    declared = Variant(key="precision/bfloat16", label="", summary="", code="", precision="bfloat16")
    outcome = replace(measurement(), workloads=(subject.workload,), outputs=(result,))
    assert judge_outputs(declared, subject.workload, [outcome]).passed is True


def test_inputs_are_left_as_they_were() -> None:
    subject = tiny_subject()
    cases = list(cases_of(subject, None))
    before = [{name: tensor.clone() for name, tensor in case.inputs.items()} for case in cases]
    check(subject.eager, cases, stage="before", workload=0, dtype="float32")
    for case, copies in zip(cases, before, strict=True):
        assert all(torch.equal(case.inputs[name], copies[name]) for name in copies)


def test_errors_are_exact() -> None:
    exact = torch.tensor([[3.0, 4.0], [0.0, 5.0]], dtype=torch.float64)
    errors = errors_of(torch.tensor([[3.0, 4.0], [0.0, 7.0]]), exact, None)
    assert errors.rmse == pytest.approx(1.0)
    assert errors.max_abs == pytest.approx(2.0)
    assert errors.reference_rms == pytest.approx((50 / 4) ** 0.5)
    assert errors.cosine == pytest.approx(1.0)
    assert errors.argmax_agreement == 1.0
    assert errors.non_finite == 0
