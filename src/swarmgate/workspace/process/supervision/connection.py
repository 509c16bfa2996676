"""Starts the supervision server of this process with the first call, and replaces it if it was killed."""

from __future__ import annotations

import atexit
import contextlib
import os
import socket
import subprocess
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from swarmgate.errors import WorkspaceError
from swarmgate.workspace import system
from swarmgate.workspace.process import identity
from swarmgate.workspace.programs import trusted

if TYPE_CHECKING:
    from collections.abc import Sequence

VARIABLE = "SWARMGATE_SUPERVISOR"
"""Names in the supervisors' environment the process that they work for: programs do not inherit it."""

_SERVER = (
    "import sys; sys.path.append(sys.argv.pop(1)); "
    "from swarmgate.workspace.process.supervision.server import main; main(sys.argv[1:])"
)
_SOURCES = str(Path(__file__).parents[4])
"""Where Python finds this package: the interpreter of the server looks at nothing else besides its own library."""
_PATIENCE_S = 30.0
_LEAVING_S = 1.0


@dataclass
class _Server:
    """The supervisor of this process: the socket that takes calls, and the process, which is our child."""

    requests: socket.socket
    process: subprocess.Popen[bytes]


class _State:
    """Which one serves this process, in all of its threads; a fork has its own."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.server: _Server | None = None


_state = _State()


def send_descriptors(descriptors: Sequence[int]) -> None:
    """Sends a call's descriptors to the server, which is started if it is not running.

    Raises:
        MissingRequirement: this is Windows.
        WorkspaceError: it cannot be started, or takes nothing.
    """
    system.require_posix("To run programs in sandboxes and under supervision")
    with _state.lock:
        for fresh in (False, True):
            if _state.server is None:
                _state.server = _started()
            try:
                socket.send_fds(_state.server.requests, [b"c"], descriptors)
            except OSError as error:
                _leave()
                if fresh:
                    raise WorkspaceError(f"programs cannot be started: {error}") from error
            else:
                return


def _started() -> _Server:
    ours, theirs = socket.socketpair()
    ours.settimeout(_PATIENCE_S)
    given = [_high(theirs.detach()), *([_high(os.pidfd_open(os.getpid()))] if hasattr(os, "pidfd_open") else [])]
    requests, owner = (*given, -1)[:2]
    library_path = {name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ}
    argv = [trusted.interpreter(), "-I", "-S", "-c", _SERVER, _SOURCES, str(requests), str(owner)]
    try:
        process = subprocess.Popen(
            argv,
            cwd="/",
            env={**library_path, VARIABLE: identity.own()},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=given,
            start_new_session=True,  # an interrupt at the terminal is ours to handle
        )
    except OSError as error:
        ours.close()
        raise WorkspaceError(f"programs cannot be started: {argv[0]}: {error}") from error
    finally:
        for each in given:
            os.close(each)
    return _Server(ours, process)


def _high(descriptor: int) -> int:
    """The same under a number beyond those of the standard streams, where one of them was closed."""
    import fcntl  # noqa: PLC0415 - late: POSIX alone has it, and this module is imported everywhere

    try:
        return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3)
    finally:
        os.close(descriptor)


def _leave() -> None:
    """Let go of the supervisor, which then ends."""
    server, _state.server = _state.server, None
    if server is not None:
        server.requests.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.process.wait(_LEAVING_S)


def _forget() -> None:
    """In a fork: the supervisor is its parent's."""
    server, _state.server, _state.lock = _state.server, None, threading.Lock()
    if server is not None:
        server.requests.close()
        server.process.returncode = 0  # not ours to wait for


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
atexit.register(_leave)
