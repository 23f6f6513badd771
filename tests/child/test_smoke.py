"""The smoke test of `gpu-check`: it lists what the measured side reads from torch's private parts, and says what is missing."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from engine.child import smoke

SOURCE = """
import torch._inductor.select_algorithm as sa
from torch._dynamo import config

PLACES = ("torch._inductor.metrics:generated_kernel_count", "torch.compile", "not._torch")

def read():
    sa.add_feedback_saver(None)
    return torch.cuda._sleep(1), config.freezing, torch.Tensor.__add__
"""


def test_private_names_are_found_in_imports_aliases_attributes_and_strings(tmp_path: Path) -> None:
    (tmp_path / "reader.py").write_text(SOURCE)
    assert smoke.private_names(tmp_path) == [
        "torch._dynamo.config.freezing",
        "torch._inductor.metrics.generated_kernel_count",
        "torch._inductor.select_algorithm.add_feedback_saver",
        "torch.cuda._sleep",
    ]


@pytest.mark.parametrize(
    ("name", "there"),
    [
        ("torch._dynamo.utils.counters", True),
        ("torch._inductor.config.freezing", True),
        ("torch._no_such_module.anything", False),
        ("torch._dynamo.utils.no_such_function", False),
    ],
)
def test_a_name_exists_only_when_it_can_be_reached(name: str, there: bool) -> None:
    assert smoke.exists(name) is there


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch's own, while its inductor is imported
def test_the_measured_side_reads_nothing_that_this_torch_lacks() -> None:
    names = smoke.private_names(Path(smoke.__file__).parent)
    assert any(name.startswith("torch._dynamo.utils.counters") for name in names)
    assert [name for name in names if not smoke.exists(name)] == []


@pytest.mark.slow
def test_the_report_says_what_really_ran() -> None:
    command = [sys.executable, "-m", "engine.child.smoke", "--device", "cpu"]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    report = json.loads(ran.stdout)
    assert report["works"]["torch.compile"].startswith("works")
    assert report["unknown"] == []
