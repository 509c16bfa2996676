"""Builds the line anew from the goals themselves: whatever the database had, the remotes know it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from swarmgate.fleet.goals.summaries import summaries
from swarmgate.fleet.queue import database
from swarmgate.fleet.queue.jobs import Jobs, Place, due_at

if TYPE_CHECKING:
    from swarmgate.fleet.goals.checkout import Site
    from swarmgate.fleet.goals.goal import Goal, Summary


def rebuild(url: str, sites: Iterable[Site], *, retry_s: float) -> tuple[int, int]:
    """Puts every goal in line that a worker can go on with; returns how many those were, and of how many.

    Args:
        url: of the database.
        sites: the repositories.
        retry_s: until a goal is tried again whose model failed.

    Raises:
        RemoteAway: a remote is out of reach.
        QueueAway: the database is.
    """
    found = {goal: summary for site in sites for goal, summary in summaries(site).items()}
    places = [place(goal, summary, retry_s=retry_s) for goal, summary in found.items() if summary.standing.open]
    with database.line(url) as app, database.connected(url) as connection:
        put = Jobs(app).enqueue_many(places)
        database.rebuilt(connection)
    return put, len(found)


def place(goal: Goal, summary: Summary, *, retry_s: float) -> Place:
    """The place of a goal in line."""
    return Place(goal, summary.queue, summary.priority, due_at(summary, retry_s=retry_s))
