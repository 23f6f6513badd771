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
    Claim(
        key="no-recompile",
        technique="dynamic-shapes",
        statement="max-autotune-no-cudagraphs handles varying shapes without recompiling.",
        source=ARTICLE,
        how_tested="After the first two lengths no process set compiles another graph for any length from 2 to 512 tokens.",
        variant="dynamic-shapes/no-cudagraphs",
        judged_by="graphs",
        figure="no recompiling",
    ),
    Claim(
        key="preallocation-4.9x",
        technique="preallocation",
        statement="Copying the product into a buffer made beforehand took 0.0353 s for 100 products instead of 0.1738 s.",
        source=ARTICLE,
        how_tested="4.9 lies inside the 95 % interval of the speed-up of the article's own numpy example, measured here as written.",
        variant="preallocation/copyto",
        baseline="preallocation/fresh",
        workload=Workload(operator="numpy-dot-as-written", elements=3000, dtype="float64"),
        speedup=4.9,
        figure="4.9x",
    ),
    Claim(
        key="fragmentation-21.3",
        technique="preallocation",
        statement="Dynamic tensor allocation suffers 21.3 % fragmentation on average at large batch sizes.",
        source=ARTICLE,
        how_tested="Fragmentation has at least four definitions; CUDA's allocator tells four numbers, a CPU's tells none.",
        figure="21.3 %",
        source_note="source not found: six papers on GPU memory were searched, none states 21.3 %, and all of them are about training",
    ),
    Claim(
        key="memory-20-70",
        technique="preallocation",
        statement="Memory techniques cut memory use by 20-70 %, depending on the architecture.",
        source=ARTICLE,
        how_tested="Peak memory of every variant that keeps the precision, against its own baseline's; 20 % less in one of them, in as many process sets as a verdict takes, is enough.",
        judged_by="memory",
        saving=0.20,
        figure="20-70 %",
        source_note="source not found: the range spans several papers about training, none of them about inference",
    ),
    Claim(
        key="one-launch-not-three",
        technique="kernel-fusion",
        statement="torch.addcmul needs one launch instead of three, and intermediates never leave registers.",
        source=ARTICLE,
        how_tested="The profiler counts what one call starts: one kernel (without a GPU: one operator). It does not see registers.",
        variant="kernel-fusion/addcmul",
        baseline="kernel-fusion/separate",
        judged_by="mechanism",
        figure="1 launch, not 3",
        source_note="it has not been measured here",
    ),
)
