"""The protocol between swarmgate and a supervisor: requests and messages over a socket.

With each byte on the server's socket come four descriptors: a socket for the call, and the program's three streams. On
the call's socket swarmgate sends a number of bytes in decimal digits, a line end, and so much JSON (`argv`, `cwd`,
`env`; bytes as Latin-1, so that no encoding has a say); later `GENTLY` or `AT_ONCE` to have it ended. Lines come back:
`started SUPERVISOR`, or `refused ERRNO TEXT`; `ended EXITCODE`; `left PID ...` where processes cannot be ended; `over`
when nothing is left. Where the supervisor was killed, the socket is closed instead when nothing is left.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

DESCRIPTORS = 4
"""Those of a call."""
GENTLY, AT_ONCE = b"e", b"k"
"""The messages of swarmgate that end a call: with a moment for its processes to clean up, or without."""
STARTED, REFUSED, ENDED, LEFT, OVER = "started", "refused", "ended", "left", "over"

_MOST = 1 << 20
"""Bytes of one read."""


class Request(NamedTuple):
    """The program to start."""

    argv: list[bytes]
    cwd: bytes
    env: dict[bytes, bytes]


def encoded(argv: Sequence[str], cwd: str, env: Mapping[str, str]) -> bytes:
    """Encodes a request as it is sent.

    Raises:
        ValueError: there is a NUL in it, or a character that no file system knows.
    """
    texts = [*argv, cwd, *env, *env.values()]
    if any("\0" in text for text in texts):
        raise ValueError("embedded null byte")
    plain = {text: os.fsencode(text).decode("latin-1") for text in texts}
    request = {
        "argv": [plain[part] for part in argv],
        "cwd": plain[cwd],
        "env": {plain[name]: plain[value] for name, value in env.items()},
    }
    body = json.dumps(request).encode()
    return b"%d\n%s" % (len(body), body)


def received(talk: socket.socket) -> Request | None:
    """Receives a request; None where swarmgate closed the socket before it was complete."""
    data = b""
    while b"\n" not in data:
        more = talk.recv(_MOST)
        if not more:
            return None
        data += more
    size, _, body = data.partition(b"\n")
    parts, missing = [body], int(size) - len(body)
    while missing:
        more = talk.recv(min(missing, _MOST))
        if not more:
            return None
        parts.append(more)
        missing -= len(more)
    request = json.loads(b"".join(parts))
    env = {name.encode("latin-1"): value.encode("latin-1") for name, value in request["env"].items()}
    return Request([part.encode("latin-1") for part in request["argv"]], request["cwd"].encode("latin-1"), env)


def send(talk: socket.socket, word: str, *more: object) -> None:
    """Sends a message to swarmgate, which may have ended."""
    line = " ".join((word, *map(str, more))).replace("\n", " ")
    with contextlib.suppress(OSError):
        talk.sendall(line.encode(errors="replace") + b"\n")


def receive(talk: socket.socket) -> bytes:
    """Receives a message of swarmgate; empty when it closed the socket."""
    try:
        return talk.recv(1)
    except OSError:
        return b""
