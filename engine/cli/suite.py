"""`python -m engine suite`: every variant of every step, experiment after experiment; CSV and store after each."""

from __future__ import annotations

from pathlib import Path

import typer

from engine.catalog import find_technique
from engine.cli import options
from engine.cli.console import complain, say, say_aside
from engine.cli.lengths import ARTICLE_LENGTH, choose_lengths, choose_requests, say_of
from engine.cli.live import measure
from engine.cli.report import EXIT_NOT_MEASURED, exit_code, show_table
from engine.cli.request import check_writable, model_workloads
from engine.errors import StorageError, UserError
from engine.formatting import seconds
from engine.journey import Stage
from engine.journey import suite as stages_of
from engine.result import Machine, Run
from engine.results_csv import write
from engine.runner import describe_machine, estimate_seconds
from engine.spec import PANGRAM, find_protocol
from engine.store import Store


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
    """Measure every variant of every step, or show why it cannot be measured here; the app's pages show the same runs."""
    check_writable(csv)
    dynamic = find_technique("dynamic-shapes").variants
    lengths = choose_lengths(dynamic, sequence_length, False, device)
    many = model_workloads(model, batch_size, lengths, dtype)
    stream = choose_requests(dynamic, many, None, request_count, device)
    machine = describe_machine()
    stages = stages_of(
        model_workloads(model, batch_size, sequence_length or (ARTICLE_LENGTH,), dtype),
        many,
        protocol=find_protocol(protocol),
        device=device,
        requests=stream.lengths,
        machine=machine,
        threads=threads,
        matmul_precision=matmul_precision,
        text=text,
    )
    say_of(dynamic, lengths, stream)
    _say_durations(stages, machine)
    runs, is_complete = list[Run](), True
    for stage in stages:
        say(stage.title)
        try:
            runs.append(measure(stage.experiment, machine, label))
        except UserError as error:
            complain(str(error))
            is_complete = False
            continue
        _keep(runs[-1])
        if csv:
            _rewrite(csv, runs)
        show_table(runs[-1])
        if runs[-1].status == "cancelled":
            break
    raise typer.Exit(exit_code(runs) or (0 if is_complete else EXIT_NOT_MEASURED))


def _say_durations(stages: tuple[Stage, ...], machine: Machine) -> None:
    expected = {stage.title: estimate_seconds(stage.experiment, machine) for stage in stages}
    parts = ", ".join(f"{title.lower()} {seconds(round(expected_s))}" for title, expected_s in expected.items())
    say_aside(
        f"About {seconds(round(sum(expected.values())))} on a 2-core CPU: {parts}. Ctrl-C keeps what is finished."
    )


def _rewrite(csv: Path, runs: list[Run]) -> None:
    """All that is measured so far. A disk that is full by now costs the file, not the experiments that follow."""
    try:
        write(runs, csv)
    except StorageError as error:
        complain(str(error))


def _keep(run: Run) -> None:
    """Where the app finds it. A store that cannot be written costs the pages, not the measurement."""
    try:
        Store().import_run(run)
    except StorageError as error:
        complain(str(error))
