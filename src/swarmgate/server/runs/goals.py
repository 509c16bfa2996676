"""The goals that the server knows: a folder each in its home, with `goal.json` and its clone."""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

from swarmgate.domain.actor import USER
from swarmgate.engine.swarm import Swarm
from swarmgate.errors import IllegalMove, NotFound, UsageError
from swarmgate.journal.disk_errors import writing
from swarmgate.journal.lock import live_owner
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.server.repositories.model import Repository
from swarmgate.server.repositories.repositories import Repositories
from swarmgate.server.runs import clones
from swarmgate.server.runs.fleet import Fleet
from swarmgate.server.runs.model import Goal, Verb, Wanted
from swarmgate.server.runs.records import Records
from swarmgate.workspace.git.copies import cloning

_OF_SERVER = "SWARM_SERVER__"
"""Begins the variables that are the server's own settings: no project is told them."""


def now() -> str:
    """The time, UTC, in ISO 8601 with microseconds."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def new_id(kind: str, token: str) -> str:
    """An id: of a request that may come again the one that its token says, else one that nobody can guess."""
    return f"{kind}-{token or secrets.token_hex(6)}"


class Goals:
    """The goals of one server. Threads and processes may share it.

    Args:
        home: of the server; it is there.
        repositories: what is registered.
        environ: where the keys of providers and `SWARM_*` settings are looked up.
        withheld: the names of further variables that no project is told: a repository's settings may name any.
        fleet: that works on goals of its repositories; None: this server works on all.
    """

    def __init__(
        self,
        home: Path,
        repositories: Repositories,
        environ: Mapping[str, str],
        *,
        withheld: Collection[str] = (),
        fleet: Fleet | None = None,
    ) -> None:
        self.home, self.repositories, self.fleet = home, repositories, fleet
        self.environ = {
            key: value
            for key, value in environ.items()
            if not key.upper().startswith(_OF_SERVER) and key not in withheld
        }
        self.records = Records(home / "goals", "goal.json", Goal)
        self._archive = Records(home / "archive", "goal.json", Goal)

    def create(
        self, repo: str, text: str, *, spec: str = "", source: str = "", owner: str, by: str, token: str = ""
    ) -> Goal:
        """Writes a new goal down, with a plan as what is wanted of it. Its clone is made by the worker.

        Args:
            repo: the id of its repository.
            text: what is wanted.
            spec: a specification, as text; empty: none.
            source: the name of the file that it is from.
            owner: the id of the account.
            by: who asked, as an actor.
            token: 12 hex digits of a request that may come again: `begun` finds the goal by it; empty: none.

        Raises:
            NotFound: there is no such repository.
            UsageError: nothing is wanted.
            LedgerWriteFailed: the disk refused.
        """
        repository = self.repositories.get(repo)
        if not text.strip():
            raise UsageError("There is no goal to plan.", hint="Say what is wanted, in your words.")
        id, asked = new_id("g", token), now()  # noqa: A001 - the field's name
        clone = self.records.folder(id) / clones.WORK
        wanted = Wanted(verb=Verb.PLAN, arguments={"spec": spec, "source": source}, by=by, asked=asked)
        return self.records.put(
            Goal(
                id=id,
                repo=repo,
                kind="clone",
                path=str(clones.project_in(clone, repository)),
                owner=owner,
                text=text,
                fleet=self._fleet_of(repository, clone),
                created=asked,
                wanted=wanted,
            )
        )

    def begun(self, token: str) -> Goal | None:
        """The goal that a request with that token began, where it is not put away; None: it began none."""
        return self.records.find(new_id("g", token))

    def _fleet_of(self, repository: Repository, clone: Path) -> str:
        """The fleet's name of a repository; empty: its goals are worked on here, as those of a folder in one are."""
        if self.fleet is None or clones.project_in(clone, repository) != clone:
            return ""
        return self.fleet.repository(repository.source)

    def required_fleet(self) -> Fleet:
        """The fleet.

        Raises:
            UsageError: there is none any more.
        """
        if self.fleet is None:
            raise UsageError(
                "The goal is of a fleet, and the server has none.", hint="Set [fleet] in the settings of its user."
            )
        return self.fleet

    def list(self, repo: str = "", *, archived: bool = False) -> tuple[Goal, ...]:
        """All goals, of one repository or of all, the newest first; with the checkouts in which somebody works.

        Args:
            repo: its id; empty: of all.
            archived: those that were put away, in the place of the others.
        """
        if archived:
            found = self._archive.all()
        else:
            kept = [each for each in self.records.all() if not each.archived]
            ids = {each.id for each in kept}
            shown = (goal for each in self.repositories.list() if (goal := self._checkout(each)) is not None)
            found = (*kept, *(each for each in shown if each.id not in ids))
        wanted = (each for each in found if not repo or each.repo == repo)
        return tuple(sorted(wanted, key=lambda each: (each.created, each.id), reverse=True))

    def get(self, id: str) -> Goal:  # noqa: A002 - the field's name
        """The goal of that id, archived or not.

        Raises:
            NotFound: there is none.
        """
        if (kept := self.records.find(id)) is not None:
            return kept
        for each in self.repositories.list():
            if (goal := self._checkout(each)) is not None and goal.id == id:
                return goal
        return self._archive.get(id)

    def keep(self, id: str) -> Goal:  # noqa: A002 - the field's name
        """The goal of that id, with a record that can be changed: of a checkout it is made with the first wish.

        Raises:
            NotFound: there is none.
            IllegalMove: it is archived.
        """
        goal = self.get(id)
        if goal.archived:
            raise IllegalMove("The goal is archived: nothing more is done with it.")
        return goal if id in self.records.ids() else self.records.put(goal)

    def ready(self, goal: Goal) -> bool:
        """Whether its project is there: the clone of a new goal is not, until a worker made it."""
        return os.path.isfile(_ledger_in(goal.path))  # noqa: PTH113 - half of the time, and asked often

    def swarm(self, goal: Goal, actor: str = USER) -> Swarm:
        """The facade of its project, for one who acts. It raises `NotAProject` where it is not ready."""
        return Swarm(goal.path, environ=self.environ, actor=actor)

    def prepare(self, goal: Goal) -> Path:
        """Has the clone of a goal be there; returns the project's folder. Others who want it wait meanwhile.

        Raises:
            NotFound: its repository is not registered any more.
            SwarmError: as `clones.make`.
        """
        if goal.kind == "checkout" or self.ready(goal):
            return Path(goal.path)
        repository = self.repositories.get(goal.repo)
        with self.records.turn(goal.id, "clone"):
            address = self.repositories.address(repository)
            trusted = self.repositories.trusts(repository)
            return clones.make(self.records.folder(goal.id), repository, address, trusted=trusted, prefix=f"{goal.id}/")

    def archive(self, id: str, *, by: str) -> Goal:  # noqa: A002 - the field's name
        """Puts a goal away: all of its folder stays as it is, in `home/archive/`.

        Args:
            id: of the goal.
            by: who asks, as an actor.

        Raises:
            NotFound: there is none.
            IllegalMove: somebody works on it, or something is wanted of it; or it is a checkout, or put away already.
        """
        goal = self.get(id)
        if goal.kind == "checkout":
            raise IllegalMove("A checkout is its owner's folder: the server shows it, and does not put it away.")
        if goal.archived or goal.wanted is not None:
            raise IllegalMove(
                "The goal is archived already." if goal.archived else "Something is wanted of the goal.",
                hint="" if goal.archived else "Stop it first.",
            )
        if live_owner(self.records.lock(id)) or live_owner(SwarmFolder(Path(goal.path)).lock):
            raise IllegalMove("Somebody works on the goal.", hint="Stop it first.")
        put_away = {"archived": now(), "archived_by": by, "path": self._archived_path(goal)}
        self.records.change(id, lambda each: each.model_copy(update=put_away))
        self.settle()
        return self._archive.get(id)

    def settle(self) -> None:
        """Moves what was put away into the archive; a crash may have left some of it."""
        for goal in self.records.all():
            if goal.archived:
                there = self._archive.folder(goal.id)
                with writing(there):
                    there.parent.mkdir(parents=True, exist_ok=True)
                    self.records.folder(goal.id).rename(there)

    def _archived_path(self, goal: Goal) -> str:
        return str(self._archive.folder(goal.id) / Path(goal.path).relative_to(self.records.folder(goal.id)))

    def remove(self, id: str) -> None:  # noqa: A002 - the field's name
        """Deletes an archived goal for good, where its repository has all of its work.

        Raises:
            NotFound: there is none.
            IllegalMove: it is not archived, or has commits that its repository lacks.
            WorkspaceError: its repository is out of reach, so that nobody knows.
        """
        goal = self.get(id)
        if not goal.archived:
            raise IllegalMove("The goal is not archived.", hint="Only what was put away is deleted.")
        folder = self._archive.folder(id)
        if (folder / clones.WORK).exists():
            address = self.repositories.address(self.repositories.get(goal.repo))
            if left := cloning.unmerged(folder / clones.WORK, settings=address.settings):
                raise IllegalMove(
                    f"Its repository lacks the commits of {', '.join(left)}: they would be lost.",
                    hint="Push them there first (a pull request does), or keep the goal in the archive.",
                )
        with writing(folder):
            shutil.rmtree(folder)

    def _checkout(self, repository: Repository) -> Goal | None:
        """The goal that the registered folder itself is, where somebody works in it."""
        if repository.kind != "path" or not os.path.isfile(_ledger_in(repository.source)):  # noqa: PTH113 - asked often
            return None
        return _shown(repository.id, repository.source, repository.added)


@lru_cache(maxsize=1000)
def _ledger_in(root: str) -> str:
    """Where the ledger of a project lies."""
    return str(SwarmFolder(Path(root)).ledger)


@lru_cache(maxsize=1000)
def _shown(repo: str, source: str, added: str) -> Goal:
    """The goal that a registered folder is."""
    digest = hashlib.sha256(source.encode(errors="surrogateescape")).hexdigest()[:12]
    return Goal(id=f"c-{digest}", repo=repo, kind="checkout", path=source, created=added)


def require_known(goals: Goals, goal: str, repo: str) -> tuple[str, str]:
    """The ids of a goal and its repository, of which one at least is given.

    Raises:
        NotFound: there is no such goal or repository, or they do not belong together.
        UsageError: neither is given.
    """
    if not goal:
        if not repo:
            raise UsageError("Say in which repository, or in the project of which goal.")
        return "", goals.repositories.get(repo).id
    found = goals.get(goal)
    if repo and found.repo != repo:
        raise NotFound("There is no such goal.")
    return found.id, found.repo
