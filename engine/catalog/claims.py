"""The article's claims, each to be tested on this machine. Its figures are claims, never numbers of ours."""

from engine.catalog.types import Claim
from engine.spec import Workload

ARTICLE = "smallest.ai, Inference Optimization, 30 June 2025"

CLAIMS: tuple[Claim, ...] = (
    Claim(
        key="compile-1.91x",
        technique="torch-compile",
        statement="torch.compile makes DistilBERT 1.91x faster than eager at 11 tokens.",
        source=ARTICLE,
        how_tested="1.91 lies inside the 95 % interval of the speed-up measured here at batch 1, 11 tokens.",
        variant="torch-compile/default",
        baseline="baseline/eager",
        workload=Workload(model="distilbert-base-uncased", batch_size=1, sequence_length=11),
        speedup=1.91,
        figure="1.91x",
    ),
)
