"""The supervisor of one call: starts its program, waits, and ends all descendants."""

from __future__ import annotations

import os
import signal
import socket
import time
from typing import TYPE_CHECKING, NoReturn

from swarmgate.workspace.process import table
from swarmgate.workspace.process.supervision import program
from swarmgate.workspace.process.supervision.watch import Watch
from swarmgate.workspace.process.supervision.wire import ENDED, GENTLY, LEFT, OVER, STARTED, receive, received, send

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

STUBBORN_S = 10.0
"""After how long a process that was killed is told to be left: it waits for a disk, or is another user's."""
_PATIENCE_S = 30.0
"""For how long swarmgate, which may have died with a fork of it holding the socket, is heard."""
_GRACE_S = 1.0
"""How long a process group may take to clean up after SIGTERM before it gets SIGKILL."""
_POLL_S = 0.01


def supervise(own: Sequence[int], owner: int, *, others: Iterable[int]) -> NoReturn:
    """Supervises one call, and exits.

    Args:
        own: the call's descriptors: its socket, and the program's streams.
        owner: a descriptor that can be read once swarmgate has ended, or -1.
        others: descriptors of other calls, which are let go of.
    """
    code = 1
    try:
        for other in others:
            os.close(other)
        table.adopt_orphans()
        talk, streams = socket.socket(fileno=own[0]), own[1:]
        talk.settimeout(_PATIENCE_S)
        watch, request = Watch(owner, talk), received(talk)
        if request and not watch.wait(0)[0]:
            first = program.start(talk, request, streams)
            for stream in streams:
                os.close(stream)
            if first:
                _Call(talk, watch, first).run()
                send(talk, OVER)
        code = 0
    finally:
        os._exit(code)


class _Call:
    """A program that runs, and all that it started."""

    def __init__(self, talk: socket.socket, watch: Watch, first: int) -> None:
        self._talk, self._watch, self._first = talk, watch, first
        self._ended = False

    def run(self) -> None:
        """Wait for the program's end, and then for that of all others."""
        send(self._talk, STARTED, os.getpid())
        if self._wait() and (not self._has_ended() or self._has_others()):
            table.signal_group(self._first, signal.SIGTERM)
            self._let_finish()
        table.signal_group(self._first, signal.SIGKILL)
        self._end_all()

    def _wait(self) -> bool:
        """Wait until the program has ended, or has to; whether what is left may have a moment."""
        while True:
            gone, message = self._watch.wait()
            if gone:
                return False
            if self._has_ended():
                return True
            if message:
                return receive(self._talk) == GENTLY

    def _let_finish(self) -> None:
        """Give the program's group its grace, as long as somebody waits for it."""
        deadline, pause = time.monotonic() + _GRACE_S, _POLL_S / 10
        while table.group_lives(self._first) and time.monotonic() < deadline:
            gone, message = self._watch.wait(pause)
            if gone or (message and receive(self._talk) != GENTLY):
                return
            pause = min(2 * pause, _POLL_S)

    def _end_all(self) -> None:
        """Kill whatever is below this process until nothing is."""
        self._watch.only_children()
        deadline, reported = time.monotonic() + STUBBORN_S, False
        while self._reap():
            for pid, started in table.descendants(os.getpid()):
                table.send(pid, started, signal.SIGKILL)
            self._watch.wait(_POLL_S)
            if not reported and time.monotonic() > deadline:
                reported = True
                send(self._talk, LEFT, *(pid for pid, _ in table.descendants(os.getpid())))

    def _reap(self) -> bool:
        """Bury who has ended; whether anybody is left."""
        try:
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if not pid:
                    return True
                if pid == self._first:
                    self._report_end(os.waitstatus_to_exitcode(status))
        except ChildProcessError:
            return False

    def _report_end(self, exit_code: int) -> None:
        """Tell the program's end, once: what it left may take its time."""
        if not self._ended:
            self._ended = True
            send(self._talk, ENDED, exit_code)

    def _has_ended(self) -> bool:
        """Whether the program has; unburied where the system can tell, so that its group's number stays its own."""
        if not hasattr(os, "waitid"):  # macOS before Python 3.13
            self._reap()
            return self._ended
        while not self._ended:
            found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if found is None:
                return False
            if found.si_pid == self._first:
                self._report_end(found.si_status if found.si_code == os.CLD_EXITED else -found.si_status)
                return True
            os.waitpid(found.si_pid, 0)  # an orphan: somebody has to
        return True

    def _has_others(self) -> bool:
        """Whether somebody besides the program, which has ended, is below; True where that cannot be known."""
        try:
            with open(f"/proc/self/task/{os.getpid()}/children", "rb") as file:  # noqa: PTH123 - at every call's end
                return file.read().split() != [str(self._first).encode()]
        except OSError:
            return not table.is_visible() or bool(table.descendants(os.getpid()))
