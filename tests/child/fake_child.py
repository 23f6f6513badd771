"""A fake of `engine.child` without torch: speaks the protocol with invented times, and misbehaves on request.

Usage: fake_child.py '{"<variant key>": "<mode>", ...}' --events-fd N (or --describe). Variants not named behave.
The key "references" names the behaviour of the child that makes references.
"""

import ctypes
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from engine.messages import (  # noqa: E402
    AnswerRequests,
    BlockMeasured,
    Failed,
    Finish,
    Finished,
    MakeReferences,
    MeasureBlock,
    PhaseChanged,
    ReadyToMeasure,
    ReferencesMade,
    RequestsAnswered,
    SetUp,
    WarmedUp,
    WarmUp,
    decode,
    encode,
)
from engine.result import Block, Capability, Device, Limits, Machine, Measurement, PointSetUp  # noqa: E402
from engine.serial import to_json  # noqa: E402

CALL_S = 0.001


def machine(has_compiler=True):
    return Machine(
        hostname="fake",
        system="Linux",
        cpu_model="Fake CPU",
        physical_cores=2,
        usable_cores=2,
        memory_bytes=2**33,
        devices=(Device(key="cpu", name="Fake CPU", backend="cpu", identity="fake"),),
        versions={"torch": "0"},
        capabilities={"cxx": Capability(is_present=has_compiler, detail="the fake has none")},
    )


def read_commands(commands):
    """As the real child does: end-of-file on stdin ends the whole process group."""
    pending = b""
    while part := os.read(0, 65536):
        pending += part
        while b"\n" in pending:
            line, pending = pending.split(b"\n", 1)
            commands.put(decode(line))
    os.killpg(os.getpgrp(), signal.SIGKILL)


class FakeChild:
    def __init__(self, modes, events):
        self.modes = modes
        self.events = events
        self.blocks = []
        self.mode = "ok"

    def send(self, event):
        os.write(self.events, encode(event))

    def serve(self, commands):
        while True:
            match commands.get():
                case MakeReferences() as command:
                    return self.make_references(command)
                case SetUp() as command:
                    self.prepare(command)
                case WarmUp() as command:
                    self.warm_up(command)
                case MeasureBlock() as command:
                    self.measure_block(command)
                case Finish() as command:
                    self.finish(command)
                    if not self.set_up.request_lengths:
                        return None
                case AnswerRequests():
                    return self.answer_requests()

    def make_references(self, command):
        self.misbehave(self.modes.get("references", "ok"))
        Path(command.path).write_text("fake")
        peaks = dict.fromkeys(command.limit_dtypes, 1e9)
        limits = (
            Limits(bandwidth_bytes_per_s=1e9, bandwidth_bytes=1, flops_per_s=peaks) if command.limit_dtypes else None
        )
        self.send(ReferencesMade(path=command.path, limits=limits))

    def prepare(self, command):
        self.set_up = command
        self.mode = self.modes.get(command.variant, "ok")
        print(json.dumps({name: os.environ.get(name) for name in ("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR")}))
        Path(os.environ["TORCHINDUCTOR_CACHE_DIR"]).mkdir(parents=True, exist_ok=True)
        self.send(PhaseChanged(phase="load"))
        self.misbehave(self.mode)
        self.send(PhaseChanged(phase="warmup"))
        points = tuple(PointSetUp(first_calls_s=(CALL_S,) * 3, warmup_s=(CALL_S,) * 10) for _ in command.workloads)
        count = len(points)
        self.send(ReadyToMeasure(call_s=(CALL_S,) * count, warmup_calls=(self.warm_up_calls(),) * count, points=points))
        self.points = points

    def warm_up_calls(self):
        return 25 if self.mode == "settles late" else 10

    def warm_up(self, command):
        print(f"warm-up calls: {command.calls}", flush=True)
        self.send(WarmedUp(workload=command.workload))

    def measure_block(self, command):
        if self.mode == "hang in round 1" and command.round == 1:
            time.sleep(600)
        if self.mode == "killed in round 1" and command.round == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        sample_s = 1.0 if self.mode == "expensive" else CALL_S
        block = Block(
            workload=command.workload,
            round=command.round,
            order=command.order,
            calls_per_sample=command.calls_per_sample,
            latency_s=(sample_s,) * command.samples,
        )
        self.blocks.append(block)
        self.send(BlockMeasured(block=block))

    def finish(self, command):
        measurement = Measurement(
            variant=self.set_up.variant,
            process=self.set_up.process,
            workloads=self.set_up.workloads,
            load_s=0.1,
            apply_s=0.0,
            points=self.points,
            blocks=tuple(self.blocks),
            compile_cache=self.set_up.compile_cache,
        )
        bandwidth = 2e9 if self.set_up.process == 1 else 0.5e9
        peaks = dict.fromkeys(command.limit_dtypes, bandwidth)
        limits = (
            Limits(bandwidth_bytes_per_s=bandwidth, bandwidth_bytes=1, flops_per_s=peaks)
            if command.limit_dtypes
            else None
        )
        self.send(Finished(measurement=measurement, limits=limits))

    def answer_requests(self):
        if self.mode == "killed by a request":
            os.kill(os.getpid(), signal.SIGKILL)
        lengths = self.set_up.request_lengths
        self.send(RequestsAnswered(request_s=(CALL_S,) * len(lengths), facts={"requests_that_compiled": [1]}))

    def misbehave(self, mode):
        match mode:
            case "raise":
                print("Traceback: AssertionError: stride mismatch", flush=True)
                self.send(Failed(stage="first_call", failure_kind="error", message="AssertionError: stride mismatch"))
                sys.exit(1)
            case "exit":
                print("no such symbol: frobnicate", flush=True)
                sys.exit(3)
            case "segfault":
                ctypes.string_at(0)
            case "killed":
                os.kill(os.getpid(), signal.SIGKILL)
            case "bad_alloc":
                print("terminate called after throwing an instance of 'std::bad_alloc'", flush=True)
                os.abort()
            case "hang":
                time.sleep(600)
            case "stubborn":
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                subprocess.Popen(["sleep", "600"])
                time.sleep(600)
            case "noise":
                for _ in range(2000):
                    print('{"kind": "Finished"}' + "x" * 500)
                    print("Failed!" + "y" * 500, file=sys.stderr)
            case "garbage":
                os.write(self.events, b"Segmentation fault, said a library\n")
            case "wrong answer":
                self.send(WarmedUp(workload=0))


def main():
    modes = json.loads(sys.argv[1])
    if "--describe" in sys.argv:
        print("a library greets you")
        print("{not json}" if "undescribable" in modes.values() else to_json(machine()))
        return
    commands = queue.SimpleQueue()
    threading.Thread(target=read_commands, args=(commands,), daemon=True).start()
    FakeChild(modes, int(sys.argv[sys.argv.index("--events-fd") + 1])).serve(commands)


if __name__ == "__main__":
    main()
