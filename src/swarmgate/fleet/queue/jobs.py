"""The job of the fleet, `advance(repo, goal)`: put in line, hurried, given back, listed.

Two jobs of one goal never run at once (`lock`), and never wait at once (`queueing_lock`): to wake a goal twice is to
wake it once. Arguments are ids alone; everything else is in the goal.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from swarmgate.domain.base import Frozen
from swarmgate.fleet.goals.goal import Goal, Standing, Summary

if TYPE_CHECKING:
    import psycopg
    from procrastinate import App
    from procrastinate.jobs import Job, JobDeferrer

TASK = "swarm.advance"
_BATCH = 1000
_TRIES = 3


class Place(NamedTuple):
    """A goal's place in line: the class of workers, its priority, and when it may begin (None: at once).

    The time is by the clock of the database, which compares it with its own.
    """

    goal: Goal
    queue: str
    priority: int = 0
    at: datetime | None = None


class Listed(Frozen):
    """A job as people see it: `queued` or `working`, and from when on it may begin (UTC, ISO 8601)."""

    status: str
    queue: str
    at: str = ""


class Jobs:
    """The line of jobs.

    Args:
        app: Procrastinate's, with a connector that blocks.
    """

    def __init__(self, app: App) -> None:
        self._app = app

    def enqueue(self, place: Place) -> bool:
        """Puts a goal in line. One that waits for a later time already begins when this says, if that is earlier.

        Returns:
            Whether it was not in line before.
        """
        from procrastinate.exceptions import AlreadyEnqueued  # noqa: PLC0415 - late: of the extra

        for attempt in range(_TRIES):
            try:
                deferred(self._app, place).defer(repo=place.goal.repo, goal=place.goal.id)
            except AlreadyEnqueued:
                if not self._hurried(place):
                    return False
            else:
                return attempt == 0
        return False

    def _hurried(self, place: Place) -> bool:
        """Takes the waiting job of a goal out of line where it waits for longer than this one would."""
        waiting = self._app.job_manager.list_jobs(queueing_lock=place.goal.lock, status="todo")
        later = [job for job in waiting if job.scheduled_at and (place.at is None or job.scheduled_at > place.at)]
        gone = [self._app.job_manager.cancel_job_by_id(job.id or 0, delete_job=True) for job in later]
        return any(gone)

    def cancel(self, goal: Goal) -> bool:
        """Takes a goal that waits out of line; returns whether it was there."""
        waiting = self._app.job_manager.list_jobs(queueing_lock=goal.lock, status="todo")
        return any(self._app.job_manager.cancel_job_by_id(job.id or 0, delete_job=True) for job in waiting)

    def enqueue_many(self, places: Sequence[Place]) -> int:
        """Puts those goals in line that are not; returns how many."""
        from procrastinate.exceptions import AlreadyEnqueued  # noqa: PLC0415 - late: of the extra

        there = {job.queueing_lock for job in self._app.job_manager.list_jobs(task=TASK, status="todo")}
        missing = [each for each in places if each.goal.lock not in there]
        for start in range(0, len(missing), _BATCH):
            batch = missing[start : start + _BATCH]
            try:
                self._app.job_manager.batch_defer_jobs([_job(self._app, each) for each in batch])
            except AlreadyEnqueued:  # somebody else does the same at this moment
                for each in batch:
                    self.enqueue(each)
        if missing:  # else the first look for work takes seconds: PostgreSQL does not know yet how many there are
            self._app.connector.get_sync_connector().execute_query("ANALYZE procrastinate_jobs")
        return len(missing)

    def listed(self) -> dict[str, Listed]:
        """The jobs that wait or run, by their goals; of a goal that has both, the one that runs."""
        manager = self._app.job_manager
        jobs = (*manager.list_jobs(task=TASK, status="todo"), *manager.list_jobs(task=TASK, status="doing"))
        return {job.lock or "": _listed(job) for job in jobs}


def deferred(app: App, place: Place) -> JobDeferrer:
    """What defers the job of a goal."""
    return app.configure_task(
        TASK,
        lock=place.goal.lock,
        queueing_lock=place.goal.lock,
        queue=place.queue,
        priority=place.priority,
        schedule_at=place.at,
    )


async def bury(app: App, dead_s: float) -> list[Goal]:
    """Gives the goals of workers back that have been silent for so long.

    Their jobs are over, and new ones take their place: a worker that comes back cannot end what is another's by then.
    """
    from procrastinate.exceptions import AlreadyEnqueued, ConnectorException  # noqa: PLC0415 - late: of the extra
    from procrastinate.jobs import Status  # noqa: PLC0415

    buried = []
    for job in await app.job_manager.get_stalled_jobs(task_name=TASK, seconds_since_heartbeat=dead_s):
        goal = Goal.known(str(job.task_kwargs.get("repo")), str(job.task_kwargs.get("goal")))
        try:
            await app.job_manager.finish_job(job=job, status=Status.FAILED, delete_job=True)
        except ConnectorException:  # another worker was faster
            continue
        if goal is None:  # nobody but who writes into the database put it in line
            continue
        buried.append(goal)
        try:
            await deferred(app, Place(goal, job.queue, job.priority)).defer_async(repo=goal.repo, goal=goal.id)
        except AlreadyEnqueued:
            continue
    return buried


def waiting(connection: psycopg.Connection[Any]) -> int:
    """How many goals are in line."""
    row = connection.execute("SELECT count(*) AS many FROM procrastinate_jobs WHERE status = 'todo'").fetchone()
    return int(row["many"]) if row else 0


def due_at(summary: Summary, *, now: datetime, retry_s: float) -> datetime | None:
    """From when on a goal may be worked on; None: at once."""
    soon = now + timedelta(seconds=retry_s)
    if summary.standing is Standing.ENDPOINT:
        return soon
    if summary.standing is Standing.LIMIT:
        return datetime.fromisoformat(summary.until) if summary.until else soon
    return None


def _job(app: App, place: Place) -> Job:
    return deferred(app, place).make_new_job(repo=place.goal.repo, goal=place.goal.id)


def _listed(job: Job) -> Listed:
    at = job.scheduled_at.astimezone(UTC).isoformat(timespec="seconds") if job.scheduled_at else ""
    return Listed(status="working" if job.status == "doing" else "queued", queue=job.queue, at=at)
