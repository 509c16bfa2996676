"""The supervision server: receives the calls of one swarmgate process, and forks a supervisor for each.

Started by `connection`, with the numbers of two descriptors: the socket that calls arrive on, and one that can be read
once swarmgate has ended, or -1.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import time

from swarmgate.workspace.process import table
from swarmgate.workspace.process.supervision.supervisor import STUBBORN_S, supervise
from swarmgate.workspace.process.supervision.watch import Watch
from swarmgate.workspace.process.supervision.wire import DESCRIPTORS

_POLL_S = 0.001


def main(arguments: list[str]) -> None:
    """Accepts calls until swarmgate closes the socket or is dead, and the last call is over."""
    requests, owner = socket.socket(fileno=int(arguments[0])), int(arguments[1])
    for each in (requests.fileno(), *([owner] if owner >= 0 else [])):
        os.set_inheritable(each, False)  # by the owner's, a program could end it
    table.adopt_orphans()
    watch = Watch(owner, requests)
    calls: dict[int, int] = {}
    serving = True
    while serving or calls:
        gone, message = watch.wait()
        _reap(calls)
        if serving and (gone or (message and not _take(requests, calls, owner))):
            serving = False
            watch.only_children()  # the calls see the owner's end themselves


def _take(requests: socket.socket, calls: dict[int, int], owner: int) -> bool:
    """Begin one call in a process of its own; False when swarmgate let go.

    The call's socket is held open here until its supervisor is gone, and what that left.
    """
    data, descriptors, _, _ = socket.recv_fds(requests, 1, DESCRIPTORS)
    for each in descriptors:
        os.set_inheritable(each, False)
    if len(descriptors) == DESCRIPTORS:
        pid = os.fork()
        if not pid:
            supervise(descriptors, owner, others=(requests.fileno(), *calls.values()))
        calls[pid] = descriptors.pop(0)
    for each in descriptors:
        os.close(each)
    return bool(data)


def _reap(calls: dict[int, int]) -> None:
    """Take note of supervisors that ended, and tell swarmgate, which waits for their sockets to be closed."""
    over, killed = [], False
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                break
            if pid in calls:
                over.append(calls.pop(pid))
                killed = killed or status != 0
    if killed:
        _end_orphans(calls)
    for call in over:
        os.close(call)


def _end_orphans(calls: dict[int, int]) -> None:
    """End what a supervisor left that did not end by itself: whoever is our child, and supervises nothing."""
    deadline = time.monotonic() + STUBBORN_S
    while (orphans := [pid for pid in table.children() if pid not in calls]) and time.monotonic() < deadline:
        for pid in orphans:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(_POLL_S)
        for pid in orphans:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
