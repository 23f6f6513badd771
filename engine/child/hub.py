"""Whether the model hub answers, asked once with a short time limit: its client alone retries for half a minute."""

from __future__ import annotations

import threading
import urllib.error
import urllib.request
from urllib.parse import quote, urlparse

from huggingface_hub import constants

TIME_LIMIT_S = 4.0
"""A reachable hub answers a HEAD request well within this."""


def hub_host() -> str:
    """Name of the hub in use, for messages."""
    return urlparse(constants.ENDPOINT).hostname or constants.ENDPOINT


def hub_answers(model: str) -> bool:
    """Whether the hub can be reached within the limit; an answer of "not found" counts as an answer."""
    if constants.HF_HUB_OFFLINE:
        return False
    answers: list[bool] = []
    # In a thread of its own, because a name lookup has no time limit.
    thread = threading.Thread(target=lambda: answers.append(_asks(model)), daemon=True)
    thread.start()
    thread.join(TIME_LIMIT_S)
    return bool(answers) and answers[0]


def _asks(model: str) -> bool:
    request = urllib.request.Request(f"{constants.ENDPOINT}/{quote(model)}/resolve/main/config.json", method="HEAD")
    try:
        with urllib.request.urlopen(request, timeout=TIME_LIMIT_S):
            return True
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
