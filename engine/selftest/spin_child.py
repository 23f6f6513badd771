"""A measured child whose programs are spins: the real stopwatch, warm-up and messages, without torch.

`python -m engine.selftest.spin_child --spins JSON --events-fd N`, the JSON being a spin by variant key.
"""

from __future__ import annotations

import argparse
import itertools
import json
from collections.abc import Iterator
from typing import Any

from engine.child.__main__ import Channel, CommandReader
from engine.child.measurement import Stopwatch, collector_off, take, warm_up
from engine.messages import (
    BlockMeasured,
    Finish,
    Finished,
    MakeReferences,
    MeasureBlock,
    ReadyToMeasure,
    ReferencesMade,
    SetUp,
    WarmedUp,
    WarmUp,
)
from engine.result import Block, Measurement, PointSetUp
from engine.selftest.spin import Spin
from engine.serial import structure

FIRST_CALLS = 3


class SpinSession:
    """What one child holds: one spin at one workload, and the blocks it has timed."""

    def __init__(self, command: SetUp, spin: Spin, channel: Channel) -> None:
        self.command = command
        self.channel = channel
        program = spin.started(f"{command.variant}/{command.process}/{command.protocol.seed}")
        self.call = lambda _inputs: program()
        self.feed: Iterator[dict[str, Any]] = itertools.repeat({})
        self.stopwatch = Stopwatch(synchronize=lambda: None)
        self.blocks: list[Block] = []

    def set_up(self) -> ReadyToMeasure:
        """First calls and warm-up."""
        self.channel.announce("warmup")
        first = tuple(self.stopwatch.sample(self.call, take(self.feed, 1)).wall_s for _ in range(FIRST_CALLS))
        warmed_up = warm_up(self.stopwatch, self.call, self.feed, min(first), self.command.protocol)
        self.point = PointSetUp(
            first_calls_s=first,
            warmup_s=warmed_up.latency_s,
            warmup_calls_per_sample=warmed_up.calls_per_sample,
            reached_steady_state=warmed_up.is_steady,
        )
        self.channel.announce("steady")
        calls = len(warmed_up.latency_s) * warmed_up.calls_per_sample
        return ReadyToMeasure(call_s=(warmed_up.call_s,), warmup_calls=(calls,), points=(self.point,))

    def warm_up(self, command: WarmUp) -> WarmedUp:
        """More calls that do not count."""
        self.stopwatch.sample(self.call, take(self.feed, command.calls))
        return WarmedUp(workload=command.workload)

    def measure_block(self, command: MeasureBlock) -> BlockMeasured:
        """One block, timed as every other child times it."""
        with collector_off():
            times = self.stopwatch.block(
                self.call, self.feed, command.samples, command.calls_per_sample, command.throw_away
            )
        block = Block(
            workload=command.workload,
            round=command.round,
            order=command.order,
            calls_per_sample=command.calls_per_sample,
            latency_s=times.wall_s,
            host_s=times.host_s,
        )
        self.blocks.append(block)
        return BlockMeasured(block=block)

    def finish(self) -> Finished:
        """The measurement; of facts there are none, for nothing was compiled and nothing computed."""
        measurement = Measurement(
            variant=self.command.variant,
            process=self.command.process,
            workloads=self.command.workloads,
            load_s=0.0,
            apply_s=0.0,
            points=(self.point,),
            blocks=tuple(self.blocks),
            harness_s=self.stopwatch.floor(),
            facts={"threads": self.command.threads},
        )
        return Finished(measurement=measurement)


def serve(commands: CommandReader, channel: Channel, spins: dict[str, Spin]) -> None:
    """Answer commands until the one that ends the child."""
    session: SpinSession | None = None
    while True:
        command = commands.next()
        if isinstance(command, MakeReferences):
            channel.send(ReferencesMade(path=command.path, limits=None))
            return
        if isinstance(command, SetUp):
            session = SpinSession(command, spins[command.variant], channel)
            channel.send(session.set_up())
        elif session is None:
            raise ValueError(f"{type(command).__name__} came before SetUp")
        elif isinstance(command, WarmUp):
            channel.send(session.warm_up(command))
        elif isinstance(command, MeasureBlock):
            channel.send(session.measure_block(command))
        elif isinstance(command, Finish):
            channel.send(session.finish())
            return


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--spins", required=True, help="JSON object: a spin by variant key")
    parser.add_argument("--events-fd", required=True, type=int)
    arguments = parser.parse_args()
    commands = CommandReader()
    spins = structure(json.loads(arguments.spins), dict[str, Spin])
    serve(commands, Channel(arguments.events_fd), spins)
    commands.stop()


if __name__ == "__main__":
    main()
