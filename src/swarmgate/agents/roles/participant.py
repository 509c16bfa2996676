"""The participant role of councils: gets one brief, may read files, answers in a form or in prose, writes nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Generic, TypeVar, cast

from swarmgate.agents.briefs.brief import Brief
from swarmgate.agents.context import AgentContext
from swarmgate.agents.conversation.toolbox import Handler, Toolbox
from swarmgate.agents.conversation.turn import Ending, Refused, take_turn
from swarmgate.agents.tools.answer_text import Unread
from swarmgate.agents.tools.answers import A, Form
from swarmgate.agents.tools.tool_table import SUBMIT
from swarmgate.errors import NoUsableReply

ROLE = "participant"

T = TypeVar("T")
Given = TypeVar("Given")

_READING = ("read_file", "list_files", "search")


async def speak(agent: AgentContext, brief: Brief, *, answer: Callable[[str], T]) -> Ending[T]:
    """Asks a participant for prose, and converts it.

    Args:
        agent: the voice's context.
        brief: what it is told.
        answer: reads its text; may raise `Refused`.

    Raises:
        NoUsableReply: no answer within the bound; otherwise as `take_turn`.
    """
    return await take_turn(agent, brief, work=_reading(agent), endings={}, answer=answer)


async def submit(agent: AgentContext, brief: Brief, form: Form[A, T]) -> Ending[T]:
    """What the answer of a voice in a form comes to: a call of `submit_answer`, or text that holds the same.

    Args:
        agent: the voice's context.
        brief: what it is told.
        form: what it has to give. An answer that is not taken is sent back once, whether called or in text; a call
            whose arguments break the schema as often as any other (`Limits.replies`).

    Raises:
        NoUsableReply: no answer within the bound; otherwise as `take_turn`.
    """
    once = AskedOnceMore(form.read)
    endings = {SUBMIT: partial(once.bounded, form.take)}
    return await take_turn(agent, brief, work=_reading(agent), endings=endings, answer=once, form=form.schema)


def _reading(agent: AgentContext) -> dict[str, Handler]:
    handlers = Toolbox(agent).handlers
    return {name: handlers[name] for name in _READING}


@dataclass
class AskedOnceMore(Generic[T]):
    """Reads an answer; one that cannot be read is sent back once, the next one ends the turn.

    Args:
        read: what the text comes to; may raise `Unread`.
    """

    read: Callable[[str], T]
    _asked: bool = field(default=False, init=False)

    def __call__(self, text: str) -> T:
        """What the text comes to.

        Raises:
            Refused: it cannot be read, for the first time.
            NoUsableReply: nor can the second one.
        """
        return self.bounded(self.read, text)

    def bounded(self, take: Callable[[Given], T], given: Given) -> T:
        """What an answer of any kind comes to by `take`, under the same bound.

        Raises:
            Refused, NoUsableReply: no usable answer within the bound.
        """
        try:
            return take(given)
        except Unread as unread:
            if self._asked and unread.otherwise is not None:
                return cast("T", unread.otherwise)
            if self._asked:
                raise NoUsableReply(
                    f"asked twice, and both answers were of no use; the last: {unread.problem}"
                ) from None
            self._asked = True
            raise Refused(str(unread)) from None
