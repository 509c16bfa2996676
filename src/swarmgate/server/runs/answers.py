"""What a person said over the server to a discussion that has a user: given once, then the discussion waits."""

from __future__ import annotations

from pydantic import Field

from swarmgate.council.discussion.model import Cast, Choice, ChoiceKind, Discussion, DiscussionRecord, Mode, Step
from swarmgate.council.discussion.user_choices import Confirmed
from swarmgate.domain.base import Frozen, Text
from swarmgate.errors import WaitingForUser


class DiscussionAnswer(Frozen):
    """What the user says to a discussion that waits for them.

    Attributes:
        cast: the proposed cast is taken.
        mode: another mode is wanted in its place.
        say: a message, put after the next step.
        choose: what comes after the last round.
        text: the constraint of `inject`, or what to go into.
    """

    cast: bool = False
    mode: Mode | None = None
    say: Text = Field("", max_length=10_000)
    choose: ChoiceKind | None = None
    text: Text = Field("", max_length=10_000)


class Answers:
    """The answers of one user, each given once; what has none waits.

    Args:
        answer: what was said; one that says nothing: nothing yet.
    """

    def __init__(self, answer: DiscussionAnswer) -> None:
        self._answer = answer

    async def confirm(self, discussion: Discussion, cast: Cast) -> Confirmed | Cast | Mode:
        """Takes the cast, or has another one made.

        Raises:
            WaitingForUser: nobody said anything to it.
        """
        del cast
        given, self._answer = self._answer, self._answer.model_copy(update={"cast": False, "mode": None})
        if given.mode is not None and given.mode is not discussion.mode:
            return given.mode
        if given.cast or given.mode is not None:
            return Confirmed()
        raise WaitingForUser(f"The cast of discussion {discussion.id} waits for the user.")

    async def speak(self, record: DiscussionRecord, after: Step) -> str:
        """The message, once."""
        del record, after
        given, self._answer = self._answer.say, self._answer.model_copy(update={"say": ""})
        return given

    async def choose(self, record: DiscussionRecord) -> Choice:
        """What the user chose.

        Raises:
            WaitingForUser: nobody chose yet.
        """
        given, self._answer = self._answer, self._answer.model_copy(update={"choose": None, "text": ""})
        if given.choose is None:
            raise WaitingForUser(f"Discussion {record.discussion.id} waits for the user's choice.")
        return Choice(after=len(record.rounds), kind=given.choose, text=given.text)
