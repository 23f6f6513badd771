"""What a run came to: a table, JSON for scripts, and the exit code."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from rich.table import Table
from rich.text import Text

from engine import captions
from engine.cli.console import OUT, say
from engine.cli.lengths_report import show_lengths
from engine.cli.sweep_report import show_sweeps
from engine.comparison import ComparisonRow, compare_run, number, plain_row, sentence
from engine.formatting import seconds
from engine.result import Run
from engine.serial import unstructure
from engine.verdict import Verdict

EXIT_NOT_MEASURED = 1
EXIT_CANCELLED = 130
_DEFECTS = (Verdict.FAILED, Verdict.WRONG_RESULT, Verdict.IMPOSSIBLE)


def show_table(run: Run) -> None:
    """One table per workload, then a sentence for every row that has something to explain."""
    rows = compare_run(run)
    for workload in dict.fromkeys(row.workload for row in rows):
        say(captions.of_workload(workload))
        table = Table("", "Speed-up", "Verdict", "Median", "Set-up")
        for row in rows:
            if row.workload == workload:
                table.add_row(*map(Text, _cells(row)))
        OUT.print(table)
    for told in dict.fromkeys(sentence(row) for row in rows if row.reason):
        say(told)
    show_lengths(run, rows)
    show_sweeps(run, rows)


def show_json(run: Run) -> None:
    """The run without its samples, and the rows of the comparison."""
    rows = [plain_row(row) | {"reason": row.reason} for row in compare_run(run)]
    about = {"id": run.id, "status": run.status, "label": run.label, "experiment": unstructure(run.experiment)}
    if run.environment:
        about["fingerprint"] = run.environment.fingerprint
    say(json.dumps({"run": about, "rows": rows}, indent=2, default=str))


def exit_code(runs: Iterable[Run], asked_for: Sequence[str] = ()) -> int:
    """0 when nothing is defective and every technique in `asked_for` has a row with a speed-up (or is the baseline)."""
    runs = list(runs)
    if any(run.status == "cancelled" for run in runs):
        return EXIT_CANCELLED
    rows = [row for run in runs for row in compare_run(run)]
    measured = {row.technique for row in rows if not row.verdict.hides_speedup}
    is_complete = set(asked_for) <= measured
    return 0 if is_complete and not any(row.verdict in _DEFECTS for row in rows) else EXIT_NOT_MEASURED


def _cells(row: ComparisonRow) -> tuple[str, ...]:
    speedup = "1x" if row.is_baseline and not row.is_twin else number(row)
    return row.label, speedup, row.verdict.value, seconds(row.median_s), _set_up(row)


def _set_up(row: ComparisonRow) -> str:
    """Set-up with an empty compile cache, and with a warm one where that was measured."""
    cold, warm = seconds(row.setup_cold_s), seconds(row.setup_warm_s)
    return cold if row.setup_warm_s is None else f"{cold}, warm {warm}"
