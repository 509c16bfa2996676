"""A voice of the council: is told one brief, answers in text with a look at the files if need be, and writes none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar, cast

from swarmgate.agents.brief import Brief
from swarmgate.agents.desk import Desk
from swarmgate.agents.toolbox import Toolbox
from swarmgate.agents.turn import Ending, Refused, take_turn
from swarmgate.errors import NoUsableReply

ROLE = "participant"

T = TypeVar("T")

_READING = ("read_file", "list_files", "search")


async def speak(desk: Desk, brief: Brief, *, answer: Callable[[str], T]) -> Ending[T]:
    """What the answer of a voice comes to.

    Args:
        desk: the voice's surroundings.
        brief: what it is told.
        answer: reads its text; may raise `Refused`.

    Raises:
        NoUsableReply: no answer within the bound; otherwise as `take_turn`.
    """
    handlers = Toolbox(desk).handlers
    return await take_turn(desk, brief, work={name: handlers[name] for name in _READING}, endings={}, answer=answer)


class Unread(Exception):
    """A text is not what was asked for.

    Args:
        problem: what is wrong with it, told to the model.
        form: what was asked for, told to the model too.
        otherwise: what it comes to where the model, asked once more, mends nothing; None: nothing.
    """

    def __init__(self, problem: str, form: str = "", *, otherwise: object = None) -> None:
        super().__init__(f"{problem} {form}".strip())
        self.problem = problem
        self.otherwise = otherwise


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
        try:
            return self.read(text)
        except Unread as unread:
            if self._asked and unread.otherwise is not None:
                return cast("T", unread.otherwise)
            if self._asked:
                raise NoUsableReply(
                    f"asked twice, and both answers were of no use; the last: {unread.problem}"
                ) from None
            self._asked = True
            raise Refused(str(unread)) from None
