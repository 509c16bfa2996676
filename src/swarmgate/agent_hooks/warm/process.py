"""The warm process: this module is run, not imported.

It reads `{"root": ..., "place": ...}` on stdin, goes into the background, listens on the socket `place` and prints its
pid. A question is a line of JSON, the answer a text in JSON. The socket lies in a folder that only its user can enter.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
import threading
import time
from pathlib import Path

from swarmgate.agent_hooks.warm.look import Looker

IDLE_S = 1_800.0
"""After so many seconds without a question it ends."""
_LOOK_S = 20.0
"""Seconds between two looks whether it is still wanted."""
_LARGEST, _QUESTION_S = 1_000_000, 5.0
"""Bytes of a question, and seconds in which it has to be there."""


def main() -> None:
    """Goes into the background and answers until nobody asks any more."""
    given = json.loads(sys.stdin.buffer.read())
    place = Path(given["place"])
    if os.fork():  # before there are threads
        os._exit(0)
    listener = _listening(place)
    own = place.stat().st_ino
    print(os.getpid(), flush=True)  # noqa: T201 - whoever started it waits for this
    os.dup2(2, 1)
    looker = Looker(Path(given["root"]))
    threading.Thread(target=looker.prepare, daemon=True).start()
    ends = time.monotonic() + IDLE_S
    while time.monotonic() < ends and _is_ours(place, own) and looker.root.is_dir():
        with contextlib.suppress(TimeoutError):
            connection, _ = listener.accept()
            threading.Thread(target=_serve, args=(connection, looker), daemon=True).start()
            ends = time.monotonic() + IDLE_S
    if _is_ours(place, own):  # another one may listen there by now
        place.unlink()


def _is_ours(place: Path, own: int) -> bool:
    """Whether the socket still has its name: it was removed, or another process listens there now, otherwise."""
    try:
        return place.stat().st_ino == own
    except OSError:
        return False


def _listening(place: Path) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX)
    new = place.with_suffix(f".{os.getpid()}")
    listener.bind(str(new))
    listener.listen()
    listener.settimeout(_LOOK_S)
    new.replace(place)  # one that two start at once is the later one's; the other is left without a name, and ends
    return listener


def _serve(connection: socket.socket, looker: Looker) -> None:
    with connection, contextlib.suppress(OSError, ValueError):
        connection.settimeout(_QUESTION_S)
        with connection.makefile("rb") as stream:
            question = json.loads(stream.readline(_LARGEST))
        match question:
            case {"session": str(session), "paths": [*paths]} if all(isinstance(each, str) for each in paths):
                connection.sendall(json.dumps(looker.look(session, paths)).encode())


if __name__ == "__main__":
    main()
