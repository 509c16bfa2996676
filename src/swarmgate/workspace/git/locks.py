"""Handles git lock files: removes those of our own dead runs, waits for others, then reports their owner.

Git guards its index and its references by files (`index.lock`, `HEAD.lock`); whoever is killed in the middle leaves
them, and every later command fails. Before a command of ours takes one, a record says who is at work with what. That of
a process that is gone means that what stands since then is ours, as far as no git command is at work.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from swarmgate.errors import GitKilled, GitLocked
from swarmgate.workspace import system
from swarmgate.workspace.files import atomic, regular
from swarmgate.workspace.git import processes
from swarmgate.workspace.process import identity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from swarmgate.workspace.git.driver import Driver

T = TypeVar("T")

RECORD = Path(".swarm/runtime/git-at-work.json")
"""Below the root of the work tree; written only where the folder is there."""

WAIT_S = 10.0
"""For how long somebody else's lock is waited for: an editor gives it back within a second or so."""

_NOTIFY_S, _POLL_S = 1.0, 0.05
_TOP = ("index.lock", "HEAD.lock", "packed-refs.lock", "config.lock", "ORIG_HEAD.lock", "FETCH_HEAD.lock")
"""What a command of ours may leave in git's folder; beside these, locks of single references."""
_REFERENCES = ("refs", "reftable", "logs")
_SLACK_NS = 2_000_000_000
"""By so much the clock of a file system may be behind."""


@dataclass(frozen=True, slots=True)
class Removed:
    """Removed locks of our own that belonged to nobody any more, and the command that died while it held them."""

    locks: tuple[str, ...]
    command: str


@dataclass(frozen=True, slots=True)
class _AtWork:
    """Which process, as `identity` names it, runs which git command, since when (nanoseconds of the clock)."""

    process: str
    since: int
    command: str


class Locks:
    """The locks of one work tree's git folder.

    Args:
        git: runs git there.

    Attributes:
        notify: is called with a text when a lock is waited for.
    """

    def __init__(self, git: Driver) -> None:
        self._git = git
        self._removed: list[Removed] = []
        self.notify: Callable[[str], None] = lambda _text: None

    @property
    def _record(self) -> Path:
        return self._git.root / RECORD

    def drain(self) -> tuple[Removed, ...]:
        """What was removed since the last time."""
        found = tuple(self._removed)
        self._removed.clear()
        return found

    def take(self, command: str, work: Callable[[], T], *, free: tuple[str, ...] = ()) -> T:
        """What `work` gives: git commands that take locks and change nothing before they have them.

        Where somebody else holds a lock, it is waited for, and the work is begun again.

        Args:
            command: what the work is, for the record and for messages.
            work: may be begun more than once.
            free: files in git's folder that must not stand before it begins.

        Raises:
            GitLocked: a lock has stood for `WAIT_S` seconds; the hint says whose it may be, and what to do.
        """
        until = time.monotonic() + WAIT_S
        while True:
            standing = next((place for place in map(self._place, free) if os.path.lexists(place)), None)
            if standing is None:
                try:
                    with self._on_record(command):
                        return work()
                except GitLocked as error:
                    standing = self._place(error.lock)
            self._wait(standing, until)

    def recover(self) -> None:
        """Removes the locks of a run that died in the middle of a git command; `drain` says which they were.

        What was still at work of it has been ended before (`orphans`). A lock that somebody may hold by now is
        waited for; the record stays as long as one of them does.

        Raises:
            GitLocked: that takes more than `WAIT_S` seconds.
        """
        work = self._read()
        if work is None or not identity.has_ended(work.process):
            return
        until = time.monotonic() + WAIT_S
        while held := self._remove(work):
            if time.monotonic() >= until:
                raise self._named(held[0])
            time.sleep(_POLL_S)
        self._record.unlink(missing_ok=True)

    # --- the record ---

    @contextlib.contextmanager
    def _on_record(self, command: str) -> Iterator[None]:
        """Says on disk that a git command of ours is at work; one that was killed under us leaves no lock behind."""
        before, since = self._read(), time.time_ns() - _SLACK_NS
        if before is not None and before.process == identity.own():  # it could not remove all that it left
            since = min(since, before.since)
        work, held = _AtWork(process=identity.own(), since=since, command=command), list[Path]()
        with contextlib.suppress(OSError):  # no folder, no room: a lock that is left then is named, and not removed
            atomic.replace(self._record, json.dumps(asdict(work)))
        try:
            yield
        except BaseException as error:
            if isinstance(error, GitKilled) or not isinstance(error, Exception):  # else git gave back what it had
                held = self._remove(work)
            raise
        finally:
            if not held:
                self._record.unlink(missing_ok=True)

    def _read(self) -> _AtWork | None:
        try:
            record = json.loads(self._record.read_bytes())
        except (OSError, ValueError, RecursionError):  # not there, cut short, or somebody's: it says nothing
            return None
        match record:
            case {"process": str(process), "since": int(since), "command": str(command), **rest} if not rest:
                return _AtWork(process, since, command)
        return None

    # --- the files ---

    def _remove(self, work: _AtWork) -> list[Path]:
        """Removes the locks that stand since the work began, but those that somebody may hold: gives these."""
        since = self._since(work)
        held = [lock for lock in since if processes.holders(lock, self._folders)]
        found = [lock for lock in since if lock not in held]
        for lock in found:
            lock.unlink(missing_ok=True)
        if found:
            self._removed.append(Removed(locks=tuple(map(str, found)), command=work.command))
            named = ", ".join(str(lock) for lock in found)
            self.notify(f"`git {work.command}` was killed in the middle: the locks that it left were removed: {named}")
        return held

    def _since(self, work: _AtWork) -> list[Path]:
        """The locks of this user that were made since the work began."""
        found = []
        for lock in self._standing():
            with contextlib.suppress(OSError):  # gone by now
                state = lock.lstat()
                if state.st_mtime_ns >= work.since and system.owns(state):
                    found.append(lock)
        return found

    def _standing(self) -> list[Path]:
        """Every lock that keeps a commit, a branch or the index from being changed."""
        own, shared = self._git.git_dir, self._git.common_dir
        found = [folder / name for folder in dict.fromkeys((own, shared)) for name in _TOP]
        roots = dict.fromkeys(folder / name for folder in (own, shared) for name in _REFERENCES)
        nested = (place for root in roots for place in root.rglob("*.lock"))
        return [place for place in (*found, *nested) if os.path.lexists(place)]

    @property
    def _folders(self) -> tuple[Path, ...]:
        """Where git commands of this repository run: its git folder, and the work trees that share it."""
        shared = self._git.common_dir
        others = [regular.text(place).strip() for place in shared.glob("worktrees/*/gitdir") if place.is_file()]
        return self._git.top, self._git.git_dir, shared, shared.parent, *(Path(other).parent for other in others)

    def _place(self, lock: str) -> Path:
        """Where a lock is that git names: relative to where it runs, or in its folder."""
        own, shared = self._git.git_dir, self._git.common_dir
        if "/" not in lock:
            return own / lock
        return shared / lock if lock.startswith("refs/") else self._git.root / lock

    def _wait(self, lock: Path, until: float) -> None:
        """Returns once the lock is gone.

        Raises:
            GitLocked: it stays.
        """
        notify_at = time.monotonic() + _NOTIFY_S
        while os.path.lexists(lock):
            now = time.monotonic()
            if now >= until:
                raise self._named(lock)
            if now >= notify_at:
                notify_at = until
                self.notify(f"waiting up to {WAIT_S:.0f} s for another git command, which holds {lock}")
            time.sleep(_POLL_S)
        if time.monotonic() >= until:  # it comes and goes: somebody is busy here
            raise self._named(lock)

    def _named(self, lock: Path) -> GitLocked:
        holders = processes.holders(lock, self._folders)
        message = f"{lock} stands: git changes nothing while it is there."
        if holders:
            by = f"`{holders[0].command}` (pid {holders[0].pid})"
            hint = f"{by} is at work here: let it come to its end, or end it; then: swarm run"
        else:
            hint = f"No git command is at work here, so one that crashed left it: rm '{lock}'; then: swarm run"
        return GitLocked(message, lock=str(lock), hint=hint)
