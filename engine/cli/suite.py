"""`python -m engine suite`: every technique of the catalog, one after another, the CSV after each."""

from __future__ import annotations

from typing import Any

import typer

from engine.catalog import TECHNIQUES, Variant
from engine.cli import options
from engine.cli.console import say, say_aside
from engine.cli.lengths import choose_lengths, choose_requests
from engine.cli.live import measure
from engine.cli.report import exit_code, show_table
from engine.cli.request import check_writable, make_experiment, model_workloads
from engine.formatting import seconds
from engine.result import Run
from engine.results_csv import write
from engine.runner import describe_machine, estimate_seconds
from engine.spec import PANGRAM, Experiment


def suite(
    *,
    device: options.Device = "cpu",
    model: options.Model = options.DEFAULT_MODEL,
    batch_size: options.BatchSize = [1],  # noqa: B006 - typer copies it
    sequence_length: options.SequenceLength = None,
    request_count: options.RequestCount = None,
    dtype: options.Dtype = "float32",
    protocol: options.Protocol = "standard",
    threads: options.Threads = None,
    matmul_precision: options.MatmulPrecision = "highest",
    text: options.Text = PANGRAM,
    label: options.Label = "",
    csv: options.Csv = None,
) -> None:
    """Measure every variant of the catalog, or show why it cannot be measured here."""
    check_writable(csv)
    settings: dict[str, Any] = {
        "device": device,
        "threads": threads,
        "matmul_precision": matmul_precision,
        "text": text,
    }

    def experiment_of(variants: tuple[Variant, ...]) -> Experiment:
        lengths = choose_lengths(variants, sequence_length, False, device)
        points = model_workloads(model, batch_size, lengths, dtype)
        stream = choose_requests(variants, points, None, request_count, device)
        return make_experiment(variants, points, protocol, dtype=dtype, request_lengths=stream.lengths, **settings)

    experiments = [experiment_of(technique.variants) for technique in TECHNIQUES]
    machine, runs = describe_machine(), list[Run]()
    estimate_s = sum(estimate_seconds(experiment, machine) for experiment in experiments)
    say_aside(f"About {seconds(round(estimate_s))} on a 2-core CPU.")
    for technique, experiment in zip(TECHNIQUES, experiments, strict=True):
        say(technique.title)
        runs.append(measure(experiment, machine, label))
        if csv:
            write(runs, csv)
        show_table(runs[-1])
        if runs[-1].status == "cancelled":
            break
    raise typer.Exit(exit_code(runs))
