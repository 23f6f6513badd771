"""Other runtimes for real: exported from the same model, equal outputs, as many threads, a refusal in one line."""

import subprocess
import sys
from pathlib import Path

import pytest

from engine.catalog import find_variant
from engine.messages import Failed
from engine.proof import judge_mechanism, judge_outputs
from engine.result import Measurement
from engine.snippets import fill
from engine.spec import PANGRAM, Experiment
from tests.child.measured import MeasuredChild, point, set_up, write_model_file

pytestmark = pytest.mark.beside

PACKAGES = {"runtimes/onnxruntime": "onnxruntime", "runtimes/openvino": "openvino"}
UNEXPORTABLE = """
class Asks(torch.nn.Module):
    def forward(self, input):
        return input * 2 if input.sum().item() > 0 else input


class Unknown(torch.nn.Module):
    def forward(self, input):
        return torch.linalg.eigvals(input).real


def build():
    return {module}().eval(), {{"input": torch.rand(8, 8)}}
"""


def measure(workload, variant: str, folder: Path, **changes) -> Measurement | Failed:
    with MeasuredChild(folder) as child:
        return child.measure(set_up(workload, variant=variant, **changes))


@pytest.mark.parametrize("variant", PACKAGES)
def test_another_runtime_gives_the_same_outputs_with_as_many_threads(
    variant: str, tiny_model: Path, tmp_path: Path
) -> None:
    """Guards: the fact that names the runtime; equivalence by the rules of every other arm; thread counts passed on."""
    pytest.importorskip(PACKAGES[variant])
    workload = point(tiny_model)
    measurement = measure(workload, variant, tmp_path)
    assert isinstance(measurement, Measurement), measurement
    assert measurement.facts["runtime"].startswith(PACKAGES[variant])
    assert measurement.facts["runtime_threads"] == measurement.facts["threads"] == 1
    known = find_variant(variant)
    assert judge_mechanism(known, [measurement]).passed
    found = judge_outputs(known, workload, [measurement])
    assert found.passed, found.reason
    assert measurement.outputs[0].inputs >= 8


def test_bound_inputs_and_outputs_are_tensors_that_later_calls_leave_alone(tiny_model: Path, tmp_path: Path) -> None:
    """What the CUDA provider is called through, with the CPU's in its place: the installed runtime's own OrtValue."""
    ort = pytest.importorskip("onnxruntime")
    import torch

    from engine.child.subject import load_subjects
    from engine.child.techniques.runtimes import AllOutputs, _export_onnx, bound_call

    (subject,) = load_subjects((point(tiny_model),), "cpu", PANGRAM, 1)
    with torch.inference_mode(False), torch.no_grad():
        path, names = _export_onnx(subject, tmp_path)
    session = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    call, program = bound_call(session, names, torch.device("cpu")), AllOutputs(subject.program, names)
    first, second = (subject.inputs(place) for place in (0, 1))
    answers = call(first)
    call(second)
    with torch.inference_mode():
        torch.testing.assert_close(tuple(answers), program(*first.values()))


def test_the_code_to_copy_for_cuda_binds_inputs_and_outputs_as_the_timed_call_does(
    tiny_model: Path, tmp_path: Path
) -> None:
    """Run as it stands but for the provider, which this machine lacks."""
    pytest.importorskip("onnxruntime")
    workload, variant = point(tiny_model), find_variant("runtimes/onnxruntime-cuda")
    code = fill(variant, workload, Experiment(workloads=(workload,), variants=(variant.key,)))
    assert "run_with_iobinding" in code
    checked = (
        code.replace("CUDAExecutionProvider", "CPUExecutionProvider")
        + "\nwith torch.inference_mode():\n    expected = model(**inputs).last_hidden_state\n"
        + "torch.testing.assert_close(outputs[0], expected)\n"
    )
    done = subprocess.run([sys.executable, "-c", checked], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.parametrize(
    ("variant", "module", "why"),
    [
        ("runtimes/onnxruntime", "Asks", "exported to ONNX: Could not guard on data-dependent expression"),
        ("runtimes/openvino", "Unknown", "exported to OpenVINO: No conversion rule found for operations: aten::linalg_eigvals"),
    ],
)  # fmt: skip
def test_a_model_that_cannot_be_exported_fails_with_the_line_that_says_why(
    variant: str, module: str, why: str, tmp_path: Path
) -> None:
    pytest.importorskip(PACKAGES[variant])
    model = write_model_file(tmp_path, UNEXPORTABLE.format(module=module))
    failed = measure(point(model), variant, tmp_path)
    assert isinstance(failed, Failed)
    assert (failed.stage, failed.failure_kind) == ("apply", "error")
    assert why in failed.message
    assert "\n" not in failed.message


def test_other_runtimes_refuse_another_dtype_in_words(tiny_model: Path, tmp_path: Path) -> None:
    pytest.importorskip("openvino")
    failed = measure(point(tiny_model, dtype="bfloat16"), "runtimes/openvino", tmp_path)
    assert isinstance(failed, Failed)
    assert "Choose float32" in failed.message
