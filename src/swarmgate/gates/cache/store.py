"""Stores cache entries as files in the user's cache folder, each named by its key and protected by a checksum.

Runs may share it at any time. A writer replaces whole files; a reader believes an entry only when its checksum is
right, so one that is damaged, cut off or gone is a miss and never an error. A full or read-only disk is a cache that
remembers nothing.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swarmgate.workspace.files import atomic, regular

if TYPE_CHECKING:
    from collections.abc import Iterable

LIMIT_BYTES = 200_000_000
"""The size from which on entries are dropped, the longest unused ones first."""

ENTRY_BYTES = 4_000_000
"""A longer entry is not kept: reading it would take as long as judging again."""

_CHECK_EVERY_S = 600.0
_STAMP = "last-check"
_ROOM = 0.8  # of the limit is kept when it was reached, so that not every check has to drop something
_SUFFIX = ".json"


class Cache:
    """A cache folder with one file for each entry.

    Args:
        folder: where they stand; by default the user's cache folder.
        limit: bytes on disk that all entries may take together.
        check_every_s: how often the size is looked at; in between it may be exceeded by what was written.
    """

    def __init__(
        self, folder: Path | None = None, *, limit: int = LIMIT_BYTES, check_every_s: float = _CHECK_EVERY_S
    ) -> None:
        self.folder = folder or default_folder()
        self._limit = limit
        self._check_every_s = check_every_s

    def get(self, key: str) -> Any:
        """The value stored under this key; None where there is none or it is damaged."""
        place = self._place(key)
        try:
            data = regular.read(place, limit=2 * ENTRY_BYTES)
        except OSError:
            return None
        checksum, _, body = data.partition(b"\n")
        if checksum != _checksum(key, body):
            return None
        with contextlib.suppress(OSError):
            os.utime(place)  # access times of the file system are coarse, or off
        try:
            return json.loads(body)
        except (ValueError, RecursionError):
            return None  # another program's file with a right checksum

    def put(self, key: str, value: Any) -> None:
        """Store a JSON value."""
        body = json.dumps(value, separators=(",", ":")).encode()
        if len(body) > ENTRY_BYTES:
            return
        with contextlib.suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            atomic.replace(self._place(key), _checksum(key, body) + b"\n" + body, durable=False)
            self._check()

    def _place(self, key: str) -> Path:
        return self.folder / f"{key}{_SUFFIX}"

    def _check(self) -> None:
        stamp = self.folder / _STAMP
        with contextlib.suppress(FileNotFoundError):
            if 0 <= time.time() - stamp.stat().st_mtime < self._check_every_s:
                return
        stamp.touch()
        self.prune()

    def prune(self) -> None:
        """Delete the least recently used entries where the size limit is exceeded."""
        entries = []
        with os.scandir(self.folder) as found:
            for entry in found:
                with contextlib.suppress(OSError):  # another run dropped it
                    state = entry.stat(follow_symlinks=False)
                    entries.append((state.st_mtime_ns, max(state.st_size, state.st_blocks * 512), entry.path))
        total = sum(size for _, size, _ in entries)
        if total <= self._limit:
            return
        for _, size, path in sorted(entries):
            if total <= self._limit * _ROOM:
                break
            if path.endswith(_STAMP):
                continue
            with contextlib.suppress(OSError):
                Path(path).unlink()
            total -= size


def default_folder() -> Path:
    """The folder in the user's cache."""
    from platformdirs import user_cache_path  # noqa: PLC0415 - late: `swarm --help` needs none

    return user_cache_path("swarmgate") / "gates"


def key_of(parts: Iterable[object]) -> str:
    """One hash of all these parts, unambiguous: no two lists of parts share a key."""
    state = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else str(part).encode("utf-8", "surrogateescape")
        state.update(b"%d:" % len(data))
        state.update(data)
    return state.hexdigest()


def _checksum(key: str, body: bytes) -> bytes:
    # With the key in it: a copied or renamed file is no entry either.
    return hashlib.sha256(key.encode() + body).hexdigest().encode()
