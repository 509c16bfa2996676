"""Remembers sessions of other programs: what each started from, how often it was held, when it was let go.

They lie in the user's state folder, outside of the repository: a session that could write its own start had none.
"""

from __future__ import annotations

import contextlib
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from swarmgate.agent_hooks import places
from swarmgate.domain.base import Frozen
from swarmgate.errors import SwarmError
from swarmgate.workspace.files import atomic
from swarmgate.workspace.git import revisions

if TYPE_CHECKING:
    from swarmgate.workspace.git.repository import Repository

_FORGOTTEN_S = 90 * 86_400
"""Seconds after which a session is forgotten that was not heard of since."""
_BRANCHES = ("origin/HEAD", "origin/main", "origin/master")
"""The remote's main branch: the first of these that there is."""


class LetGo(Frozen):
    """That a session ended though it did not pass: when (UTC), at which tree, and why."""

    time: str
    tree: str
    why: str


class Session(Frozen):
    """One session.

    Attributes:
        id: as the program names it.
        root: the repository.
        began: when it was first seen, UTC.
        head: the commit that it started from; empty where there was none.
        tree: the work tree that it started from, uncommitted changes included.
        held: how often in a row its end was refused.
        passed: the tree that passed last; empty: none did.
        let_go: the times that it was let go without having passed.
    """

    id: str
    root: str
    began: str
    head: str = ""
    tree: str
    held: int = 0
    passed: str = ""
    let_go: tuple[LetGo, ...] = ()


class Sessions:
    """The sessions of one repository."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._folder = Path(places.state_folder()) / places.key(str(repository.root))

    def begin(self, session: str) -> Session:
        """A session that starts, or goes on: a new one starts from the files as they are now."""
        self._forget()
        known = self.find(session)
        return known or self.keep(self._new(session, self._head(), self._repository.snapshot()))

    def of(self, session: str) -> Session:
        """A session that is at work.

        One that nobody saw start is taken to have started from where HEAD and the remote's main branch parted, or else
        from HEAD: its commits count where that can be told, and its uncommitted changes count.
        """
        known = self.find(session)
        return known or self.keep(self._new(session, "", self._past()))

    def find(self, session: str) -> Session | None:
        """The session as it is remembered; None: nobody saw it start, or what was kept of it cannot be read."""
        with contextlib.suppress(OSError, ValidationError):
            return Session.model_validate_json(self._place(session).read_bytes())
        return None

    def keep(self, session: Session) -> Session:
        """Remembers a session as it is now."""
        places.make_state_folder(self._folder.name)
        atomic.replace(self._place(session.id), session.model_dump_json(indent=1), durable=False)
        return session

    def all(self) -> tuple[Session, ...]:
        """All that are remembered, the newest last."""
        found = []
        for place in self._folder.glob("*.json") if self._folder.is_dir() else ():
            with contextlib.suppress(OSError, ValidationError):
                found.append(Session.model_validate_json(place.read_bytes()))
        return tuple(sorted(found, key=lambda each: each.began))

    def base(self, session: Session) -> str:
        """The tree that the change of a session is compared with.

        It is the files as they were when it started. Where HEAD does not come from the commit of then any more (another
        branch, a rewritten commit), it is where the two parted.
        """
        if session.head and not self._repository.unborn:
            with contextlib.suppress(SwarmError):
                parted = revisions.merge_base(self._repository, session.head)
                return session.tree if parted == self._repository.tree_of(session.head) else parted
        return session.tree

    def _forget(self) -> None:
        """Removes what is remembered of sessions that nobody has heard of for long."""
        for place in self._folder.glob("*.json"):
            with contextlib.suppress(OSError):  # another session does the same
                if time.time() - place.stat().st_mtime > _FORGOTTEN_S:
                    place.unlink()

    def _new(self, session: str, head: str, tree: str) -> Session:
        return Session(id=session, root=str(self._repository.root), began=now(), head=head, tree=tree)

    def _head(self) -> str:
        return "" if self._repository.unborn else self._repository.head()

    def _past(self) -> str:
        if self._repository.unborn:
            return revisions.empty_tree(self._repository)
        for branch in _BRANCHES:
            with contextlib.suppress(SwarmError):
                return revisions.merge_base(self._repository, branch)
        return self._repository.head_tree()

    def _place(self, session: str) -> Path:
        return self._folder / f"{places.key(session)}.json"


def now() -> str:
    """The time, UTC (ISO 8601)."""
    return datetime.now(UTC).isoformat(timespec="seconds")
