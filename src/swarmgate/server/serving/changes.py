"""Tells the feed what becomes of goals and councils on this server, and has it follow their records."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from swarmgate.errors import NotFound
from swarmgate.server.events.feed import Feed
from swarmgate.server.events.records import Followed
from swarmgate.server.runs.goals import Goals
from swarmgate.server.runs.jobs import Jobs
from swarmgate.server.runs.model import Change, Council, Goal

_WORDS = {
    "goal_created": "goal {subject} was made",
    "goal_archived": "goal {subject} was put away",
    "run_queued": "{subject} waits for a worker",
    "run_started": "{subject} is worked on",
    "run_ended": "the work on {subject} ended",
    "run_paused": "{subject} is paused",
    "run_resumed": "{subject} goes on",
    "run_stopped": "{subject} is stopped",
}


class Changes:
    """What stands between the queue, which knows nothing of the feed, and the feed, which knows nothing of the queue.

    Args:
        feed: that is told.
        goals: that may be followed.
        jobs: the councils that may be.
    """

    def __init__(self, feed: Feed, goals: Goals, jobs: Jobs) -> None:
        self._feed, self._goals, self._jobs = feed, goals, jobs

    def followed(self) -> list[Followed]:
        """The folders of everything that is there, and that the feed is to follow."""
        return [*map(_followed, self._goals.list()), *map(_followed, self._jobs.list())]

    def tell(self, change: Change) -> None:
        """Tells one change; the records of what it is about are followed from now on."""
        with suppress(NotFound):  # it was put away meanwhile
            council = change.type.startswith("council_")
            known = self._jobs.get(change.subject) if council else self._goals.get(change.subject)
            self._feed.follow(_followed(known))
        words = _WORDS.get(change.type.replace("council_", "run_"), change.type.replace("_", " ") + ": {subject}")
        self._feed.publish(
            change.type,
            words.format(subject=change.subject),
            repo=change.repo,
            goal=change.goal,
            actor=change.actor,
            data={"subject": change.subject, **change.data},
        )


def _followed(known: Goal | Council) -> Followed:
    goal = known.id if isinstance(known, Goal) else known.goal
    return Followed(known.repo, goal, Path(known.path) / ".swarm")
