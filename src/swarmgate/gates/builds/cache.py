"""Keeps a build tool's incremental cache correct where the tool compares files by time and size only.

mypy compares whole seconds and sizes, make and cargo compare times: of a file that is changed in the second in which
it was last read, and keeps its size, they would repeat the old verdict.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import time
from typing import TYPE_CHECKING

from swarmgate.workspace.files.paths import encode

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_STAMP = "{}.last-run"
"""Beside a cache, where no build writes: the seconds since the epoch in which the last run began and ended."""

_YEAR_2000, _YEARS = 946_684_800, 600_000_000


@contextlib.contextmanager
def fresh(cache: Path, root: Path, changed: Iterable[str]) -> Iterator[None]:
    """Run a build with this cache, emptied first where a changed file is as young as the last run.

    Args:
        cache: the folder of the cache; it is made where it is missing.
        root: the work tree.
        changed: paths of the change, deleted ones included.
    """
    stamp = cache.with_name(_STAMP.format(cache.name))
    if _doubtful(cache, stamp, (root / os.fsdecode(encode(path)) for path in changed)):
        shutil.rmtree(cache, ignore_errors=True)
    cache.mkdir(parents=True, exist_ok=True)
    began = int(time.time())
    try:
        yield
    finally:
        stamp.write_text(f"{began} {int(time.time())}\n", encoding="ascii")


def date(path: Path, content: bytes) -> None:
    """Set a file's time by its content: an unchanged file stays cached, a changed one never is."""
    moment = _YEAR_2000 + int.from_bytes(hashlib.sha256(content).digest()[:8]) % _YEARS
    os.utime(path, (moment, moment))


def _doubtful(cache: Path, stamp: Path, changed: Iterable[Path]) -> bool:
    try:
        began, ended = map(int, stamp.read_text(encoding="ascii").split())
    except (OSError, ValueError):
        return cache.exists()
    for path in changed:
        with contextlib.suppress(OSError):
            if began <= int(path.stat().st_mtime) <= ended:
                return True
    return False
