"""Remembers for a moment whom a token, key or cookie proved: hashing and four queries a request would be most of it."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable

from swarmgate.server.accounts.database import Database
from swarmgate.server.accounts.model import Principal

REMEMBERED_S = 60.0
"""Seconds; a use of a cookie is noticed at least so often."""
_MOST = 10_000


class Proofs:
    """What was proved lately; all of it is forgotten at every write to the file, by whatever process."""

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database, self._clock = database, clock
        self._lock = threading.Lock()
        self._version = -1
        self._known: dict[bytes, tuple[Principal, float, float]] = {}

    def proved(self, secret: str, prove: Callable[[str], tuple[Principal, float]]) -> Principal:
        """Whom a secret proves; `prove` says so, and until when (seconds since 1970), where it is not remembered.

        Raises:
            Unauthenticated: `prove` says that it proves nobody.
        """
        # By hash: a memory dump, or a trace of this object, holds no secret.
        name, now = hashlib.sha256(secret.encode()).digest(), self._clock()
        version = self._database.version
        with self._lock:
            if version != self._version or len(self._known) > _MOST:
                self._known.clear()
                self._version = version
            found = self._known.get(name)
        if found and found[1] <= now < found[2]:
            return found[0]
        principal, until = prove(secret)
        with self._lock:
            if version == self._version:
                self._known[name] = (principal, now, min(until, now + REMEMBERED_S))
        return principal
