"""The fleet as a team server sees it: goals that the server shows, and workers elsewhere work on.

Implements the port `swarmgate.server.runs.fleet.Fleet`, which is why neither room imports the other: whoever starts a
server binds the two by their names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from swarmgate.domain.events.event import GoalSet
from swarmgate.engine.swarm import Swarm
from swarmgate.fleet.facade import Fleet, FleetStatus
from swarmgate.fleet.goals.checkout import Checkout, all_goals
from swarmgate.fleet.goals.goal import Goal, Wish, now
from swarmgate.fleet.goals.mirror import brought_up, shown
from swarmgate.fleet.goals.publication import GoalPublication
from swarmgate.fleet.goals.submission import decide, git_setting, rules_at
from swarmgate.fleet.queue import database
from swarmgate.fleet.queue.jobs import Jobs
from swarmgate.workspace.git.driver import Driver

if TYPE_CHECKING:
    from swarmgate.config import Config
    from swarmgate.fleet.goals.goal import Standing

R = TypeVar("R")


class ServedFleet:
    """The goals of the repositories in `[fleet.repositories]`.

    Args:
        settings: of the server; `[fleet]` names database and repositories.
        environ: where settings and keys of projects are looked up.
    """

    def __init__(self, settings: Config, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._fleet = Fleet(environ=environ, config=settings)

    def repository(self, source: str) -> str:
        """The name of the repository that goals of a source are worked on in; empty: the fleet has none.

        Args:
            source: address or folder, as the server registered it; of a folder, its `origin` counts.
        """
        origin = git_setting(folder, "remote.origin.url") if (folder := Path(source)).is_dir() else ""
        addresses = {each.rstrip("/") for each in (source, origin) if each}
        return next((site.name for site in self._fleet.sites.values() if site.remote.rstrip("/") in addresses), "")

    def begin(self, repo: str, goal: str, project: Path, *, text: str, spec: str, source: str, actor: str) -> None:
        """Makes a goal in the remote of what stands in a project, unless it is there.

        Args:
            repo: the name of its repository.
            goal: its id.
            project: a clone with `.swarm/`, whose ledger is empty or holds this goal.
            text: what is wanted.
            spec: more about it.
            source: where that is from.
            actor: who wants it.

        Raises:
            RemoteAway: the remote is out of reach.
            LeaseLost: it was made this moment.
        """
        named, site = Goal(repo, goal), self._fleet.site(repo)
        if goal in all_goals(site):
            return
        if shown(project, named):  # made here, and not pushed: the process was killed
            Driver(project).run("update-ref", "-d", named.ref)
        wish = Wish(
            text=text,
            queue=self._fleet.config.fleet.queue,
            base=site.base,
            author=git_setting(project, "user.name"),
            email=git_setting(project, "user.email"),
            created=now(),
        )
        found = Checkout(site, named, project, wish)
        publication = GoalPublication(found, rules=rules_at(found, self._environ))
        swarm = Swarm(project, environ=self._environ, actor=actor, publication=publication)
        with swarm.project.writing() as ledger:
            if ledger.state.goals:
                publication.recorded(ledger)
            else:
                ledger.append([GoalSet(goal=text, spec=spec, source=source)], expect=ledger.state.seq, actor=actor)

    def decide(
        self, repo: str, goal: str, project: Path, decision: Callable[[Swarm], R], *, actor: str, expect: int | None
    ) -> R:
        """Records on the remote what somebody decides, and has the project show it.

        Args:
            repo: the name of its repository.
            goal: its id.
            project: that shows the goal.
            decision: what is done with it; it is done again where the goal moved on meanwhile.
            actor: who decides.
            expect: the ledger position that they looked at; None: whichever it is at.

        Raises:
            StaleWriter: the ledger is not there any more.
            SwarmError: of the decision; LeaseLost, RemoteAway as `submission.decide`.
        """
        named, site = Goal(repo, goal), self._fleet.site(repo)
        result, _ = decide(site, named, decision, environ=self._environ, actor=actor, expect=expect)
        brought_up(site, named, project)
        return result

    def queue(self, repo: str, goal: str, project: Path) -> None:
        """Puts a goal in line where a worker can go on with it.

        Raises:
            QueueAway, RemoteAway: the database, or the remote, is out of reach.
        """
        named = Goal(repo, goal)
        self._fleet.put_in_line(named, brought_up(self._fleet.site(repo), named, project))

    def leave(self, repo: str, goal: str) -> None:
        """Takes a goal out of line; a worker that has it goes on until it is a person's turn.

        Raises:
            QueueAway: the database is out of reach.
        """
        with database.line(self._fleet.config.fleet.database) as app:
            Jobs(app).cancel(Goal(repo, goal))

    def follow(self, repo: str, goal: str, project: Path) -> Standing:
        """Has a project show what the remote has of a goal; how that stands.

        Raises:
            RemoteAway: the remote is out of reach.
        """
        return brought_up(self._fleet.site(repo), Goal(repo, goal), project).standing

    def moved(self, shown_in: Iterable[tuple[str, str, Path]]) -> list[tuple[str, str, Path]]:
        """Those of some goals (repository, id, project) of which the remote has more than the project shows.

        Raises:
            RemoteAway: a remote is out of reach.
        """
        places = list(shown_in)
        tips = {repo: all_goals(self._fleet.site(repo)) for repo in {repo for repo, _, _ in places}}
        return [
            (repo, goal, project)
            for repo, goal, project in places
            if tips[repo].get(goal, "") not in ("", shown(project, Goal(repo, goal)))
        ]

    def status(self) -> FleetStatus:
        """All goals that are not done, and the workers.

        Raises:
            RemoteAway: a remote is out of reach.
        """
        return self._fleet.status()
