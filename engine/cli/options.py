"""Options that several commands share, with their words."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from engine.spec import DTYPES, MATMUL_PRECISIONS, MAX_OPERATIONS, PROTOCOLS, CacheMode

DEFAULT_MODEL = "distilbert-base-uncased"

Device = Annotated[str, typer.Option(help="cpu, cuda:0, ...; `devices` lists them.")]
Model = Annotated[str, typer.Option(help="Hub id, local folder, or path/to/file.py:build.")]
BatchSize = Annotated[list[int], typer.Option(help="May be repeated.")]
SequenceLength = Annotated[
    list[int] | None,
    typer.Option(help="Tokens. May be repeated. 11 unless given; several where one process serves them all."),
]
TwelveLengths = Annotated[bool, typer.Option("--twelve-lengths", help="Twelve lengths from 8 to 512 tokens as well.")]
Requests = Annotated[
    Path | None,
    typer.Option(help="Dynamic shapes: a file with the tokens of one request per row, instead of realistic lengths."),
]
RequestCount = Annotated[
    int | None,
    typer.Option(help="Dynamic shapes: how many realistic requests; 0 for none. On a CPU a budget cuts them."),
]
Dtype = Annotated[str, typer.Option(help=f"One of {', '.join(DTYPES)}.")]
Elements = Annotated[
    list[int] | None,
    typer.Option(help="Pre-allocation and fusion: elements of the swept operators' results. May be repeated."),
]
Operations = Annotated[
    int, typer.Option(min=1, max=MAX_OPERATIONS, help="Pre-allocation and fusion: operations in the chain.")
]
Part = Annotated[
    list[str] | None,
    typer.Option(
        help="Parts of pre-allocation (example, sizes, pooling; numpy-sizes, model) and fusion (expression; chain). May be "
        "repeated. Those after the semicolon take minutes more and are measured when named."
    ),
]
Cache = Annotated[CacheMode, typer.Option(help="Operators: hot or cold; cold empties the caches before every call.")]
Protocol = Annotated[str, typer.Option(help=f"One of {', '.join(PROTOCOLS)}; only the last two give verdicts.")]
Threads = Annotated[int | None, typer.Option(help="CPU threads of every arm; all physical cores unless given.")]
MatmulPrecision = Annotated[str, typer.Option(help=f"One of {', '.join(MATMUL_PRECISIONS)}, the same for every arm.")]
Text = Annotated[str, typer.Option(help="Input, repeated or cut to the sequence length.")]
Label = Annotated[str, typer.Option(help="A few words kept with the result.")]
Csv = Annotated[Path | None, typer.Option(help="Write the result CSV here, also when the run is cancelled.")]
