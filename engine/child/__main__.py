"""The measured side: `python -m engine.child --events-fd N` takes commands on stdin and writes events to descriptor N.

`--describe` prints this machine as JSON on stdout instead. In a measuring child stdout and stderr belong to the libraries.
When stdin ends, whoever started this is gone: the process group, compilers included, is killed.
"""

from __future__ import annotations

import argparse
import os
import queue
import signal
import sys
import threading
import traceback

from engine.messages import (
    AnswerRequests,
    Command,
    Event,
    Finish,
    Finished,
    MakeReferences,
    MeasureBlock,
    PhaseChanged,
    SetUp,
    WarmUp,
    decode,
    encode,
)
from engine.spec import Workload


class Channel:
    """Where events go; knows the phase and the workloads, so that a failure can name them."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.stage = "start"
        self.workloads: tuple[Workload, ...] = ()

    def send(self, event: Event) -> None:
        """Write one event in full; a pipe may take a long line in pieces."""
        line = memoryview(encode(event))
        while line:
            line = line[os.write(self.descriptor, line) :]

    def announce(self, phase: str) -> None:
        """Say that a phase begins."""
        self.stage = phase
        self.send(PhaseChanged(phase=phase))


class CommandReader:
    """Commands from stdin, read by one thread. A buffered read would abort Python at exit, hence `os.read`."""

    def __init__(self) -> None:
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._is_ending = False
        threading.Thread(target=self._read, name="commands", daemon=True).start()

    def next(self) -> Command | Event:
        """The next command; waits for it."""
        return decode(self._lines.get())

    def stop(self) -> None:
        """The work is done: the end of stdin means nothing from here on."""
        self._is_ending = True

    def _read(self) -> None:
        pending = b""
        while part := os.read(0, 65536):
            *lines, pending = (pending + part).split(b"\n")
            for line in lines:
                self._lines.put(line)
        if not self._is_ending:
            os.killpg(0, signal.SIGKILL)


def serve(commands: CommandReader, channel: Channel) -> None:
    """Answer commands until the one that ends the child."""
    # Imported here, after the reader has started: importing torch takes seconds, in which the parent may go away.
    from engine.child import reference_run
    from engine.child.limits import measure_limits
    from engine.child.session import Session

    session: Session | None = None
    while True:
        command = commands.next()
        if isinstance(command, SetUp):
            channel.workloads = command.workloads
            session = Session(command, channel.announce)
            channel.send(session.set_up())
        elif isinstance(command, MakeReferences):
            channel.workloads = command.workloads
            channel.send(reference_run.answer(command, channel.announce))
            return
        elif session is None:
            raise ValueError(f"{type(command).__name__} came before SetUp")
        elif isinstance(command, WarmUp):
            channel.send(session.warm_up(command))
        elif isinstance(command, MeasureBlock):
            channel.send(session.measure_block(command))
        elif isinstance(command, Finish):
            measurement, limits = session.finish(), None
            if command.limit_dtypes:
                channel.announce("limits")
                limits = measure_limits(session.command.device, command.limit_dtypes)
            channel.send(Finished(measurement=measurement, limits=limits))
            if not session.requests:
                return
        elif isinstance(command, AnswerRequests):
            channel.send(session.answer_requests())
            return


def measure(descriptor: int) -> int:
    """Serve the parent; whatever goes wrong becomes a `Failed` event and exit code 1."""
    if os.getpgrp() != os.getpid():
        os.setpgid(0, 0)  # started by hand: the end of stdin must not kill the shell's own group
    channel, commands = Channel(descriptor), CommandReader()
    try:
        serve(commands, channel)
    except Exception as error:  # noqa: BLE001 the only one: whatever it was, the parent is told and the log has the rest
        from engine.child.failures import describe_failure

        traceback.print_exc()
        channel.send(describe_failure(error, channel.stage, channel.workloads))
        return 1
    finally:
        commands.stop()
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m engine.child", description=__doc__)
    task = parser.add_mutually_exclusive_group(required=True)
    task.add_argument("--events-fd", type=int, metavar="N", help="file descriptor that events are written to")
    task.add_argument("--describe", action="store_true", help="print this machine as JSON")
    parser.add_argument("--end-with-stdin", action="store_true", help="with --describe: be killed when stdin ends")
    arguments = parser.parse_args()
    if arguments.describe:
        watched = CommandReader() if arguments.end_with_stdin else None
        from engine.child.environment import print_machine

        print_machine()
        if watched:
            watched.stop()
        return 0
    return measure(arguments.events_fd)


if __name__ == "__main__":
    sys.exit(main())
