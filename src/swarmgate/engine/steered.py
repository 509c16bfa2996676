"""Whoever answers for the user, watched: a discussion that a user steers answers no request but its own."""

from __future__ import annotations

from collections.abc import Callable

from swarmgate.council.discussion.people import Confirmed, People
from swarmgate.domain.discussion import Cast, Choice, ChoiceKind, Discussion, DiscussionRecord, Mode, Step

_FOLLOWED = (ChoiceKind.FOLLOW, ChoiceKind.PAUSE)


class Steered:
    """`people`, and `steered` is called whenever they change the course: another cast or mode, a word, a choice.

    The record of such a discussion is not what the same request would come to again.
    """

    def __init__(self, people: People, steered: Callable[[], None]) -> None:
        self._people = people
        self._steered = steered

    async def confirm(self, discussion: Discussion, cast: Cast) -> Confirmed | Cast | Mode:
        """As `people` do."""
        said = await self._people.confirm(discussion, cast)
        if not isinstance(said, Confirmed):
            self._steered()
        return said

    async def speak(self, record: DiscussionRecord, after: Step) -> str:
        """As `people` do."""
        said = await self._people.speak(record, after)
        if said:
            self._steered()
        return said

    async def choose(self, record: DiscussionRecord) -> Choice:
        """As `people` do."""
        choice = await self._people.choose(record)
        if choice.by == "user" and (choice.kind not in _FOLLOWED or choice.constraint):
            self._steered()
        return choice
