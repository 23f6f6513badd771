"""A visitor with a stopwatch: loads pages of a running server and presses buttons, over the protocol a browser speaks."""

import re
import time

from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

from tests.live_server import Session, as_text


class Visitor(Session):
    """One visitor of one page; every time is from the message sent until the server has sent all there is to draw."""

    def load_s(self) -> float:
        """Seconds to run the page once."""
        started = time.perf_counter()
        self.ask()
        self.receive()
        return time.perf_counter() - started

    def press(self, key: str) -> tuple[float, str]:
        """Seconds from pressing the button with this key until the page has settled, and what it then shows."""
        (button,) = set(re.findall(rf'"(\$\$ID-\w+-{key})"', self.load()))
        started = time.perf_counter()
        self.ask([WidgetState(id=button, trigger_value=True)])
        while (shown := self.receive())[-1].script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN:
            pass
        return time.perf_counter() - started, as_text(shown)
