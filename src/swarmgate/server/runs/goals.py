"""The goals that the server knows: a folder each in its home, with `goal.json` and its clone."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from swarmgate.domain.actor import USER
from swarmgate.engine.swarm import Swarm
from swarmgate.server.repositories.repositories import Repositories
from swarmgate.server.runs.model import Goal


class Goals:
    """The goals of one server. Threads and processes may share it.

    Args:
        home: of the server.
        repositories: what is registered.
        environ: where the keys of providers and `SWARM_*` settings are looked up.
    """

    def __init__(self, home: Path, repositories: Repositories, environ: Mapping[str, str]) -> None:
        self._home, self._repositories, self._environ = home, repositories, environ

    def create(self, repo: str, text: str, *, spec: str = "", source: str = "", owner: str, by: str) -> Goal:
        """Writes a new goal down, with a plan as what is wanted of it. Its clone is made by the worker.

        Args:
            repo: the id of its repository.
            text: what is wanted.
            spec: a specification, as text; empty: none.
            source: the name of the file that it is from.
            owner: the id of the account.
            by: who asked, as an actor.

        Raises:
            NotFound: there is no such repository.
            UsageError: nothing is wanted.
        """
        raise NotImplementedError

    def list(self, repo: str = "", *, archived: bool = False) -> tuple[Goal, ...]:
        """All goals, of one repository or of all, the newest first; with the checkouts in which somebody works."""
        raise NotImplementedError

    def get(self, id: str) -> Goal:  # noqa: A002 - the field's name
        """The goal of that id.

        Raises:
            NotFound: there is none.
        """
        raise NotImplementedError

    def ready(self, goal: Goal) -> bool:
        """Whether its project is there: the clone of a new goal is not, until a worker made it."""
        raise NotImplementedError

    def swarm(self, goal: Goal, actor: str = USER) -> Swarm:
        """The facade of its project, for one who acts.

        Raises:
            NotAProject: it is not ready.
        """
        raise NotImplementedError

    def archive(self, id: str, *, by: str) -> Goal:  # noqa: A002 - the field's name
        """Puts a goal away: its branch and all of its folder stay, in `home/archive/`.

        Raises:
            NotFound: there is none.
            IllegalMove: somebody works on it; or it is a checkout.
        """
        raise NotImplementedError
