"""What the runner tells whoever started it (the worker or the command line) while an experiment runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.result import Environment, Limits, Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingForMachine:
    """Another run measures on this machine; `holder` says which, in words."""

    holder: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentKnown:
    """The machine is ours and described: the first event of a run that may start."""

    environment: Environment


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Where the run stands. `fraction` is 0 to 1 and never falls; `seconds_left` is an estimate, None while waiting.

    `variant` is the one that is being set up; None while all take turns.
    """

    phase: str
    fraction: float
    seconds_left: float | None
    message: str
    variant: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitsMeasured:
    """What the device can do at best, as far as this run has seen; the newest of them counts."""

    limits: Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeReady:
    """One outcome exists and will not change: store it now."""

    outcome: Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeSpent:
    """Last event: where the run's wall time went, by phase, in seconds. The phases add up to the whole run.

    `runner` is the time nothing was waited for, `block` what blocks took beyond their timed and throw-away calls.
    """

    seconds: Mapping[str, float]


RunEvent = WaitingForMachine | EnvironmentKnown | Progress | LimitsMeasured | OutcomeReady | TimeSpent
