"""What a dispatch is made of: what is asked for, what its record holds, a reply to each task, and the result."""

from __future__ import annotations

from typing import Literal, NamedTuple

from pydantic import Field

from swarmgate.config.council import Council
from swarmgate.council.debate.model import Outcome
from swarmgate.domain.base import Frozen, Line, Text
from swarmgate.domain.debate import Seat
from swarmgate.domain.dispatch import DispatchTask, Mode
from swarmgate.domain.usage import Usage
from swarmgate.errors import ExhaustedAccount

NOT_REACHED = "not reached"


class Dispatch(Frozen):
    """A dispatch that can be held. `question` and `rounds` are those of a debate."""

    id: str = ""
    mode: Mode
    tasks: tuple[DispatchTask, ...]
    question: str = ""
    rounds: int = 0


class Means(NamedTuple):
    """What the settings say of a dispatch, as they are when it is begun, or gone on with.

    `seats` are the voices of its tasks, each with its model; `bounds` are `[council]`.
    """

    seats: tuple[Seat, ...]
    bounds: Council


class DispatchedReply(Frozen):
    """What became of one task; `number` is its place in the input, from 1.

    `failed` says why there is no output, `not_run` why nobody was asked. `tries` are those begun. `prompt_hash` is the
    SHA-256 of the conversation that was sent, in hex; `cut` are characters of the output that were left out because it
    was too long; `usage` and `seconds` count every try.
    """

    number: int
    name: str
    text: Text = ""
    failed: Line = ""
    not_run: Line = ""
    tries: int = 0
    model: str = ""
    prompt_hash: str = ""
    usage: Usage = Usage()
    seconds: float = 0.0
    cut: int = 0

    @property
    def succeeded(self) -> bool:
        """Whether there is an output."""
        return not (self.failed or self.not_run)


class DispatchResult(Frozen):
    """A dispatch: what was asked, and every reply in the order of the tasks.

    `outcome` is that of a debate. `exhausted` says which budget ended it early, `failed` why nothing came of it.
    `finished` is false in the record of one that is going on, or was killed.
    """

    id: str
    mode: Mode
    tasks: tuple[DispatchTask, ...]
    question: Text = ""
    rounds: int = 0
    replies: tuple[DispatchedReply, ...] = ()
    outcome: Outcome | None = None
    exhausted: Line = ""
    failed: Line = ""
    finished: bool = False
    usage: Usage = Usage()
    seconds: float = Field(0.0, ge=0)
    started_at: str = ""

    @property
    def succeeded(self) -> int:
        """How many tasks have an output."""
        return sum(each.succeeded for each in self.replies)

    @property
    def summary(self) -> str:
        """`k/n succeeded`."""
        return f"{self.succeeded}/{len(self.tasks)} succeeded"


# --- what happens, as the record has it ---


class Tried(Frozen):
    """A task was tried once. `again`: another try may bring what this one did not.

    `exhausted`: a budget ended it, that of `account`.
    """

    type: Literal["tried"] = "tried"
    number: int
    text: Text = ""
    failed: Line = ""
    not_run: Line = ""
    again: bool = False
    exhausted: bool = False
    account: ExhaustedAccount | None = None
    model: str = ""
    prompt_hash: str = ""
    usage: Usage = Usage()
    seconds: float = 0.0
    cut: int = 0


class Debated(Frozen):
    """The tasks were debated, in a record of its own. `usage` is what it used since it was last said here.

    `failed` says why there is no outcome: a budget where `exhausted` says so, that of `account`.
    """

    type: Literal["debated"] = "debated"
    replies: tuple[DispatchedReply, ...] = ()
    outcome: Outcome | None = None
    failed: Line = ""
    exhausted: bool = False
    account: ExhaustedAccount | None = None
    hint: Text = ""
    usage: Usage = Usage()
