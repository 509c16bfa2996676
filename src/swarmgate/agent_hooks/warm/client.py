"""Asks the warm process, and starts it where there is none. Imports what a bare Python has."""

from __future__ import annotations

import contextlib
import json
import socket
import time
from typing import TYPE_CHECKING

from swarmgate.agent_hooks.places import socket_of
from swarmgate.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

ANSWER_S = 20.0
"""Seconds that a start and an answer may take together. Warm, an answer takes a fifth of a second."""


def findings(root: str, session: str, paths: Sequence[str]) -> str:
    """What the gates find in these files of a repository, as a text for the model; empty: nothing.

    Raises:
        UsageError: there is no warm process, and none could be started; or it did not answer in time.
    """
    place, question = socket_of(root), {"session": session, "paths": list(paths)}
    answer = _asked(place, question, ANSWER_S)
    if answer is None:
        began = time.monotonic()
        from swarmgate.agent_hooks.warm import start  # noqa: PLC0415 - late: a warm process is there as a rule

        start.started(root, place)
        answer = _asked(place, question, max(1.0, ANSWER_S - (time.monotonic() - began)))
    if answer is None:
        raise UsageError("the warm process that looks at edited files does not answer; what it would say, stop says")
    return answer


def _asked(place: str, question: object, within_s: float) -> str | None:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(within_s)
        with contextlib.suppress(OSError, ValueError):  # nobody listens, it ended meanwhile, or the name is too long
            connection.connect(place)
            connection.sendall(json.dumps(question).encode("utf-8", "surrogateescape") + b"\n")
            data = b"".join(iter(lambda: connection.recv(65_536), b""))
            answer = json.loads(data)
            return answer if isinstance(answer, str) else None
    return None
