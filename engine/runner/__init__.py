"""Runs one experiment: process sets, interleaved rounds, events. Used by the worker and the command line; never imports torch.

`experiment` decides whose turn it is and what came of it, `process_set` carries out one set of METHOD 1.4 and `rounds` its
blocks; `child_process` is one measured child, `events` are what whoever started the run hears. `recording` folds them into
a `Run` for those who keep no store.
"""

from engine.estimate import estimate_seconds
from engine.runner.experiment import SCRATCH, describe_machine, run_experiment
from engine.runner.recording import record

__all__ = ["SCRATCH", "describe_machine", "estimate_seconds", "record", "run_experiment"]
