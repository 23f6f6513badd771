"""A visitor with a stopwatch: loads pages of a running server and presses buttons, over the protocol a browser speaks."""

import re
import time

from streamlit.proto.BackMsg_pb2 import BackMsg

from tests.live_server import Session

RERUN = "script_finished: FINISHED_EARLY_FOR_RERUN"


class Visitor(Session):
    """One visitor of one page; every time is from the message sent until the server has sent all there is to draw."""

    def load_s(self) -> float:
        """Seconds to run the page once."""
        started = time.perf_counter()
        self.load()
        return time.perf_counter() - started

    def press(self, key: str) -> tuple[float, str]:
        """Seconds from pressing the button with this key until the page has settled, and what it then shows."""
        (button,) = set(re.findall(rf'"(\$\$ID-\w+-{key})"', self.load()))
        message = BackMsg()
        message.rerun_script.page_name = self.page
        message.rerun_script.query_string = self.query
        message.rerun_script.widget_states.widgets.add(id=button, trigger_value=True)
        started = time.perf_counter()
        self._socket.send(message.SerializeToString())
        while RERUN in (shown := self.read()):
            pass
        return time.perf_counter() - started, shown
