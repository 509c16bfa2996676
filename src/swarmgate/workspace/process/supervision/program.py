"""Turns the forked child of a supervisor into the requested program, in a session of its own."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, NoReturn

from swarmgate.workspace.process.supervision import launcher
from swarmgate.workspace.process.supervision.wire import REFUSED, Request, send

if TYPE_CHECKING:
    import socket
    from collections.abc import Sequence

_LAUNCHER = os.fsencode(launcher.__file__)


def start(talk: socket.socket, request: Request, streams: Sequence[int]) -> int:
    """Starts the program and returns its process id; 0 where it cannot be started, which is reported."""
    trouble, report = os.pipe()
    pid = os.fork()
    if not pid:
        _become(request, streams, report)
    os.close(report)
    with open(trouble, "rb") as file:  # noqa: PTH123 - a descriptor
        problem = file.read()
    if not problem:
        return pid
    os.waitpid(pid, 0)
    send(talk, REFUSED, problem.decode(errors="replace"))
    return 0


def _become(request: Request, streams: Sequence[int], report: int) -> NoReturn:
    """Become the program, or report why that cannot be."""
    try:
        os.setsid()
        for target, stream in enumerate(streams):
            os.dup2(stream, target)
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ):  # the interpreter's own ways end here
            signal.signal(number, signal.SIG_DFL)
        os.chdir(request.cwd)
        if request.argv[1:4] == [b"-I", b"-S", _LAUNCHER]:
            _launch(request)
        os.execvpe(request.argv[0], request.argv, request.env)  # noqa: S606 - that is what it is for
    except OSError as error:
        os.write(report, f"{error.errno or 0} {error.strerror or error}".encode(errors="replace"))
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is told: this process is no supervisor
        os.write(report, f"0 {error}".encode(errors="replace"))
    finally:
        os._exit(127)


def _launch(request: Request) -> None:
    """Do what Python was to be started for: it is here already, and would take 10 ms to begin anew."""
    os.environb.clear()
    os.environb.update(request.env)
    launcher.main([os.fsdecode(part) for part in request.argv[4:]])
