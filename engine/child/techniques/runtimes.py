"""The same model in another runtime: exported once, then run by an engine without Python, with the same number of threads."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import torch
from torch.utils._pytree import tree_flatten

from engine.child.export_refusal import exporting
from engine.child.subject import Inputs, Subject
from engine.child.techniques import Applied, Context, Technique
from engine.errors import InvalidSpec


class AllOutputs(torch.nn.Module):
    """Takes the model's inputs in order and answers with all output tensors as a tuple: what exporters understand."""

    def __init__(self, program: Callable[..., Any], names: tuple[str, ...]) -> None:
        super().__init__()
        self.program = program
        self.names = names

    def forward(self, *values: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Positional tensors in, every tensor out."""
        leaves, _ = tree_flatten(self.program(**dict(zip(self.names, values, strict=True))))
        return tuple(leaf for leaf in leaves if isinstance(leaf, torch.Tensor))


def _exportable(subject: Subject) -> tuple[AllOutputs, tuple[str, ...], tuple[torch.Tensor, ...]]:
    if subject.workload.dtype != "float32":
        raise InvalidSpec(
            f"dtype is {subject.workload.dtype!r}; the other runtimes are measured in float32. Choose float32."
        )
    inputs = subject.timed_inputs()[0]
    names = tuple(inputs)
    # Exporters trace with ordinary tensors: those made under inference mode are refused.
    values = tuple(torch.as_tensor(value).clone() for value in inputs.values())
    return AllOutputs(subject.program, names).eval(), names, values


def _export_onnx(subject: Subject, folder: Path) -> tuple[Path, tuple[str, ...]]:
    module, names, values = _exportable(subject)
    path = folder / "model.onnx"
    with warnings.catch_warnings(), exporting("ONNX", torch.onnx.OnnxExporterError):
        warnings.simplefilter("ignore")  # the exporter's own deprecations
        program = torch.onnx.export(module, values, input_names=list(names), dynamo=True, verbose=False)
    assert program is not None
    program.save(str(path))
    return path, names


def onnxruntime(subject: Subject, context: Context) -> Applied:
    """ONNX Runtime on the CPU."""
    import onnxruntime as ort

    with torch.inference_mode(False), torch.no_grad(), tempfile.TemporaryDirectory() as folder:
        path, names = _export_onnx(subject, Path(folder))
        options = ort.SessionOptions()
        options.intra_op_num_threads = torch.get_num_threads()
        session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])

    def call(inputs: Inputs) -> list[torch.Tensor]:
        answers = session.run(None, {name: inputs[name].numpy() for name in names})
        return [torch.from_numpy(answer) for answer in answers]

    facts = _facts("onnxruntime", ort.__version__, session.get_providers(), options.intra_op_num_threads)
    return Applied(call=call, facts=lambda: facts)


def onnxruntime_cuda(subject: Subject, context: Context) -> Applied:
    """ONNX Runtime's CUDA provider; inputs and outputs are bound on the device, so that no copy to the host is timed."""
    import onnxruntime as ort

    with torch.inference_mode(False), torch.no_grad(), tempfile.TemporaryDirectory() as folder:
        path, names = _export_onnx(subject, Path(folder))
        session = ort.InferenceSession(str(path), providers=["CUDAExecutionProvider"])
    call = bound_call(session, names, torch.device(subject.device))
    return Applied(call=call, facts=lambda: _facts("onnxruntime", ort.__version__, session.get_providers(), None))


def bound_call(session: Any, names: tuple[str, ...], device: torch.device) -> Callable[[Inputs], list[torch.Tensor]]:
    """Calls `session` on tensors where they lie; its outputs stay on the device and become tensors without a copy."""
    place = device.type, device.index or 0

    def call(inputs: Inputs) -> list[torch.Tensor]:
        binding = session.io_binding()
        values = {name: inputs[name].contiguous() for name in names}  # alive until the call has read them
        for name, value in values.items():
            kind = {torch.int64: numpy.int64, torch.float32: numpy.float32}[value.dtype]
            binding.bind_input(name, *place, kind, tuple(value.shape), value.data_ptr())
        for output in session.get_outputs():
            binding.bind_output(output.name, *place)
        session.run_with_iobinding(binding)
        return [torch.utils.dlpack.from_dlpack(value) for value in binding.get_outputs()]

    return call


def openvino(subject: Subject, context: Context) -> Applied:
    """OpenVINO on the CPU, told to keep float32: its own default would round to bfloat16 where the CPU can."""
    import openvino as ov
    from openvino.frontend import OpConversionFailure

    refusal = exporting("OpenVINO", OpConversionFailure, RuntimeError)
    with torch.inference_mode(False), torch.no_grad(), warnings.catch_warnings(), refusal:
        warnings.simplefilter("ignore")  # tracer warnings about shapes that are fixed here on purpose
        module, names, values = _exportable(subject)
        converted = ov.convert_model(module, example_input=values)
    settings = {
        "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_PRECISION_HINT": "f32",
        "INFERENCE_NUM_THREADS": torch.get_num_threads(),
    }
    compiled = ov.compile_model(converted, "CPU", settings)

    def call(inputs: Inputs) -> list[torch.Tensor]:
        answers = compiled([inputs[name].numpy() for name in names], share_outputs=False)
        return [torch.from_numpy(answer) for answer in answers.to_tuple()]

    threads = int(compiled.get_property("INFERENCE_NUM_THREADS"))
    facts = _facts("openvino", ov.__version__, compiled.get_property("EXECUTION_DEVICES"), threads)
    return Applied(call=call, facts=lambda: facts)


def _facts(name: str, version: str, where: Any, threads: int | None) -> dict[str, Any]:
    return {
        "runtime": f"{name} {version}",
        "runtime_devices": [str(place) for place in where],
        "runtime_threads": threads,
    }


VARIANTS: dict[str, Technique] = {
    "runtimes/onnxruntime": onnxruntime,
    "runtimes/onnxruntime-cuda": onnxruntime_cuda,
    "runtimes/openvino": openvino,
}
