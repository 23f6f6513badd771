"""Files with the outputs a workload should give, made once per set of points by children of their own (METHOD 1.4).

The first such child also measures what the device can do at best, for everything the run computes in.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from engine.arms import Group
from engine.estimate import references_step
from engine.floors import dtypes_with_a_floor
from engine.messages import MakeReferences, PhaseChanged, ReferencesMade
from engine.runner.child_process import ChildFailed
from engine.runner.context import RunContext
from engine.spec import Workload


class References:
    """The reference files of one run, which measures `groups`, kept below `folder` while it lasts."""

    def __init__(self, run: RunContext, groups: Sequence[Group], folder: Path) -> None:
        self._run = run
        self._groups = groups
        self._folder = folder
        self._paths: dict[frozenset[Workload], Path | None] = {}

    def of(self, group: Group) -> Path | None:
        """The file for a group's points; None when it could not be made: its children then make their own."""
        points = frozenset(group.workloads)
        if points in self._paths:
            self._run.clock.skip(references_step(group))
        else:
            self._paths[points] = self._make(group)
        return self._paths[points]

    def _make(self, group: Group) -> Path | None:
        self._run.clock.begin(references_step(group))
        self._run.clock.enter("start")
        self._tell("Making reference outputs in float64")
        try:
            return self._ask(group)
        except ChildFailed as error:
            self._tell(f"No reference outputs, each arm makes its own: {error.message}")
            return None
        finally:
            self._run.clock.enter("runner")

    def _ask(self, group: Group) -> Path:
        name = f"references-{len(self._paths)}"
        self._folder.mkdir(parents=True, exist_ok=True)
        child = self._run.start_child(name, self._folder / name)
        try:
            command = self._command(group, self._folder / f"{name}.safetensors")
            limit_s = self._run.experiment.protocol.set_up_limit_s
            made = child.ask(command, ReferencesMade, limit_s, self._enter_phase)
        finally:
            child.end()
        if made.limits is not None:
            self._run.keep_limits(made.limits)
        return Path(made.path)

    def _command(self, group: Group, path: Path) -> MakeReferences:
        experiment = self._run.experiment
        return MakeReferences(
            workloads=group.workloads,
            device=experiment.device,
            threads=self._run.environment.threads,
            matmul_precision=experiment.matmul_precision,
            text=experiment.text,
            seed=experiment.protocol.seed,
            path=str(path),
            limit_dtypes=() if self._run.limits else self._dtypes(),
        )

    def _dtypes(self) -> tuple[str, ...]:
        arms = [arm for group in self._groups for arm in group.arms]
        return dtypes_with_a_floor((arm.variant for arm in arms), (point for arm in arms for point in arm.workloads))

    def _enter_phase(self, event: PhaseChanged) -> None:
        self._run.clock.enter(event.phase)
        if event.message:
            self._tell(event.message)

    def _tell(self, message: str) -> None:
        self._run.clock.tell("references", message)
