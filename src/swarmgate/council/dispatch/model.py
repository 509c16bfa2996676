"""Data model of a dispatch: the request, the events of its record, a reply to each task, and the result."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import AfterValidator, Field, model_validator

from swarmgate.config.council import Council, inner_folder
from swarmgate.council.debate.model import Outcome
from swarmgate.council.limits import VOICE_SECONDS
from swarmgate.domain.base import Frozen, Line, Text
from swarmgate.domain.review.votes import Seat, SeatId
from swarmgate.domain.usage import Usage
from swarmgate.errors import ExhaustedAccount

MOST_TASKS = 8
"""Tasks of one parallel dispatch at most."""

MOST_CHAIN = 50
"""Tasks of one chain at most."""

AT_ONCE = 4
"""Of those, how many are worked on at the same time."""

PREVIOUS = "{previous}"
"""What stands in a chain's text for the output before."""

DispatchRole = Literal["architect", "critic", "coder", "reviewer", "test_engineer", "sme"]

NOT_REACHED = "not reached"


class Mode(StrEnum):
    """How the tasks of a dispatch are worked on."""

    SINGLE = "single"
    PARALLEL = "parallel"
    CHAIN = "chain"
    DEBATE = "debate"


def _non_empty(value: str) -> str:
    if not value:
        raise ValueError("must not be empty")
    return value


class DispatchTask(Frozen):
    """One task: who is asked, and what.

    Who: an `agent` of the settings, a `role`, a `participant` of any name, or one of the first two under that name. In
    files `text` may be called `task`. `timeout_s`: the longest time of one try, 1 to 900; None: as `[council]` says.
    `model` is `provider/model`; empty: that of its tier, of the agent, the role, or the participants. It finds files
    in `folder`, relative to the root of the repository; empty: that of the agent, or the root itself.
    """

    agent: Line = ""
    role: DispatchRole | Literal[""] = ""
    participant: SeatId | Literal[""] = ""
    text: Annotated[Text, AfterValidator(_non_empty)]
    model: Line = ""
    model_tier: Line = ""
    folder: Annotated[Line, AfterValidator(inner_folder)] = ""
    timeout_s: float | None = Field(None, ge=VOICE_SECONDS.least, le=VOICE_SECONDS.most)

    @model_validator(mode="before")
    @classmethod
    def _text_as_task(cls, value: Any) -> Any:
        if not isinstance(value, Mapping) or "task" not in value:
            return value
        if "text" in value:
            raise ValueError("has a `text` and a `task`: give one of the two")
        return {"text" if key == "task" else key: each for key, each in value.items()}

    @model_validator(mode="after")
    def _somebody(self) -> Self:
        if not (self.agent or self.role or self.participant):
            raise ValueError("has no `agent`, `role` or `participant`: one of them says who is asked")
        if self.agent and self.role:
            raise ValueError("has an `agent` and a `role`: give one of the two")
        return self

    @property
    def name(self) -> str:
        """What the participant is called."""
        return self.participant or self.agent or self.role


class Dispatch(Frozen):
    """A dispatch that can be held. `question` and `rounds` are those of a debate."""

    id: str = ""
    mode: Mode
    tasks: tuple[DispatchTask, ...]
    question: str = ""
    rounds: int = 0


class Means(NamedTuple):
    """What the settings say of a dispatch, as they are when it is begun, or gone on with.

    `seats` are the participants of its tasks, each with its model; `bounds` are `[council]`.
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
    """The tasks were debated, in a record of its own. `usage` is what it used since the last such event.

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
