"""What this installation remembers: runs and their outcomes, comparison sets, the machine; in one folder, mostly SQLite.

`data_folder()` says where: `LATENCY_LAB_DATA`, or `data/` beside the code. Everything the file system or SQLite refuses
becomes a `StorageError` with a sentence. No statistics here, and no measuring.
"""

from engine.store.comparison_sets import ComparisonSet, ComparisonSets, SetSummary
from engine.store.database import data_folder, storage_errors
from engine.store.machines import Machines
from engine.store.queue import SERVER_STOPPED, EndStatus, Queue
from engine.store.runs import Runs, RunSummary
from engine.store.sample_runs import samples

__all__ = [
    "SERVER_STOPPED",
    "ComparisonSet",
    "EndStatus",
    "RunSummary",
    "SetSummary",
    "Store",
    "data_folder",
    "samples",
    "storage_errors",
]


class Store(Runs, Queue, ComparisonSets, Machines):
    """One data folder: `Runs` and their `Queue`, `ComparisonSets`, and the machine last seen."""
