"""The code to copy of every variant that a CPU can run, run as it stands: it reproduces the evidence its page shows."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from engine.catalog import VARIANTS, Variant
from engine.proof import ALLOWANCES, judge_mechanism
from engine.snippets import fill
from engine.spec import Experiment, Workload
from tests.child.conftest import WORDS
from tests.unit.hand_made import measurement

pytestmark = pytest.mark.beside

SCRIPT = Path(__file__).with_name("copied_code.py")
ELEMENTS = {"numpy-dot": 3000, "numpy-dot-as-written": 3000, "bias-gelu-norm": 64 * 768}
NOT_ON_A_CPU = {"cuda", "tuning", "tf32", "onnxruntime_cuda"}
NOTHING_TO_SEE_HERE = {"cuda-graphs/reduce-overhead", "max-autotune/documented"}
"""What these promise does not happen on a CPU, and the copied code shows it as the page does."""


def here() -> list[Variant]:
    """Every variant of the catalog that a CPU with all optional packages can run."""
    return [
        variant
        for variant in VARIANTS.values()
        if not NOT_ON_A_CPU & set(variant.requires)
        and all(find_spec(name) for name in ("onnxruntime", "openvino") if name in variant.requires)
    ]


def points_of(variant: Variant, model: Path) -> list[Workload]:
    if not variant.subjects:
        return [Workload(model=str(model), batch_size=2, sequence_length=11)]
    return [
        Workload(
            operator=operator,
            elements=ELEMENTS.get(operator, 100_000),
            operations=None if operator.startswith("numpy-dot") else 1,
            dtype="float64" if operator.startswith("numpy-dot") else "float32",
        )
        for operator in variant.subjects
    ]


@pytest.fixture(scope="module")
def longer_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One layer that takes the lengths the snippets name."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder = tmp_path_factory.mktemp("longer-bert")
    (folder / "vocab.txt").write_text("\n".join(WORDS))
    BertTokenizerFast(vocab=str(folder / "vocab.txt"), model_max_length=512).save_pretrained(folder)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(WORDS), hidden_size=64, num_hidden_layers=1, num_attention_heads=2, intermediate_size=128,
        max_position_embeddings=512,
    )  # fmt: skip
    BertModel(config).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def evidence(
    longer_model: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, tuple[Workload, dict[str, Any]]]:
    """What each snippet did, all of them run one after another in one process: by variant and operator."""
    requests, points = {}, {}
    for variant in here():
        for point in points_of(variant, longer_model):
            key = f"{variant.key} {point.operator or 'model'}"
            experiment = Experiment(workloads=(point,), variants=(variant.key,))
            requests[key] = {
                "source": fill(variant, point, experiment),
                "compiles": variant.compiles,
                "is_operator": bool(point.operator),
            }
            points[key] = point
    return {key: (points[key], facts) for key, facts in _run(requests, tmp_path_factory.mktemp("copied"))}


def _run(requests: dict[str, Any], folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    done = subprocess.run(
        [sys.executable, str(SCRIPT)],
        input=json.dumps(requests),
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    for line in done.stdout.splitlines():
        if line.startswith("EVIDENCE "):
            told = json.loads(line.removeprefix("EVIDENCE "))
            yield told["key"], told["facts"]


def judged(variant: Variant, point: Workload, facts: dict[str, Any]):
    """The finding of the product's own rules on what the copied code did."""
    made = replace(measurement(variant.key, 0, [[0.01]]), workloads=(point,), facts=facts)
    return judge_mechanism(variant, [made])


@pytest.mark.slow
def test_every_variant_of_a_cpu_has_run_its_copied_code(evidence: dict[str, Any], longer_model: Path) -> None:
    wanted = {
        f"{variant.key} {point.operator or 'model'}" for variant in here() for point in points_of(variant, longer_model)
    }
    assert set(evidence) == wanted
    assert len({key.split()[0] for key in wanted}) >= 20


@pytest.mark.slow
@pytest.mark.parametrize("variant", here(), ids=lambda variant: variant.key)
def test_the_copied_code_reproduces_the_variants_evidence(variant: Variant, evidence: dict[str, Any]) -> None:
    asked = [name for name in variant.proofs if name not in ALLOWANCES]
    found = {key: value for key, value in evidence.items() if key.split()[0] == variant.key}
    assert found
    for key, (point, facts) in found.items():
        finding = judged(variant, point, facts)
        expected = None if not asked else variant.key not in NOTHING_TO_SEE_HERE
        assert finding.passed is expected, f"{key}: {finding.reason}"
        assert bool(facts["graphs"]) == variant.compiles, key


@pytest.mark.slow
def test_copying_over_a_fresh_result_allocates_what_it_says(evidence: dict[str, Any]) -> None:
    """np.copyto allocates as much as the fresh result, out= does not: the article's mistake shows in its own code."""
    point, copied = evidence["preallocation/copyto numpy-dot-as-written"]
    _, straight = evidence["preallocation/out numpy-dot-as-written"]
    result = 8 * (point.elements or 0)
    weights = 8 * 512 * 3
    assert copied["allocated_bytes_per_call"] >= 0.9 * result + weights
    assert straight["allocated_bytes_per_call"] < 0.9 * result + weights


@pytest.mark.slow
def test_many_lengths_compile_as_often_as_their_pages_say(evidence: dict[str, Any]) -> None:
    """Lengths 11, 24, 60, 128: a graph each, two with a symbol, one from the start, one per bucket."""
    graphs = {
        key.split()[0].partition("/")[2]: facts["graphs"] for key, (_, facts) in evidence.items() if "dynamic" in key
    }
    assert graphs["eager"] == 0
    assert (graphs["default"], graphs["no-cudagraphs"]) == (2, 2)
    assert (graphs["dynamic-true"], graphs["mark-dynamic"]) == (1, 1)
    assert (graphs["dynamic-false"], graphs["buckets"]) == (4, 3)
