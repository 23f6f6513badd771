"""What a reader might pick instead of PyTorch's own compiler: the same model in another runtime."""

from engine.catalog.baseline import EAGER_CODE
from engine.catalog.types import Technique, Variant

_CALL = "with torch.inference_mode():\n    outputs = model(**inputs)\n"
_FIRST_OUTPUT = """

class FirstOutput(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, input_ids, attention_mask):
        return self.model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state


"""

_ONNX_CODE = EAGER_CODE.replace(
    _CALL,
    """\
import onnxruntime
{first_output}torch.onnx.export(FirstOutput(model), tuple(inputs.values()), dynamo=True).save("model.onnx")
session = onnxruntime.InferenceSession("model.onnx", providers=["CPUExecutionProvider"])
outputs = session.run(None, {name: value.cpu().numpy() for name, value in inputs.items()})
""".replace("{first_output}", _FIRST_OUTPUT),
)
_ONNX_CUDA_CODE = EAGER_CODE.replace(
    _CALL,
    """\
import numpy
import onnxruntime
{first_output}torch.onnx.export(FirstOutput(model), tuple(inputs.values()), dynamo=True).save("model.onnx")
session = onnxruntime.InferenceSession("model.onnx", providers=["CUDAExecutionProvider"])
device = torch.device("{device}")
binding = session.io_binding()  # inputs are read and outputs left where they lie, on the GPU
for name, value in inputs.items():
    binding.bind_input(name, device.type, device.index or 0, numpy.int64, tuple(value.shape), value.data_ptr())
for output in session.get_outputs():
    binding.bind_output(output.name, device.type, device.index or 0)
session.run_with_iobinding(binding)
outputs = [torch.from_dlpack(value) for value in binding.get_outputs()]
""".replace("{first_output}", _FIRST_OUTPUT),
)
_OPENVINO_CODE = EAGER_CODE.replace(
    _CALL,
    """\
import openvino
{first_output}with torch.no_grad():
    converted = openvino.convert_model(FirstOutput(model), example_input=tuple(inputs.values()))
settings = {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32"}  # the same precision as eager
compiled = openvino.compile_model(converted, "CPU", settings)
outputs = compiled([value.numpy() for value in inputs.values()])
""".replace("{first_output}", _FIRST_OUTPUT),
)

TECHNIQUE = Technique(
    key="runtimes",
    title="Other runtimes",
    page="runtimes.py",
    icon=":material/train:",
    colour="#4C7A8C",
    summary="ONNX Runtime and OpenVINO, exported from the same model and timed the same way.",
    picture="Taking the train.",
    how_it_works=(
        "The model is exported once into a graph, and an engine without Python runs it with kernels of its own. "
        "What you give up is PyTorch's flexibility: the export must succeed, and every change to the model is a new export. "
        "Leaving these rows out would hide what a reader would pick instead."
    ),
    variants=(
        Variant(
            key="runtimes/onnxruntime",
            label="ONNX Runtime",
            summary="Exported by torch.onnx, run on the CPU with as many threads as the other arms.",
            code=_ONNX_CODE,
            requires=("cpu", "onnxruntime"),
            proofs=("other_runtime",),
            in_drive=True,
        ),
        Variant(
            key="runtimes/onnxruntime-cuda",
            label="ONNX Runtime on CUDA",
            summary="Exported by torch.onnx, run by ONNX Runtime's CUDA provider, inputs and outputs bound on the device.",
            code=_ONNX_CUDA_CODE,
            requires=("cuda", "onnxruntime_cuda"),
            proofs=("other_runtime",),
        ),
        Variant(
            key="runtimes/openvino",
            label="OpenVINO",
            summary="Converted from the PyTorch model, float32, latency hint, as many threads as the other arms.",
            code=_OPENVINO_CODE,
            requires=("cpu", "openvino"),
            proofs=("other_runtime",),
        ),
    ),
)
