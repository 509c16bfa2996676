"""Builds the line anew from the goals themselves: whatever the database had, the remotes know it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from swarmgate.fleet.goals.summaries import summaries
from swarmgate.fleet.queue import database
from swarmgate.fleet.queue.jobs import Jobs, Place, due_at

if TYPE_CHECKING:
    from swarmgate.fleet.goals.checkout import Site
    from swarmgate.fleet.goals.goal import Goal, Summary


def rebuild(url: str, sites: Iterable[Site], *, retry_s: float, heartbeat_s: float = 0.0) -> tuple[int, int]:
    """Puts every goal in line that a worker can go on with; returns how many those were, and of how many.

    In a database that is new, nobody has said yet what they work on: goals that some worker had wait for two signs of
    life, so that who is at work is not disturbed.

    Args:
        url: of the database.
        sites: the repositories.
        retry_s: until a goal is tried again whose model failed.
        heartbeat_s: seconds between two signs of life of a worker.

    Raises:
        RemoteAway: a remote is out of reach.
        QueueAway: the database is.
    """
    found = {goal: summary for site in sites for goal, summary in summaries(site).items()}
    goals = {goal: summary for goal, summary in found.items() if summary.standing.open}
    with database.line(url) as app, database.connected(url) as connection:
        now = database.clock(connection)
        soon = None if database.filled(connection) else now + timedelta(seconds=2 * heartbeat_s)
        places = [
            _not_before(place(goal, summary, now=now, retry_s=retry_s), soon if summary.epoch else None)
            for goal, summary in goals.items()
        ]
        put = Jobs(app).enqueue_many(places)
        database.rebuilt(connection)
    return put, len(found)


def _not_before(found: Place, time: datetime | None) -> Place:
    return found if time is None or (found.at and found.at > time) else found._replace(at=time)


def place(goal: Goal, summary: Summary, *, now: datetime, retry_s: float) -> Place:
    """The place of a goal in line, at a time by the database's clock."""
    return Place(goal, summary.queue, summary.priority, due_at(summary, now=now, retry_s=retry_s))
