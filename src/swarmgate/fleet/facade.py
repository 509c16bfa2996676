"""The public facade `Fleet`: what a person does with goals that workers on many machines work on.

    fleet = Fleet(Path("my-repo"))
    submitted = fleet.submit("Build JWT auth")
    fleet.approve(submitted.goal)

Git is the truth, so that a decision is on record before any worker hears of it; then its goal is put in line.
"""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swarmgate.config import load
from swarmgate.domain import actor as actors
from swarmgate.domain.base import Frozen
from swarmgate.domain.events.event import RevisionRequested
from swarmgate.domain.next_step import open_questions
from swarmgate.engine.reports.status import StatusReport
from swarmgate.errors import IllegalMove, NotAProject, SwarmError, UsageError
from swarmgate.fleet.goals import submission
from swarmgate.fleet.goals.checkout import Site, checked_out, home_of, require
from swarmgate.fleet.goals.goal import Goal, Standing, Summary
from swarmgate.fleet.goals.submission import decide, git_setting
from swarmgate.fleet.goals.summaries import summaries
from swarmgate.fleet.queue import database, outcomes, workers
from swarmgate.fleet.queue.jobs import Jobs, Listed
from swarmgate.fleet.queue.rebuild import place, rebuild
from swarmgate.fleet.queue.workers import WorkerRow
from swarmgate.fleet.work import errand
from swarmgate.fleet.work.errand import Answer
from swarmgate.ledger.files.folder import SwarmFolder

if TYPE_CHECKING:
    from swarmgate.config import Config
    from swarmgate.engine.swarm import Swarm

_NAMED = "Name one with --repository; they stand in [fleet.repositories]"


class Decided(Frozen):
    """A goal after a decision: how it stands, and whether a worker was told (`queued`; else why not, in `problem`)."""

    goal: str
    standing: Standing
    queued: bool = False
    problem: str = ""
    said: tuple[str, ...] = ()


class AskedNow(Frozen):
    """A question that waits for a person."""

    number: int
    text: str
    options: tuple[str, ...] = ()


class Shown(Frozen):
    """One goal: where its work stands, and what is asked."""

    goal: str
    status: StatusReport
    questions: tuple[AskedNow, ...] = ()


class GoalRow(Frozen):
    """A goal in the list: what its newest commit says, its place in line, and what came of its newest job."""

    goal: str
    title: str
    standing: Standing
    tasks: str
    job: str = ""
    at: str = ""
    queue: str = ""
    priority: int = 0
    worker: str = ""
    epoch: int = 0
    until: str = ""
    why: str = ""


class FleetStatus(Frozen):
    """All goals and workers; `problem` says why the line cannot be seen, where it cannot."""

    goals: tuple[GoalRow, ...]
    workers: tuple[WorkerRow, ...] = ()
    problem: str = ""


class Metrics(Frozen):
    """Numbers of the fleet: goals by how they stand, jobs that wait and run, workers, and sums over the kept jobs."""

    goals: dict[str, int]
    queued: int
    working: int
    workers: int
    silent: int
    totals: dict[str, float]

    def exposition(self) -> str:
        """The numbers as Prometheus reads them."""
        lines = [f'swarm_fleet_goals{{standing="{name}"}} {count}' for name, count in self.goals.items()]
        plain = {"jobs_queued": self.queued, "jobs_working": self.working, "workers": self.workers}
        plain["workers_silent"] = self.silent
        lines += [f"swarm_fleet_{name} {count}" for name, count in plain.items()]
        lines += [f"swarm_fleet_{name}_total {total:g}" for name, total in self.totals.items()]
        return "\n".join(lines) + "\n"


class Fleet:
    """The fleet as one machine sees it.

    Args:
        start: any folder inside a project, whose settings then hold; elsewhere those of the user's file.
        environ: where settings and keys are looked up.
        flags: settings that win over files and environment, nested as in config.toml.
        actor: who decides, as ledgers name them, such as `user:ada`; empty: by the name that commits of theirs have.
        config: the settings, of who has them; None: they are read.
    """

    def __init__(
        self,
        start: Path | None = None,
        *,
        environ: Mapping[str, str] | None = None,
        flags: Mapping[str, Any] | None = None,
        actor: str = "",
        config: Config | None = None,
    ) -> None:
        self._start = (start or Path.cwd()).resolve()
        self._environ = os.environ if environ is None else environ
        self._flags = flags or {}
        self._actor, self._config = actor, config

    @cached_property
    def actor(self) -> str:
        """Who decides, as ledgers name them: several people do on one goal, from machines of their own."""
        name = " ".join(git_setting(self._start, "user.name").split())
        return self._actor or (actors.named(name) if name else actors.USER)

    @cached_property
    def folder(self) -> SwarmFolder | None:
        """The `.swarm/` of the project that this is asked in; None outside of projects."""
        try:
            return SwarmFolder.find(self._start)
        except NotAProject:
            return None

    @cached_property
    def config(self) -> Config:
        """The settings; raises `ConfigError`."""
        if self._config is not None:
            return self._config
        file = self.folder.config if self.folder else None
        return load(project_file=file, environ=self._environ, flags=self._flags)

    @cached_property
    def sites(self) -> dict[str, Site]:
        """The repositories by name.

        Raises:
            UsageError: there are none.
        """
        settings = self.config.fleet
        if not settings.repositories:
            raise UsageError(
                "The fleet has no repositories.",
                hint='Add to the settings: [fleet.repositories.NAME] and remote = "git@host:owner/name.git"',
            )
        home = home_of(settings.home)
        return {name: Site(name, each.remote, home, each.base) for name, each in settings.repositories.items()}

    def site(self, repo: str) -> Site:
        """The repository of a name; of no name the only one.

        Raises:
            UsageError: there is none such, or several.
        """
        if not repo and len(self.sites) == 1:
            return next(iter(self.sites.values()))
        if repo not in self.sites:
            problem = f"There is no repository {repo!r}." if repo else "There are several repositories."
            raise UsageError(f"{problem} There are: {', '.join(sorted(self.sites))}.", hint=_NAMED)
        return self.sites[repo]

    def named(self, text: str) -> Goal:
        """The goal that somebody names.

        Raises:
            UsageError: it is no name of a goal, or of a repository that nobody knows.
        """
        goal = Goal.named(text, next(iter(self.sites)) if len(self.sites) == 1 else "")
        self.site(goal.repo)
        return goal

    # --- what a person decides ---

    def submit(self, text: str, *, spec: str = "", repo: str = "", queue: str = "", priority: int = 0) -> Decided:
        """Makes a goal and puts it in line: its plan comes first, and waits for approval where that is not automatic.

        The settings, gates and prompts of the project that this is asked in go with it; else those of the base branch.

        Raises:
            UsageError: there is nothing said, or no such repository.
            RemoteAway: the remote is out of reach.
        """
        goal, summary = submission.submit(
            self.site(repo),
            text,
            spec=spec,
            settings=self.folder.path if self.folder else None,
            queue=queue or self.config.fleet.queue,
            priority=priority,
            environ=self._environ,
            actor=self.actor,
        )
        return self._told(goal, summary)

    def approve(self, goal: str) -> Decided:
        """Approves what waits for a person: the plan, or a phase's checkpoint.

        Raises:
            IllegalMove: nothing waits for approval.
        """
        return self._decided(goal, lambda swarm: swarm.approve())

    def answer(self, goal: str, number: int, text: str = "", *, option: int = 0, decline: bool = False) -> Decided:
        """Answers a question; the arguments are those of `Swarm.answer`."""
        return self._decided(goal, lambda swarm: swarm.answer(number, text, option=option, decline=decline))

    def revise(self, goal: str, text: str) -> Decided:
        """Has the architect change the plan; a worker does that.

        Raises:
            IllegalMove: there is no plan.
        """

        def requested(swarm: Swarm) -> None:
            with swarm.project.writing() as ledger:
                ledger.append([RevisionRequested(text=text)], expect=ledger.state.seq, actor=self.actor)

        return self._decided(goal, requested)

    def skip(self, goal: str, task: str, *, reason: str) -> Decided:
        """Gives a task up; see `Swarm.skip`."""
        return self._decided(goal, lambda swarm: swarm.skip(task, reason=reason))

    def override(self, goal: str, task: str, *, reason: str) -> Decided:
        """Overrules the last rejection of a task; see `Swarm.override`."""
        return self._decided(goal, lambda swarm: swarm.override(task, reason=reason))

    def abandon(self, goal: str, *, reason: str) -> Decided:
        """Ends a goal before its work is done; see `Swarm.abandon`."""
        return self._decided(goal, lambda swarm: swarm.abandon(reason=reason))

    def retry(self, goal: str, *, task: str = "", note: str = "") -> Decided:
        """Has a blocked task tried again, or (without a task) a goal taken up again that an error or a budget ended.

        Raises:
            IllegalMove: it is a person's turn, or the goal is done.
        """
        if task:
            return self._decided(goal, lambda swarm: swarm.retry(task, note=note))
        named = self.named(goal)
        summary = summaries(self.site(named.repo)).get(named)
        if summary is None:
            require(self.site(named.repo), named)
        if summary is None or summary.standing in (Standing.WAITING, Standing.DONE):
            how = summary.standing if summary else "unknown"
            raise IllegalMove(
                f"Goal {named.id} is {how}: a worker has nothing to do there.", hint=f"See: swarm fleet show {goal}"
            )
        return self._told(named, summary.model_copy(update={"standing": Standing.DUE}))

    def show(self, goal: str) -> Shown:
        """Where the work at a goal stands, as `swarm status` says it, and what is asked.

        Raises:
            RemoteAway: the remote is out of reach, or has no such goal.
        """
        from swarmgate.engine.swarm import Swarm  # noqa: PLC0415 - late, for start-up: the engine

        named = self.named(goal)
        with checked_out(self.site(named.repo), named) as found:
            swarm = Swarm(found.root, environ=self._environ)
            asked = open_questions(swarm.state)
            questions = tuple(AskedNow(number=each.number, text=each.text, options=each.options) for each in asked)
            return Shown(goal=named.lock, status=swarm.status(), questions=questions)

    # --- errands ---

    def ask(
        self,
        argv: Sequence[str],
        *,
        repo: str = "",
        queue: str = "",
        priority: int = 0,
        files: Mapping[str, bytes] | None = None,
        name: str = "",
    ) -> Decided:
        """Has a worker run a command of the council or of the evaluation; see `errand.ALLOWED`.

        Args:
            argv: the command, without `swarm`.
            repo: the repository that it runs in; empty: the only one.
            queue: the class of workers.
            priority: those of a higher one go first.
            files: what goes with it, by their names in `.swarm/errand/` of the checkout that it runs in.
            name: the id that it gets; empty: a new one.

        Raises:
            UsageError: it is none that workers run for others.
            RemoteAway: the remote is out of reach.
            LeaseLost: there is an errand of that id.
        """
        errand.require_allowed(tuple(argv))
        goal, summary = submission.submit(
            self.site(repo),
            f"swarm {shlex.join(argv)}",
            settings=self.folder.path if self.folder else None,
            queue=queue or self.config.fleet.queue,
            priority=priority,
            argv=tuple(argv),
            files=files,
            name=name,
            environ=self._environ,
        )
        return self._told(goal, summary)

    def answer_of(self, goal: str, *, poll_s: float = 1.0) -> Answer:
        """Waits for the answer of an errand.

        Raises:
            UsageError: there is no such goal.
            RemoteAway: the remote is out of reach.
        """
        named = self.named(goal)
        site = self.site(named.repo)
        while True:
            summary = summaries(site).get(named)
            if summary is None or summary.standing is Standing.DONE:
                with checked_out(site, named) as found:
                    if answer := errand.read(found):
                        return answer
            time.sleep(poll_s)

    # --- the line and the workers ---

    def status(self, *, repo: str = "", all_goals: bool = False) -> FleetStatus:
        """All goals that are not done (`all_goals`: those too), what is in line, and the workers.

        Raises:
            RemoteAway: a remote is out of reach.
        """
        sites = [self.site(repo)] if repo else self.sites.values()
        known = {goal: each for site in sites for goal, each in summaries(site).items()}
        jobs, last, found, problem = self._line()
        rows = (
            _row(goal, summary, jobs, last, found)
            for goal, summary in known.items()
            if all_goals or summary.standing is not Standing.DONE
        )
        ordered = sorted(rows, key=lambda row: (_ORDER.index(row.standing), row.goal))
        return FleetStatus(goals=tuple(ordered), workers=found, problem=problem)

    def drain(self, worker: str = "") -> tuple[str, ...]:
        """Tells a worker (empty: all) to end at its next safe point; returns those that are told.

        Raises:
            UsageError: there is no such worker.
        """
        with database.connected(self.config.fleet.database) as connection:
            told = workers.drain(connection, worker)
        if worker and not told:
            raise UsageError(f"There is no worker {worker}.", hint="See them with: swarm fleet status")
        return told

    def rebuild(self) -> tuple[int, int]:
        """Puts every goal in line again that a worker can go on with; returns how many, and of how many goals.

        Raises:
            RemoteAway, QueueAway: a remote, or the database, is out of reach.
        """
        settings = self.config.fleet
        return rebuild(
            settings.database, self.sites.values(), retry_s=settings.retry_s, heartbeat_s=settings.heartbeat_s
        )

    def metrics(self) -> Metrics:
        """The numbers of the fleet.

        Raises:
            RemoteAway, QueueAway: a remote, or the database, is out of reach.
        """
        goals = dict.fromkeys(map(str, _ORDER), 0)
        for site in self.sites.values():
            for summary in summaries(site).values():
                goals[summary.standing] += 1
        settings = self.config.fleet
        with database.line(settings.database) as app, database.connected(settings.database) as connection:
            listed = Jobs(app).listed().values()
            found, totals = workers.listed(connection), outcomes.totals(connection)
        working = sum(job.status == "working" for job in listed)
        silent = sum(each.silent_s > settings.dead_s for each in found)
        return Metrics(
            goals=goals,
            queued=len(listed) - working,
            working=working,
            workers=len(found),
            silent=silent,
            totals=totals,
        )

    # --- inside ---

    def _decided(self, goal: str, decision: Callable[[Swarm], object]) -> Decided:
        named = self.named(goal)
        result, summary = decide(self.site(named.repo), named, decision, environ=self._environ, actor=self.actor)
        said = tuple(map(str, result)) if isinstance(result, tuple) else (str(result),) if result else ()
        return self._told(named, summary).model_copy(update={"said": said})

    def _told(self, goal: Goal, summary: Summary) -> Decided:
        """Puts a goal in line where a worker can go on with it; the decision is on record whether that works or not."""
        decided = Decided(goal=goal.lock, standing=summary.standing)
        if not summary.standing.open:
            return decided
        try:
            self.put_in_line(goal, summary)
        except SwarmError as error:  # away, not configured, or the extra is missing: it is on record all the same
            return decided.model_copy(update={"problem": f"{error.message} Later: swarm fleet rebuild"})
        return decided.model_copy(update={"queued": True})

    def require_line(self) -> None:
        """Requires a database that takes goals, before many are made that would not be in line.

        Raises:
            SwarmError: there is none, or it is away, or the extra `fleet` is not installed.
        """
        with database.connected(self.config.fleet.database):
            pass

    def put_in_line(self, goal: Goal, summary: Summary) -> None:
        """Puts a goal in line where a worker can go on with it.

        Raises:
            SwarmError: there is no database, or it is away, or the extra `fleet` is not installed.
        """
        if summary.standing.open:
            settings = self.config.fleet
            with database.line(settings.database) as app, database.connected(settings.database) as connection:
                now = database.clock(connection)
                Jobs(app).enqueue(place(goal, summary, now=now, retry_s=settings.retry_s))

    def _line(self) -> tuple[dict[str, Listed], dict[str, outcomes.Noted], tuple[WorkerRow, ...], str]:
        url = self.config.fleet.database
        try:
            with database.line(url) as app, database.connected(url) as connection:
                return Jobs(app).listed(), outcomes.newest(connection), workers.listed(connection), ""
        except SwarmError as error:
            return {}, {}, (), error.message


_ORDER = (
    Standing.WAITING,
    Standing.FAILED,
    Standing.BUDGET,
    Standing.ENDPOINT,
    Standing.LIMIT,
    Standing.DUE,
    Standing.DONE,
)
"""What a person looks at first."""


def _row(
    goal: Goal,
    summary: Summary,
    jobs: Mapping[str, Listed],
    last: Mapping[str, outcomes.Noted],
    found: tuple[WorkerRow, ...],
) -> GoalRow:
    job, noted = jobs.get(goal.lock), last.get(goal.lock)
    at_work = next((each.name for each in found if each.goal == goal.lock), "")
    return GoalRow(
        goal=goal.lock,
        title=summary.title,
        standing=summary.standing,
        tasks=summary.tasks,
        job=job.status if job else "",
        at=job.at if job else "",
        queue=summary.queue,
        priority=summary.priority,
        worker=at_work,
        epoch=summary.epoch,
        until=summary.until,
        why=noted.why if noted else "",
    )
