"""Runs one experiment: which arms, whose turn, what came of it. Used by the worker and the command line.

Starts children by command line and never imports torch. The protocol is METHOD 1.4; `engine.arms` plans it,
`engine.runner.process_set` carries out one process set.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from engine.arms import Plan, plan
from engine.catalog import label_of
from engine.environment import environment_of
from engine.errors import InvalidSpec, UserError
from engine.estimate import steps_of
from engine.result import Machine
from engine.runner.child_process import ROOT, RunCancelled
from engine.runner.clock import RunClock
from engine.runner.context import CHILD_COMMAND, RunContext
from engine.runner.events import EnvironmentKnown, OutcomeReady, RunEvent, WaitingForMachine
from engine.runner.failures import cancellation
from engine.runner.machine_lock import default_lock_path, hold_machine
from engine.runner.process_set import ProcessSet
from engine.runner.references import References
from engine.serial import from_json
from engine.spec import Experiment

SCRATCH = "scratch"
"""Folder of a run's compile caches and reference outputs, taken away at its end."""
DESCRIBE_LIMIT_S = 180.0
"""Describing a machine really compiles a line of C++ (and of Triton), which a cold, busy machine does in a minute."""


def run_experiment(
    experiment: Experiment,
    machine: Machine,
    *,
    work_dir: Path,
    emit: Callable[[RunEvent], None],
    cancelled: threading.Event,
    child_command: Sequence[str] = CHILD_COMMAND,
    lock_path: Path | None = None,
) -> None:
    """Measure `experiment` and tell `emit` everything as it happens; returns when all is measured or `cancelled` is set.

    Raises `UserError` for an experiment that cannot start. Logs stay in `work_dir/logs`.
    """
    environment = environment_of(machine, experiment)
    agenda = plan(experiment, machine, os.environ)
    run = RunContext(
        experiment=experiment,
        environment=environment,
        work_dir=work_dir,
        emit=emit,
        cancelled=cancelled,
        clock=RunClock(steps_of(agenda.groups, experiment), experiment.protocol, emit),
        child_command=child_command,
    )
    run.clock.enter("waiting")
    what, lock = _describe(experiment), lock_path or default_lock_path()
    with (
        suppress(RunCancelled),
        hold_machine(what, lock, cancelled, lambda holder: emit(WaitingForMachine(holder=holder))),
    ):
        run.clock.enter("runner")
        emit(EnvironmentKnown(environment=environment))
        _measure(run, agenda)
    emit(run.clock.spent())


def describe_machine(child_command: Sequence[str] = CHILD_COMMAND) -> Machine:
    """Devices, versions and capabilities of this machine, seen by a child; raises `UserError` when it cannot tell."""
    # The child ends with this pipe, so with this process, whatever ends it: compilers are at work in there.
    stdin, held_open = os.pipe()
    process = subprocess.Popen(
        [*child_command, "--describe", "--end-with-stdin"],
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=ROOT,
        process_group=0,
        text=True,
    )
    try:
        output, errors = process.communicate(timeout=DESCRIBE_LIMIT_S)
        # Libraries may print to stdout as well; the description is the last line.
        return from_json((output.splitlines() or [""])[-1], Machine)
    except subprocess.TimeoutExpired as error:
        raise UserError(
            f"Describing this machine took longer than {DESCRIBE_LIMIT_S:.0f} s. "
            "Run `python -m engine.child --describe` to see why."
        ) from error
    except InvalidSpec as error:
        said = (errors.strip().splitlines() or ["nothing"])[-1]
        raise UserError(
            f"This machine could not be described; the last words were: {said}. "
            "Run `python -m engine.child --describe` to see all of them."
        ) from error
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        os.close(stdin)
        os.close(held_open)


def _describe(experiment: Experiment) -> str:
    """What others that wait for the machine read about this run."""
    return (
        f"{', '.join(map(label_of, experiment.variants))} on {experiment.device}, {experiment.protocol.name} protocol"
    )


def _measure(run: RunContext, agenda: Plan) -> None:
    for failure in agenda.unavailable:
        run.emit(OutcomeReady(outcome=failure))
    scratch = run.work_dir / SCRATCH
    references = References(run, agenda.groups, scratch)
    try:
        for place, group in enumerate(agenda.groups):
            path = references.of(group)
            for number in range(run.experiment.protocol.process_sets):
                ProcessSet(run, group, number, path, scratch / f"group-{place}").measure()
    except RunCancelled:
        _settle_the_rest(run, agenda)
        raise
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _settle_the_rest(run: RunContext, agenda: Plan) -> None:
    """Arms that the cancelled run never measured: a missing row would be worse than one that says why."""
    for group in agenda.groups:
        for arm in group.arms:
            if arm not in run.settled:
                run.settle(arm, cancellation(arm, group.first_process))
