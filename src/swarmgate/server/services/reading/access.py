"""Who may see a goal or a council, and who may do something with it: the one place where that is decided."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from swarmgate.errors import NotAllowed, NotFound
from swarmgate.server.accounts.model import Principal, Role
from swarmgate.server.repositories.model import Repository
from swarmgate.server.repositories.repositories import Repositories
from swarmgate.server.runs.goals import Goals
from swarmgate.server.runs.jobs import Jobs
from swarmgate.server.runs.model import Council, Goal

T = TypeVar("T")

_NOT_FOUND = "There is no such {what}, or none that you may see."


def unknown(what: str) -> NotFound:
    """The error of what is not there, and of what may not be seen: the two look alike."""
    return NotFound(_NOT_FOUND.format(what=what))


def require(who: Principal, role: Role, repo: str, what: str = "repository") -> None:
    """Lets those pass whose role in a repository is high enough.

    Args:
        who: asks.
        role: the least that is needed.
        repo: id of the repository; `*`: of the whole server.
        what: it is about, as the message calls it.

    Raises:
        NotFound: they may not even see it.
        NotAllowed: they see it, and their role is too low.
    """
    if who.may(role, repo):
        return
    if repo == "*" or who.may(Role.VIEWER, repo):
        raise NotAllowed(
            f"That needs the role {role}.", hint="Ask an admin of this server to give it to you: swarm server accounts"
        )
    raise unknown(what)


@dataclass(frozen=True)
class Access:
    """The goals, repositories and councils of a server, as far as somebody may see them."""

    repositories: Repositories
    goals_there: Goals
    jobs: Jobs

    def goal(self, who: Principal, id: str, role: Role = Role.VIEWER) -> Goal:  # noqa: A002 - the field's name
        """The goal of that id.

        Raises:
            NotFound: there is none, or none that may be seen.
            NotAllowed: the role is too low.
        """
        found = _there(self.goals_there.get, id, "goal")
        require(who, role, found.repo, "goal")
        return found

    def goals(self, who: Principal, repo: str = "") -> tuple[Goal, ...]:
        """All goals that may be seen, the newest first.

        Raises:
            NotFound: there is no such repository, or none that may be seen.
        """
        if repo:
            self.repository(who, repo)
        return tuple(each for each in self.goals_there.list(repo) if who.may(Role.VIEWER, each.repo))

    def repository(self, who: Principal, id: str, role: Role = Role.VIEWER) -> Repository:  # noqa: A002 - the field's name
        """The repository of that id.

        Raises:
            NotFound: there is none, or none that may be seen.
            NotAllowed: the role is too low.
        """
        found = _there(self.repositories.get, id, "repository")
        require(who, role, found.id)
        return found

    def council(self, who: Principal, id: str, role: Role = Role.VIEWER) -> Council:  # noqa: A002 - the field's name
        """The council of that id.

        Raises:
            NotFound: there is none, or none that may be seen.
            NotAllowed: the role is too low.
        """
        found = _there(self.jobs.get, id, "council")
        require(who, role, found.repo, "council")
        return found


def _there(get: Callable[[str], T], id: str, what: str) -> T:  # noqa: A002 - the field's name
    """What an id is of; what is not there is told as what may not be seen."""
    try:
        return get(id)
    except NotFound:
        raise unknown(what) from None
