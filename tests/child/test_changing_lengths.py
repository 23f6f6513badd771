"""What torch really does when lengths change: graphs after each length, the limit, padding, and a stream from a cold start.

Graphs are TorchDynamo's, so most tests compile with a backend that generates nothing.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from measured import MeasuredChild, point, set_up  # noqa: E402

from engine.catalog import find_variant  # noqa: E402
from engine.child.equivalence import cases_of, check  # noqa: E402
from engine.child.evidence import Evidence  # noqa: E402
from engine.child.subject import Subject, load_subjects  # noqa: E402
from engine.child.techniques import Context, apply  # noqa: E402
from engine.errors import InvalidSpec  # noqa: E402
from engine.messages import AnswerRequests, Finish, Finished, ReadyToMeasure, RequestsAnswered  # noqa: E402
from engine.proof import judge_mechanism, judge_outputs  # noqa: E402
from engine.result import Measurement  # noqa: E402
from engine.spec import PANGRAM, Workload  # noqa: E402
from tests.hand_made import measurement  # noqa: E402

pytestmark = [
    pytest.mark.beside,
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:.torch.jit.script_method. is deprecated:DeprecationWarning"),
]

LENGTHS = (11, 12, 64, 128, 17, 1)
CONTEXT = Context(seed=1, process=0)


@pytest.fixture(scope="module")
def long_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT of one layer, with pooler, that takes 512 tokens. Its hidden size is a bucket's length on purpose."""
    from transformers import BertConfig, BertModel

    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("long-bert")
    config = BertConfig(vocab_size=14, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64)
    BertModel(config).save_pretrained(folder)
    return folder


@pytest.fixture
def subjects(long_model: Path) -> Callable[..., list[Subject]]:
    def load(*lengths: int) -> list[Subject]:
        points = tuple(point(long_model, 1, length) for length in lengths)
        return load_subjects(points, "cpu", PANGRAM, 1)

    return load


@pytest.fixture(autouse=True)
def no_code_is_generated(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(torch, "compile", partial(torch.compile, backend="eager"))
    yield
    torch._dynamo.reset()


def observe(
    variant: str, served: Sequence[Subject], marked_after: int | None = None
) -> tuple[Evidence, list[int | None]]:
    """The evidence, and the graphs after one call at each length; warm-up is over after `marked_after` of them."""
    evidence, after = Evidence("cpu", compiles=True), []
    evidence.begin()
    call = apply(f"dynamic-shapes/{variant}", served[0], CONTEXT).call
    with torch.inference_mode():
        for number, subject in enumerate(served):
            if number == marked_after:
                evidence.mark()
            call(subject.inputs(0))
            after.append(evidence.graphs())
    if marked_after is None:
        evidence.mark()
    return evidence, after


def mechanism(variant: str, evidence: Evidence) -> Any:
    return judge_mechanism(find_variant(f"dynamic-shapes/{variant}"), [replace(measurement(), facts=evidence.facts())])


@pytest.mark.parametrize(
    ("variant", "graphs"),
    [
        ("default", [1, 2, 2, 2, 2, 3]),
        ("dynamic-true", [1, 1, 1, 1, 1, 2]),
        ("dynamic-false", [1, 2, 3, 4, 5, 6]),
        ("mark-dynamic", [1, 1, 1, 1, 1, 2]),
        ("buckets", [1, 1, 2, 3, 3, 3]),
    ],
)
def test_graphs_after_each_length_are_those_of_the_method(
    subjects: Callable[..., list[Subject]], variant: str, graphs: list[int]
) -> None:
    evidence, after = observe(variant, subjects(*LENGTHS))
    assert after == graphs
    assert mechanism(variant, evidence).passed


def test_a_ninth_length_in_the_rounds_is_partly_eager_although_nothing_was_compiled_for_it(
    subjects: Callable[..., list[Subject]],
) -> None:
    """R9. Guard: `recompile_limit_hit`; a length beyond the limit fires no event."""
    evidence, after = observe("dynamic-false", subjects(*range(3, 12)), marked_after=8)
    assert after == [1, 2, 3, 4, 5, 6, 7, 8, 8]
    assert evidence.facts()["recompiles_while_timing"] == 0
    finding = mechanism("dynamic-false", evidence)
    assert (finding.passed, finding.reason[:12]) == (False, "partly eager")


def test_padding_to_buckets_serves_nine_lengths_with_one_graph(subjects: Callable[..., list[Subject]]) -> None:
    evidence, after = observe("buckets", subjects(*range(3, 12)))
    assert after == [1] * 9
    assert mechanism("buckets", evidence).passed


@pytest.mark.parametrize("length", [11, 32])
def test_padded_requests_give_the_answers_of_real_tokens_and_the_pooled_one(
    subjects: Callable[..., list[Subject]], length: int
) -> None:
    """R33. Guards: the mask, which is padded with zeros, and `_cut`."""
    (subject,) = subjects(length)
    call = apply("dynamic-shapes/buckets", subject, CONTEXT).call
    with torch.inference_mode():
        outputs = call(subject.inputs(0))
    assert {name: tuple(value.shape) for name, value in outputs.items()} == {
        "last_hidden_state": (1, length, 32),
        "pooler_output": (1, 32),
    }
    seen = check(call, cases_of(subject, None), stage="before", workload=0, dtype="float32")
    judged = judge_outputs(
        find_variant("dynamic-shapes/buckets"), subject.workload, [_with(subject.workload, outputs=(seen,))]
    )
    assert judged.passed, judged.reason


def test_outputs_that_were_not_cut_are_a_wrong_result(
    subjects: Callable[..., list[Subject]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.child.techniques.dynamic_shapes._cut", lambda value, length, full: value)
    (subject,) = subjects(11)
    call = apply("dynamic-shapes/buckets", subject, CONTEXT).call
    seen = check(call, cases_of(subject, None), stage="before", workload=0, dtype="float32")
    assert "shape (1, 32, 32), expected (1, 11, 32)" in (seen.note or "")


def test_requests_without_a_mask_cannot_be_padded() -> None:
    (subject,) = load_subjects((Workload(operator="addcmul", elements=8),), "cpu", PANGRAM, 1)
    call = apply("dynamic-shapes/buckets", subject, CONTEXT).call
    with pytest.raises(InvalidSpec, match="no attention_mask"):
        call(subject.inputs(0))


def test_a_stream_starts_with_nothing_compiled_and_names_the_requests_that_stalled(
    long_model: Path, tmp_path: Path
) -> None:
    """The child compiles for real: 11 and 12 tokens in the rounds, then once for the first and once for another length."""
    command = set_up(
        point(long_model, 1, 11),
        point(long_model, 1, 12),
        variant="dynamic-shapes/default",
        request_lengths=(11, 11, 12, 40, 11),
    )
    with MeasuredChild(tmp_path) as child:
        ready = child.ask(command, ReadyToMeasure)
        measured = child.ask(Finish(), Finished).measurement
        answered = child.ask(AnswerRequests(), RequestsAnswered)
        assert child.exit_code() == 0
    assert [sum(each.new_graphs or ()) for each in ready.points] == [1, 1]
    assert measured.facts["graphs"] == 2
    assert len(measured.facts["operators_per_call"]) == 2, "each length is profiled"
    assert answered.facts["request_graphs"] == 2
    assert answered.facts["requests_that_compiled"] == [1, 3]
    assert answered.facts["request_limit_hit"] is False
    assert min(answered.request_s[0], answered.request_s[2]) > 10 * max(answered.request_s[1], answered.request_s[4])


def _with(workload: Workload, **fields: Any) -> Measurement:
    return replace(measurement(), workloads=(workload,), **fields)
