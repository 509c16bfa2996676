"""Finds councils for who may see them, those of the server and those that terminals began, and says how they stand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from swarmgate.council.facade import Council as Facade
from swarmgate.domain.metrics import Execution
from swarmgate.domain.text.cleaning import cleaned
from swarmgate.engine.swarm import Swarm
from swarmgate.errors import SwarmError, UsageError, WaitingForUser
from swarmgate.server.accounts.model import Principal, Role
from swarmgate.server.runs.model import Council, Goal
from swarmgate.server.runs.runs import Runs
from swarmgate.server.services.councils.record import OnRecord, data_of, on_record, rounds_of
from swarmgate.server.services.reading.access import Access, unknown
from swarmgate.server.services.views.record import CouncilSummary, CouncilView

APART = "~"
"""Stands between goal and record in the id of a council that a terminal began, as in `g-0123456789ab~20261121-2245`."""

_TITLES = ("question", "topic", "task", "title", "initial")
"""Arguments of which one says what a council is about."""
_TITLE = 200


class Held(NamedTuple):
    """A council as it stands.

    Attributes:
        id: as it is asked for.
        repo: the id of its repository.
        goal: in whose project it is held; empty: in the scratch project of the repository.
        facade: of that project.
        job: what the server is to do with it; None: a terminal began it.
        record: what is on record of it; None: nothing yet.
        problem: why its record cannot be read; empty: it can.
    """

    id: str
    repo: str
    goal: str
    facade: Facade
    job: Council | None
    record: OnRecord | None
    problem: str = ""

    @property
    def pattern(self) -> str:
        """Its name in the table of patterns."""
        return self.job.pattern if self.job else self.record.rules.name if self.record else ""

    @property
    def waits_for(self) -> tuple[str, ...]:
        """The people whose votes a decision waits for."""
        if self.record is None or self.record.standing.status != "paused":
            return ()
        return tuple(getattr(self.record.standing.own, "people_missing", ()))

    @property
    def waits(self) -> bool:
        """Whether nothing follows before a person says something."""
        ended = self.job.ended if self.job and self.job.wanted is None else None
        return bool(self.waits_for) or (ended is not None and ended.exit_code == WaitingForUser.exit_code)

    def clean(self, value: Any) -> Any:
        """A view without the secrets of the project."""
        return cleaned(value, self.facade.shared.project.cleaner())


class CouncilReading:
    """What services read of councils, in a thread.

    Args:
        access: who may see what.
        runs: who is at work.
        environ: where the keys of providers and `SWARM_*` settings are looked up.
        owner: the name of an account by its id.
    """

    def __init__(self, access: Access, runs: Runs, environ: Mapping[str, str], owner: Callable[[str], str]) -> None:
        self._access, self._runs, self._environ, self._owner = access, runs, environ, owner

    def home(self, who: Principal, repo: str, goal: str, least: Role) -> str:
        """The id of the repository in which a council is held: the one that is named, or the only one there is.

        Raises:
            NotFound: there is no such repository or goal, or none that may be seen.
            NotAllowed: the role is too low.
            UsageError: none is named, and there is not just one.
        """
        if goal:
            return self._access.goal(who, goal, least).repo
        if repo:
            return self._access.repository(who, repo, least).id
        mine = [each.id for each in self._access.repositories.list() if who.may(least, each.id)]
        if len(mine) != 1:
            there = f"there are {len(mine)}: {', '.join(mine)}" if mine else f"there is none with the role {least}"
            raise UsageError(f"Nothing says which repository it is for, and {there}.", hint="name it as `repo`")
        return mine[0]

    def held(self, who: Principal, id: str) -> Held:  # noqa: A002 - the field's name
        """A council.

        Raises:
            NotFound: there is none, or none that may be seen.
        """
        goal_id, apart, name = id.partition(APART)
        if not apart:
            return self._of_job(self._access.council(who, id))
        goal = self._access.goal(who, goal_id)
        found = next(self._begun_elsewhere(goal, (name,)), None)
        if found is None:
            raise unknown("council")
        return found

    def all(self, who: Principal, repo: str, goal: str, pattern: str) -> list[Held]:
        """Those that may be seen; empty strings: of any."""
        goals = (self._access.goal(who, goal),) if goal else self._access.goals(who, repo)
        jobs = [each for each in self._access.jobs.list(repo, goal) if who.may(Role.VIEWER, each.repo)]
        found = [self._of_job(each) for each in jobs]
        known = {each.id for each in jobs}
        for each in goals:
            found += [one for one in self._begun_elsewhere(each) if one.record and one.record.record.id not in known]
        return [each for each in found if pattern in {"", each.pattern}]

    def project(self, path: Path) -> Facade:
        """The councils of a project."""
        return Swarm(path, environ=self._environ).council

    def settled(self, repo: str) -> Facade:
        """The councils of a project with the settings of a repository: its scratch project, a goal's, or itself."""
        known: tuple[Council | Goal, ...] = (*self._access.jobs.list(repo), *self._access.goals_there.list(repo))
        there = [Path(each.path) for each in known if (Path(each.path) / ".swarm").is_dir()]
        return self.project(there[0] if there else Path(self._access.repositories.get(repo).source))

    def projects(self, who: Principal, repo: str) -> tuple[Path, ...]:
        """The folders of all projects with councils that may be seen, each once."""
        jobs = (each for each in self._access.jobs.list(repo) if who.may(Role.VIEWER, each.repo))
        seen: tuple[Council | Goal, ...] = (*jobs, *self._access.goals(who, repo))
        paths = dict.fromkeys(Path(each.path) for each in seen)
        return tuple(each for each in paths if (each / ".swarm").is_dir())

    def executions(self, projects: Iterable[Path]) -> tuple[Execution, ...]:
        """Every council on record in these projects."""
        found: list[Execution] = []
        for each in projects:
            with suppress(SwarmError):  # settings that cannot be read: the project itself says so
                found += self.project(each).executions()
        return tuple(found)

    def summary(self, held: Held) -> CouncilSummary:
        """It in a list."""
        return held.clean(CouncilSummary(**self._common(held)))  # type: ignore[no-any-return]  # what it was given

    def view(self, held: Held) -> CouncilView:
        """All of it."""
        job, record = held.job, held.record
        ended = job.ended.message if job and job.ended and job.wanted is None else ""
        if record is None:
            found = CouncilView(**self._common(held), why=ended, problem=held.problem)
        else:
            standing, own = record.standing, record.rules
            found = CouncilView(
                **self._common(held),
                who=own.who(standing.own),
                rounds=rounds_of(record),
                most=own.most(standing.own),
                usage=standing.usage,
                seconds=standing.seconds,
                why=standing.why or ended,
                summary=own.summary(standing),
                waits=held.waits,
                waits_for=held.waits_for,
                data=data_of(record),
            )
        return held.clean(found)  # type: ignore[no-any-return]  # what it was given

    def status(self, held: Held) -> str:
        """How it stands, as `CouncilSummary` has it."""
        if held.problem:
            return "damaged"
        if held.job and (wanted := held.job.wanted):
            if any(each.subject == held.id for each in self._runs.working()):
                return "working"
            return "paused" if wanted.paused else "queued"
        if held.record:
            return str(held.record.standing.status)
        return "failed"  # nobody is at it, and nothing came of it

    # --- inside ---

    def _of_job(self, job: Council) -> Held:
        facade = self.project(Path(job.path))
        record, problem = None, ""
        if (Path(job.path) / ".swarm").is_dir():
            try:
                record = on_record(facade, job.id)
            except SwarmError as error:
                problem = error.message
        return Held(job.id, job.repo, job.goal, facade, job, record, problem)

    def _begun_elsewhere(self, goal: Goal, names: Iterable[str] | None = None) -> Iterator[Held]:
        """The councils on record in a goal's project; of those that cannot be read the pages of the terminal tell."""
        if not (Path(goal.path) / ".swarm").is_dir():
            return
        facade = self.project(Path(goal.path))
        with suppress(SwarmError):
            for name in facade.shared.records.ids(parts=False) if names is None else names:
                with suppress(SwarmError):
                    if record := on_record(facade, name):
                        yield Held(f"{goal.id}{APART}{name}", goal.repo, goal.id, facade, None, record)

    def _common(self, held: Held) -> dict[str, Any]:
        job, record = held.job, held.record
        if record:
            title, began = record.rules.title(record.standing.own), record.standing.created_at
        else:
            asked = job.request if job else {}
            title, began = next((str(asked[key]) for key in _TITLES if asked.get(key)), "")[:_TITLE], ""
        return {
            "id": held.id,
            "pattern": held.pattern,
            "status": self.status(held),
            "title": title,
            "repo": held.repo,
            "goal": held.goal,
            "by": f"user:{self._owner(job.owner)}" if job and job.owner else "",
            "began": job.created if job else began,
        }
