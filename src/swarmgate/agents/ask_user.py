"""Lets a role ask the user in the middle of its turn: the turn ends with the question, and goes on with the answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from swarmgate.agents.briefs.brief import cut, fenced, one_line
from swarmgate.agents.conversation.turn import Ending, Refused
from swarmgate.agents.tools.arguments import AskAboutTask
from swarmgate.agents.tools.tool_table import ASK
from swarmgate.domain.actor import is_person
from swarmgate.domain.state.state import Question
from swarmgate.llm.model import Message

T = TypeVar("T")

_OPTION = 200
"""Characters of one option: people choose among lines, not among pages."""

_NOTED = 200
"""Characters of a refused question on record."""

_CRITERIA = (
    "It changes none of the acceptance criteria: they are what your work is judged by. Where it asks for something "
    "else than they do, do what they say, and name the contradiction in your summary. Only the user changes them, with "
    "`swarm revise`."
)


@dataclass(frozen=True)
class Asked:
    """A turn that ended with a question: what is asked, and the conversation that the answer goes into."""

    question: AskAboutTask
    conversation: tuple[Message, ...]
    call: str


@dataclass(frozen=True)
class Asking:
    """What one turn may ask.

    `allowed` says whether it may at all, `left` how many questions of `most` about the task are left. `resumed` is the
    conversation that goes on with an answer; empty: the turn begins. `refused` hears of a question too many.
    """

    allowed: bool = False
    left: int = 0
    most: int = 0
    resumed: tuple[Message, ...] = ()
    refused: Callable[[str], None] = lambda _question: None

    @property
    def endings(self) -> Mapping[str, Callable[[Any], AskAboutTask]]:
        """The end of the turn by a question, where it may ask."""
        return {ASK: self._question} if self.allowed else {}

    def _question(self, call: AskAboutTask) -> AskAboutTask:
        """The question, checked.

        Raises:
            Refused: it is one too many, or cannot be shown.
        """
        if not self.left:
            self.refused(cut(one_line(call.question), _NOTED, "..."))
            raise Refused(
                f"The limit of questions about this task is {self.most}, and it is reached. Go on by your own "
                "judgement: do what you would assume, and say so in your summary."
            )
        if not all(map(one_line, (call.question, call.why, call.assumption, *call.options))):
            raise Refused("The question, why it matters, your assumption and every option have to say something.")
        if any(len(option) > _OPTION for option in call.options):
            raise Refused(f"An option has at most {_OPTION} characters; put what is longer into the question.")
        return call


NEVER = Asking()
"""A turn that may not ask."""


def outcome(ending: Ending[T | AskAboutTask]) -> T | Asked:
    """What a turn came to: its value, or the question that it stands at."""
    if isinstance(ending.value, AskAboutTask):
        return Asked(ending.value, ending.conversation, ending.call)
    return ending.value


def with_answer(conversation: tuple[Message, ...], call: str, question: Question) -> tuple[Message, ...]:
    """The conversation with the user's answer as the result of the call that asked."""
    said = answer_text(question)
    return tuple(
        message.model_copy(update={"content": said}) if message.tool_call_id == call else message
        for message in conversation
    )


def answer_text(question: Question) -> str:
    """What the agent that asked is told."""
    if not question.declined:
        return f"The user answers:\n{fenced(question.answer)}\n{_CRITERIA}"
    nobody = "The user leaves it to you" if is_person(question.by) else "Nobody is there to answer"
    assumed = fenced(question.assumption)
    return f"{nobody}. Go by what you said that you would assume, and say so in your summary:\n{assumed}\n{_CRITERIA}"
