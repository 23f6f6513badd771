"""A real server on a copy of the code, and a browser's half of Streamlit's protocol: what the faults tests need of a browser."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Sequence
from pathlib import Path

import psutil
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.sync.client import connect
from websockets.typing import Subprotocol

ROOT = Path(__file__).resolve().parents[1]
START_LIMIT_S = 30.0


def eventually(condition: Callable[[], object], limit_s: float, what: str) -> None:
    """Wait until `condition` holds, at most `limit_s` seconds."""
    deadline = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline, f"not within {limit_s:.0f} s: {what}"
        time.sleep(0.05)


def copy_code(target: Path) -> Path:
    """The code of the app in a folder of its own, so that a test may edit it."""
    for name in ("app.py", ".streamlit", "engine", "pages"):
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, target / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            target.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target / name)
    return target


class LiveServer:
    """`streamlit run app.py` on a free port, with a data folder of its own. Ends with the `with` block."""

    def __init__(self, data: Path, *, logs: Path, code: Path = ROOT, **variables: str) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.data = data
        self.log = logs / f"server-{self.port}.log"
        command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(self.port)]
        environment = os.environ | {"LATENCY_LAB_DATA": str(data)} | variables
        with self.log.open("wb") as output:
            self.process = subprocess.Popen(command, cwd=code, env=environment, stdout=output, stderr=output)
        eventually(self._answers, START_LIMIT_S, "the server answers")

    def __enter__(self) -> LiveServer:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Ask the server to end, as Ctrl+C in its terminal does (or SIGTERM, as a service manager does)."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        self.process.wait(START_LIMIT_S)

    def kill(self) -> None:
        """End the server the hard way."""
        self.process.kill()
        self.process.wait(START_LIMIT_S)

    def family(self) -> list[psutil.Process]:
        """Every living process that was started for this server's data folder, the server itself included."""
        return [process for process in psutil.process_iter() if self._belongs(process)]

    def open(self, path: str = "") -> Session:
        """A visitor at this address."""
        return Session(self.port, path)

    def _belongs(self, process: psutil.Process) -> bool:
        try:
            is_alive = process.status() != psutil.STATUS_ZOMBIE
            return is_alive and process.environ().get("LATENCY_LAB_DATA") == str(self.data)
        except psutil.Error:
            return False

    def _answers(self) -> bool:
        assert self.process.poll() is None, self.log.read_text()
        try:
            return bool(urllib.request.urlopen(f"http://127.0.0.1:{self.port}/_stcore/health", timeout=5).status == 200)
        except OSError:
            return False


class Session:
    """One visitor of one page: runs its script on the server and reads what it would draw. Use it in a `with` block."""

    def __init__(self, port: int, path: str) -> None:
        self.page, _, self.query = path.partition("?")
        # `max_size`: figures are larger than the library's default of one megabyte.
        self._connection = connect(
            f"ws://127.0.0.1:{port}/_stcore/stream", subprotocols=[Subprotocol("streamlit")], max_size=None
        )

    def __enter__(self) -> Session:
        self._socket = self._connection.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._socket.close()

    def load(self, limit_s: float = 30.0) -> str:
        """Load or reload the page; everything it sent, as text."""
        self.ask()
        return as_text(self.receive(limit_s))

    def ask(self, widgets: Sequence[WidgetState] = ()) -> None:
        """Have the page's script run, with what these widgets were set to."""
        message = BackMsg()
        message.rerun_script.page_name = self.page
        message.rerun_script.query_string = self.query
        message.rerun_script.widget_states.widgets.extend(widgets)
        self._socket.send(message.SerializeToString())

    def clear_cache(self) -> None:
        """Press "Clear cache" in the menu."""
        message = BackMsg()
        message.clear_cache = True
        self._socket.send(message.SerializeToString())

    def receive(self, limit_s: float = 30.0) -> list[ForwardMsg]:
        """What the server sends until a script has finished."""
        messages = []
        while True:
            message = ForwardMsg()
            message.ParseFromString(self._socket.recv(timeout=limit_s))
            messages.append(message)
            if message.WhichOneof("type") == "script_finished":
                return messages


def as_text(messages: Sequence[ForwardMsg]) -> str:
    """All there is to read in messages. Slow: figures are megabytes of numbers."""
    return "\n".join(map(str, messages))
