"""A worker: takes one goal after the other from the line, until it is told to end.

One goal at a time in one process: what a run keeps from agents (keys, its own Python's path) it keeps from a process.
More at once on one machine are more workers. The database may go away and come back; git is the truth.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import platform
import secrets
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from swarmgate.config import is_program
from swarmgate.errors import FleetError, NewerGoal, QueueAway, RemoteAway, SwarmError
from swarmgate.fleet.goals.checkout import gone, sweep
from swarmgate.fleet.goals.goal import Goal, Standing
from swarmgate.fleet.queue import database, outcomes, workers
from swarmgate.fleet.queue.jobs import TASK, Place, bury, deferred, waiting
from swarmgate.fleet.queue.outcomes import Noted
from swarmgate.fleet.queue.rebuild import rebuild
from swarmgate.fleet.work.advance import Outcome, Work
from swarmgate.version import __version__

if TYPE_CHECKING:
    import procrastinate
    from procrastinate import JobContext

    from swarmgate.config import Config, Fleet
    from swarmgate.fleet.goals.checkout import Site

AGAIN_S = 5.0
"""Seconds until a goal is tried again that another worker may take, or for which there is no token now."""
_RECONNECT_S = 1.0
_OWN = ("PG", "SSH_", "SWARM_SERVER__", "SWARM_FLEET__")
_ABANDONED = 0.85
"""The part of `drain_s` after which the running step is abandoned: the rest is for saying so."""


class HeldBack(FleetError):
    """As many goals as may be are worked on, or another worker has this one.

    Args:
        again_s: after how many seconds it is tried again: the more goals wait, the later, so that looks stay few.
    """

    code = "HELD_BACK"

    def __init__(self, message: str, *, again_s: float) -> None:
        super().__init__(message)
        self.again_s = again_s


@dataclass
class Worker:
    """One worker.

    Attributes:
        settings: `[fleet]` of this machine.
        sites: the repositories that it knows, by name.
        queues: the classes of workers that it is of.
        environ: where keys stand.
        tell: hears in a line what it does: a word, the goal, more.
        once: whether it ends when nothing waits.
        name: of it, in leases and in lists.
        version: of swarmgate, as leases name it.
    """

    settings: Fleet
    sites: Mapping[str, Site]
    queues: list[str]
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)
    tell: Callable[[str, str, str], None] = lambda _word, _goal, _more: None
    once: bool = False
    name: str = field(default_factory=lambda: f"{platform.node()}-{os.getpid()}-{secrets.token_hex(2)}")
    version: str = __version__
    _ending: bool = False
    _work: Work | None = None
    _job: int = 0
    _queue: procrastinate.worker.Worker | None = None
    _app: procrastinate.App | None = None

    async def run(self) -> None:
        """Works until it is told to end, or nothing waits (`once`).

        Raises:
            MissingRequirement: the machine lacks what its queues promise, or the extra is not installed.
            QueueAway: the database cannot be reached at the start.
            RemoteAway: nothing is in line, and a remote is out of reach.
        """
        home = next(iter(self.sites.values())).home
        home.mkdir(parents=True, exist_ok=True)
        labels = workers.require_labels(self.settings.queues, self.queues, home)
        await asyncio.to_thread(self._prepare)
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(self._hear)
        for name in ("procrastinate", "psycopg.pool"):
            logging.getLogger(name).setLevel(logging.CRITICAL)  # what they would say of it, this says in a line
        for number in (signal.SIGTERM, signal.SIGINT):
            with contextlib.suppress(ValueError, RuntimeError):  # a thread of somebody's test has none
                loop.add_signal_handler(number, self.end)
        beating = asyncio.create_task(self._beat(labels))
        try:
            while not self._ending:
                if await self._served() and self.once:
                    break
        finally:
            beating.cancel()
            await asyncio.to_thread(self._leave)

    def end(self) -> None:
        """Ends at the next safe point, or without one when `drain_s` is nearly over. In the loop's own thread."""
        if self._ending:
            return
        self._ending = True
        self.tell("draining", "", "")
        if self._work is not None:
            self._work.end()
        if self._queue is not None:
            self._queue.stop()  # type: ignore[no-untyped-call]  # procrastinate types no results
        loop = asyncio.get_running_loop()
        loop.call_later(self.settings.drain_s * _ABANDONED, lambda: loop.create_task(self._abandon()))
        loop.call_later(self.settings.drain_s, os._exit, 0)  # whatever hangs: others go on with the goal

    def _hear(self, _loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """What went wrong beside the work: a job whose database is gone cannot be ended there."""
        self.tell("database", "", " ".join(str(context.get("exception") or context["message"]).split())[:200])

    def _prepare(self) -> None:
        """Puts all goals in line where the database is new, and takes away what nobody needs any more."""
        home = next(iter(self.sites.values())).home
        if swept := sweep(home):
            self.tell("swept", "", f"{swept} checkouts of workers that are gone")
        self._fill()
        with database.connected(self.settings.database) as connection:
            outcomes.forget(connection)

    def _fill(self) -> None:
        """Puts all goals in line where the database is new: it was dropped, perhaps this very moment."""
        if database.prepared(self.settings.database):
            settings = self.settings
            put, known = rebuild(
                settings.database, self.sites.values(), retry_s=settings.retry_s, heartbeat_s=settings.heartbeat_s
            )
            self.tell("rebuilt", "", f"{put} of {known} goals are in line")

    async def _served(self) -> bool:
        """Takes goals from the line until it is told to end; False where the database went away meanwhile."""
        from procrastinate.exceptions import ProcrastinateException  # noqa: PLC0415 - late: of the extra
        from procrastinate.worker import Worker as QueueWorker  # noqa: PLC0415

        settings = self.settings
        try:
            async with database.opened(settings.database) as app:
                app.task(name=TASK, pass_context=True)(self._advance)
                self._app = app
                self._queue = QueueWorker(
                    app,
                    queues=self.queues,
                    name=self.name,
                    wait=not self.once,
                    fetch_job_polling_interval=settings.poll_s,
                    listen_notify=False,
                    delete_jobs="always",
                    install_signal_handlers=False,
                    update_heartbeat_interval=settings.heartbeat_s,
                    stalled_worker_timeout=settings.dead_s,
                )
                if not self._ending:
                    await self._queue.run()  # type: ignore[no-untyped-call]  # as above
        except (QueueAway, ProcrastinateException) as error:
            self.tell("database", "", " ".join(str(error).split())[:200])
        else:
            return True
        finally:
            self._queue = self._app = None
        await asyncio.sleep(_RECONNECT_S)
        with contextlib.suppress(QueueAway, RemoteAway):
            await asyncio.to_thread(self._prepare)
        return False

    async def _beat(self, labels: list[str]) -> None:
        """Says that it is alive, gives the goals of dead workers back, and hears whether it has to end."""
        while True:
            with contextlib.suppress(SwarmError, OSError):  # no trouble, not even a full disk, ends the signs of life
                if await asyncio.to_thread(self._beaten, labels) and not self._ending:
                    self.end()
                await asyncio.to_thread(self._fill)
            if self._app is not None and not self._ending:
                with contextlib.suppress(Exception):  # the database is away: the queue's own worker says so
                    for goal in await bury(self._app, self.settings.dead_s):
                        self.tell("given back", goal.lock, "its worker is silent")
            await asyncio.sleep(self.settings.heartbeat_s)

    def _beaten(self, labels: list[str]) -> bool:
        with database.connected(self.settings.database) as connection:
            work = self._work
            register = workers.Register(connection, self.name, queues=self.queues, labels=labels)
            told = register.beat(work.goal.lock if work else "")
            if work is not None:
                _tokens(connection, work.goal, self._wanted).renew()
            workers.forget(connection, max(self.settings.dead_s, 10 * self.settings.heartbeat_s))
            return told

    def _leave(self) -> None:
        with contextlib.suppress(QueueAway), database.connected(self.settings.database) as connection:
            workers.Register(connection, self.name, queues=self.queues, labels=[]).leave()

    # --- one goal ---

    async def _advance(self, context: JobContext, repo: str, goal: str) -> None:
        """The job: brings one goal forward, and says when it is to be taken up again."""
        named, began = Goal.known(repo, goal), time.monotonic()
        if named is None:
            self.tell("refused", "", "a job whose goal has no name of a goal")
            return
        place = Place(named, context.job.queue, context.job.priority)
        self._job = context.job.id or 0
        noted, again_s = await self._worked(named)
        seconds = time.monotonic() - began
        self.tell(noted.standing, named.lock, noted.why)
        await asyncio.to_thread(self._note, named, noted.model_copy(update={"seconds": seconds}))
        if again_s is not None:
            await _put(context.app, place, after_s=again_s)

    async def _worked(self, goal: Goal) -> tuple[Noted, float | None]:
        """What came of the work at a goal, and after how many seconds it is taken up again; None: not by itself."""
        site, settings = self.sites.get(goal.repo), self.settings
        if site is None:
            why = f"this worker knows no repository {goal.repo}: set [fleet.repositories.{goal.repo}]"
            return Noted(standing="elsewhere", why=why), AGAIN_S
        work = Work(
            site,
            goal,
            self.name,
            version=self.version,
            steps=settings.steps,
            patience_s=settings.patience_s,
            environ=told(self.environ),
            clones=settings.clones,
            admitted=lambda config: self._admit(goal, config),
        )
        self._work = work
        self.tell("takes", goal.lock, "")
        if self._ending:
            work.end()
        try:
            return _after(await asyncio.to_thread(work.run), settings.retry_s)
        except HeldBack as error:
            return Noted(standing="held back", why=error.message, code=error.code), error.again_s
        except NewerGoal as error:
            return Noted(standing="elsewhere", why=error.message, code=error.code), AGAIN_S
        except RemoteAway as error:
            if await asyncio.to_thread(gone, site, goal):
                return Noted(standing="gone", why=error.message, code=error.code), None
            return Noted(standing="away", why=error.message, code=error.code), AGAIN_S
        except SwarmError as error:
            return Noted(standing="not here", why=error.message, code=error.code), settings.retry_s
        except Exception as error:  # noqa: BLE001 - a bug at one goal must not keep a worker from the others
            return Noted(standing="bug", why=repr(error)[:500], code="BUG"), settings.retry_s
        finally:
            self._work = None
            await asyncio.to_thread(self._give_back, goal)

    _wanted: Mapping[str, int] = field(default_factory=dict)

    def _admit(self, goal: Goal, config: Config) -> None:
        """Looks whether somebody else has the goal, and takes the tokens that it needs.

        A job says so too, but not in a database that was made anew while workers went on.

        Raises:
            HeldBack: somebody has, or as many goals as may be are worked on.
            QueueAway: nobody can tell whether there are tokens.
        """
        with contextlib.suppress(QueueAway), database.connected(self.settings.database) as connection:
            if other := workers.holder(connection, goal.lock, self.name, self.settings.dead_s / 2):
                raise HeldBack(f"{other} works on it.", again_s=AGAIN_S)
        self._wanted = wanted = _tokens_of(goal, config, self.settings)
        if wanted:
            with database.connected(self.settings.database) as connection:
                if lacking := _tokens(connection, goal, wanted).take():
                    raise HeldBack(
                        f"No token of {lacking} is left: {wanted[lacking]} goals may have one at once.",
                        again_s=max(AGAIN_S, waiting(connection) / wanted[lacking]),
                    )

    def _give_back(self, goal: Goal) -> None:
        wanted, self._wanted = self._wanted, {}
        with contextlib.suppress(QueueAway), database.connected(self.settings.database) as connection:
            workers.free(connection, self.name)
            if wanted:
                _tokens(connection, goal, wanted).give_back()

    def _note(self, goal: Goal, noted: Noted) -> None:
        with contextlib.suppress(QueueAway), database.connected(self.settings.database) as connection:
            outcomes.note(connection, goal, self.name, noted)

    async def _abandon(self) -> None:
        """Gives the goal back in the middle of a step, and ends at once."""
        work, app = self._work, self._app
        if work is None:
            return
        work.abandon()
        self.tell("abandoned", work.goal.lock, "the step is done again elsewhere")
        if app is not None:
            with contextlib.suppress(Exception):  # the heartbeat's silence says the same, later
                from procrastinate.jobs import Status  # noqa: PLC0415 - late: of the extra

                jobs = await app.job_manager.list_jobs_async(id=self._job)
                await app.job_manager.finish_job_by_id_async(self._job, Status.ABORTED, delete_job=True)
                for job in jobs:
                    await _put(app, Place(work.goal, job.queue, job.priority))
        await asyncio.to_thread(self._give_back, work.goal)
        await asyncio.to_thread(self._leave)
        os._exit(0)


def told(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables that goals are told, whose settings may send any of them to any provider as its key: all but ours.

    Args:
        environ: of the worker; what libpq and ssh read of it is the worker's own.
    """
    return {key: value for key, value in environ.items() if not key.upper().startswith(_OWN)}


async def _put(app: procrastinate.App, place: Place, *, after_s: float = 0.0) -> None:
    """Puts a goal in line, to be taken up after so many seconds, whatever this machine's clock says."""
    from procrastinate.exceptions import AlreadyEnqueued  # noqa: PLC0415 - late: of the extra

    if after_s > 0:
        now = (await app.connector.execute_query_one_async("SELECT now() AS time"))["time"]
        place = place._replace(at=now + timedelta(seconds=after_s))
    with contextlib.suppress(AlreadyEnqueued):
        await deferred(app, place).defer_async(repo=place.goal.repo, goal=place.goal.id)


def _after(outcome: Outcome, retry_s: float) -> tuple[Noted, float | None]:
    """What is noted of an outcome, and after how many seconds the goal is taken up again."""
    noted = Noted(
        standing=outcome.standing,
        why=outcome.why,
        code=outcome.code,
        lost=outcome.lost,
        steps=outcome.steps,
        pushes=outcome.pushes,
    )
    match outcome.standing:
        case _ if outcome.lost:
            return noted, 0
        case Standing.DUE:
            return noted, 0
        case Standing.ENDPOINT:
            return noted, retry_s
        case Standing.LIMIT if outcome.until:
            return noted, max(0.1, (datetime.fromisoformat(outcome.until) - datetime.now(UTC)).total_seconds())
        case Standing.LIMIT:
            return noted, retry_s
        case _:
            return noted, None


def _tokens(connection: Any, goal: Goal, wanted: Mapping[str, int]) -> Any:
    from swarmgate.fleet.queue.tokens import Tokens  # noqa: PLC0415 - late: of the extra

    return Tokens(connection, goal.lock, wanted, _TOKEN_S)


_TOKEN_S = 120.0
"""Seconds after which a token runs out that no heartbeat renews."""


def _tokens_of(goal: Goal, config: Config, settings: Fleet) -> dict[str, int]:
    """The tokens that a goal needs, by name, with how many goals may have one at once."""
    providers = {each.partition("/")[0] for each in config.named_models if not is_program(each)}
    wanted = {
        f"provider {each}": settings.concurrency[each] for each in sorted(providers & settings.concurrency.keys())
    }
    repository = settings.repositories.get(goal.repo)
    if repository is not None and repository.concurrency is not None:
        wanted[f"repository {goal.repo}"] = repository.concurrency
    return wanted
