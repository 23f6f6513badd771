"""`python -m engine run`: measure techniques now, show the table, write the result CSV."""

from __future__ import annotations

from typing import Annotated

import typer

from engine.cli import options
from engine.cli.console import say_aside
from engine.cli.lengths import choose_lengths, choose_requests, say_of
from engine.cli.live import measure
from engine.cli.report import exit_code, show_json, show_table
from engine.cli.request import check_writable, choose_variants, make_experiment, model_workloads
from engine.formatting import seconds
from engine.results_csv import write
from engine.runner import describe_machine, estimate_seconds
from engine.spec import PANGRAM


def run(
    *,
    technique: Annotated[list[str] | None, typer.Option(help="All variants of a technique. May be repeated.")] = None,
    variant: Annotated[list[str] | None, typer.Option(help="One variant, as technique/name. May be repeated.")] = None,
    device: options.Device = "cpu",
    model: options.Model = options.DEFAULT_MODEL,
    batch_size: options.BatchSize = [1],  # noqa: B006 - typer copies it
    sequence_length: options.SequenceLength = None,
    twelve_lengths: options.TwelveLengths = False,
    requests: options.Requests = None,
    request_count: options.RequestCount = None,
    dtype: options.Dtype = "float32",
    elements: options.Elements = None,
    operations: options.Operations = 1,
    part: options.Part = None,
    cache: options.Cache = "hot",
    protocol: options.Protocol = "standard",
    threads: options.Threads = None,
    matmul_precision: options.MatmulPrecision = "highest",
    text: options.Text = PANGRAM,
    label: options.Label = "",
    csv: options.Csv = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the comparison as JSON instead of a table.")] = False,
) -> None:
    """Measure techniques against their baselines; the baseline and its A/A twin are always included."""
    check_writable(csv)
    variants = choose_variants(technique or (), variant or (), part or ())
    lengths = choose_lengths(variants, sequence_length, twelve_lengths, device)
    points = model_workloads(model, batch_size, lengths, dtype)
    stream = choose_requests(variants, points, requests, request_count, device)
    machine = describe_machine()
    experiment = make_experiment(
        variants,
        points,
        protocol,
        dtype=dtype,
        elements=elements,
        operations=operations,
        parts=part or (() if technique else None),
        cache_mode=cache,
        machine=machine,
        request_lengths=stream.lengths,
        device=device,
        threads=threads,
        matmul_precision=matmul_precision,
        text=text,
    )
    say_of(variants, lengths, stream)
    estimate = seconds(round(estimate_seconds(experiment, machine)))
    say_aside(f"About {estimate} on a 2-core CPU. Ctrl-C keeps what is finished.")
    result = measure(experiment, machine, label)
    if csv:
        write([result], csv)
    (show_json if as_json else show_table)(result)
    raise typer.Exit(exit_code([result], [chosen.technique for chosen in variants]))
