"""Runs one call in a daemon thread, so that a call that never returns can be abandoned."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

from swarmgate.errors import SwarmError

Result = TypeVar("Result")

_POLL_S = 0.5
"""Seconds between two looks whether whoever waits for a call has given it up."""


class Call(Generic[Result]):
    """A call that has begun.

    Args:
        do: what is called.
        name: of its thread.

    Attributes:
        result: what it returned; None until it has, and where it failed.
        error: what it raised.
    """

    def __init__(self, do: Callable[[], Result], name: str) -> None:
        self.result: Result | None = None
        self.error: BaseException | None = None
        self._do = do
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def ended(self, within_s: float | None = 0.0, given_up: Callable[[], bool] = lambda: False) -> bool:
        """Whether it has ended, after waiting as long (None: for ever), or until it is given up."""
        until = None if within_s is None else time.monotonic() + within_s
        while self._thread.is_alive() and not given_up():
            left = _POLL_S if until is None else min(_POLL_S, until - time.monotonic())
            if left <= 0:
                break
            self._thread.join(left)
        return not self._thread.is_alive()

    def _run(self) -> None:
        try:
            self.result = self._do()
        except BaseException as error:  # noqa: BLE001 - for whoever made the call
            self.error = error


def error_text(error: BaseException) -> str:
    """An error in words, also one that cannot say what it is."""
    if isinstance(error, SwarmError):
        return error.message
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # noqa: BLE001 - its own __str__ fails
        return type(error).__name__
