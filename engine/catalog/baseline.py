"""Step 1 of the journey: the model as it is."""

from engine.catalog.types import Technique, Variant

EAGER_CODE = """\
import torch
from transformers import AutoModel, AutoTokenizer

model = AutoModel.from_pretrained("{model}", attn_implementation="sdpa", dtype=torch.{dtype}).to("{device}").eval()
tokenizer = AutoTokenizer.from_pretrained("{model}")
batch = tokenizer(["{text} " * {sequence_length}] * {batch_size}, truncation=True,  # repeated, then cut to length
                  max_length={sequence_length}, return_tensors="pt").to("{device}")
inputs = dict(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"])

with torch.inference_mode():
    outputs = model(**inputs)
"""

TECHNIQUE = Technique(
    key="baseline",
    title="Baseline",
    page="baseline.py",
    icon=":material/directions_car:",
    colour="#8A94A3",
    summary="The model exactly as it loads: PyTorch eager mode, no gradients, evaluation mode.",
    picture="A reliable car that gets from A to B.",
    how_it_works=(
        "Eager mode runs the model's Python line by line and starts one kernel per operation. "
        "It is the fair starting point only when nothing is wasted: evaluation mode, no gradients, the right dtype. "
        "Most speed-ups are this latency divided by the technique's, both from the same rounds; pages with another baseline "
        "name it."
    ),
    variants=(
        Variant(
            key="baseline/eager",
            label="Eager",
            summary="The model as loaded, under inference mode.",
            code=EAGER_CODE,
            proofs=("nothing_compiled",),
            in_drive=True,
        ),
    ),
)
