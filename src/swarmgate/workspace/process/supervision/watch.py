"""Waits at once for the end of a child, the end of swarmgate, and messages on a socket."""

from __future__ import annotations

import contextlib
import os
import select
import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import socket

_MOST = 4096


class Watch:
    """The events that end a wait.

    Args:
        owner: a descriptor that can be read once swarmgate has ended (pidfd_open(2)), or -1.
        talk: a socket.
    """

    def __init__(self, owner: int, talk: socket.socket) -> None:
        self._owner, self._talk = owner, talk.fileno()
        self._woken, waking = os.pipe()
        for end in (self._woken, waking):
            os.set_blocking(end, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(waking, warn_on_full_buffer=False)
        self._poll = select.poll()
        for descriptor in (self._woken, self._talk, *([owner] if owner >= 0 else [])):
            self._poll.register(descriptor, select.POLLIN)

    def wait(self, seconds: float | None = None) -> tuple[bool, bool]:
        """Whether the owner is dead, and whether the socket has something to say (its end, too)."""
        ready = {number for number, _ in self._poll.poll(None if seconds is None else max(0, seconds * 1000))}
        if self._woken in ready:
            with contextlib.suppress(BlockingIOError):
                os.read(self._woken, _MOST)
        return self._owner in ready, self._talk in ready

    def only_children(self) -> None:
        """Wait for nothing but the ends of children from now on."""
        for descriptor in (self._owner, self._talk):
            with contextlib.suppress(KeyError, ValueError):
                self._poll.unregister(descriptor)
