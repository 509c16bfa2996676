"""The queue of what is wanted, and the workers that do it: so many at once, in the order in which it was asked for.

What is wanted stands in the records of goals and councils, so that a server that was killed goes on with it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from swarmgate.server.runs.goals import Goals
from swarmgate.server.runs.jobs import Jobs
from swarmgate.server.runs.model import Change, Council, Goal, Verb, Working


class Runs:
    """The queue and the workers of one server.

    Args:
        goals: what is worked on.
        jobs: the councils that are held.
        concurrency: so many workers at once.
        on_change: told of everything that becomes of a goal or council, in the loop's thread; it does not block.
    """

    def __init__(
        self, goals: Goals, jobs: Jobs, *, concurrency: int = 2, on_change: Callable[[Change], None] = lambda _: None
    ) -> None:
        self._goals, self._jobs, self._concurrency, self._on_change = goals, jobs, concurrency, on_change

    async def start(self) -> None:
        """Begins to work on what is wanted, also on what a server before this one left."""
        raise NotImplementedError

    async def close(self, *, grace_s: float = 20.0) -> None:
        """Asks the workers to end at the next safe point, and ends them after that time; what is wanted stays so."""
        raise NotImplementedError

    async def want(self, goal: str, verb: Verb, *, by: str, **arguments: Any) -> Goal:
        """Puts work on a goal into the queue.

        Args:
            goal: its id.
            verb: `run` (`until`, `stash`), `plan` (`answers`), or `revise` (`text`).
            by: who asks, as an actor.
            arguments: of the verb.

        Raises:
            NotFound: there is no such goal.
            IllegalMove: something is wanted of it already.
        """
        raise NotImplementedError

    async def hold(self, council: str, *, by: str, **arguments: Any) -> Council:
        """Puts a council into the queue: a new one, or one that was stopped.

        Args:
            council: its id.
            by: who asks, as an actor.
            arguments: of the facade's `resume`: `tokens`, `usd`; of a decision that waits for a person, `vote` (the
                fields of a `PersonalVote`) and `person` (its id): `Council.answer_decision` takes them.

        Raises:
            NotFound: there is no such council.
            IllegalMove: it is at work already, or over.
        """
        raise NotImplementedError

    async def stop(self, subject: str, *, by: str) -> str:
        """Has nothing wanted of a goal or council any more; one at work ends at the next safe point.

        Returns:
            Who was at work, in words; empty: nobody.

        Raises:
            NotFound: there is no such goal or council.
        """
        raise NotImplementedError

    async def pause(self, subject: str, *, by: str) -> None:
        """As `stop`, and what is wanted stays so until `resume`.

        Raises:
            NotFound: there is no such goal or council.
            IllegalMove: nothing is wanted of it.
        """
        raise NotImplementedError

    async def resume(self, subject: str, *, by: str) -> None:
        """Has what was paused, or waits for the end of a limit, go on.

        Raises:
            NotFound: there is no such goal or council.
            IllegalMove: nothing is wanted of it.
        """
        raise NotImplementedError

    def working(self) -> tuple[Working, ...]:
        """The workers at work, also those that a server before this one began."""
        raise NotImplementedError

    def queued(self) -> tuple[str, ...]:
        """The ids of what waits for a worker, in order."""
        raise NotImplementedError
