"""Data model of a swarm chat: agents, messages, turns, events and the result.

Messages are numbered by swarmgate as they go on record: `msg-000001` is the opening. What an agent says in a turn goes
on record with the end of that turn, together with what it had read.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, TypeAdapter

from swarmgate.domain.base import Frozen, Line, Text
from swarmgate.domain.review.votes import Seat, SeatId
from swarmgate.domain.usage import Usage

LEAST_AGENTS, MOST_AGENTS = 2, 32
MOST_CONTENT = 20_000
"""Characters of one message, or of a summary: about 5,000 tokens. Larger things are files, which agents can read."""

MOST_TTL_S = 7 * 24 * 3600
"""Longest life of a chat, in seconds."""

MODERATOR = "moderator"
"""Whose the opening is where no agent gave it: the moderator's, be that an agent or the caller."""

_TEXT = TypeAdapter(Text)

ALL = "all"
"""As a recipient: everybody but the sender. No agent may have this name."""


class ChatEnd(StrEnum):
    """Why a chat is over."""

    SYNTHESIS = "synthesis"
    QUIET = "quiet"
    MESSAGES = "messages"
    TOKENS = "tokens"
    TTL = "ttl"
    FAILED = "failed"


def _bounded(text: str) -> str:
    """The text as long as a message may be: what stands for a secret may be longer than that."""
    return text if len(text) <= MOST_CONTENT else text[: MOST_CONTENT - len(_MASKED)].rstrip() + _MASKED


_MASKED = "\n[... the end was cut: without its secrets the text is longer than a message may be ...]"


class Draft(Frozen):
    """A message before it has a number; `to` names agents, never `all`."""

    sender: SeatId
    to: tuple[SeatId, ...] = Field(min_length=1)
    content: Annotated[Text, AfterValidator(_bounded), Field(min_length=1)]


class ChatMessage(Draft):
    """A message on record; `at` is when, in seconds since 1970."""

    number: int = Field(ge=1)
    at: float

    @property
    def id(self) -> str:
        """`msg-000001`."""
        return message_id(self.number)


class Chat(Frozen):
    """Who talks, from which opening on, within which bounds.

    `moderator` is the agent that sees every message and alone may end the chat; empty: there is none, and any agent
    may. `ttl_s` counts from `created_at`, in seconds since 1970, whether a process is at work or not. `messages` are
    those that agents may send, `tokens` what they may use together.
    """

    id: SeatId
    agents: tuple[Seat, ...] = Field(min_length=LEAST_AGENTS, max_length=MOST_AGENTS)
    opening: Draft
    moderator: str = ""
    ttl_s: float = Field(gt=0, le=MOST_TTL_S)
    messages: int = Field(ge=1)
    tokens: int = Field(ge=1)
    created_at: float

    @property
    def names(self) -> tuple[SeatId, ...]:
        """The ids of the agents, in their order."""
        return tuple(agent.id for agent in self.agents)

    def readers(self, draft: Draft) -> tuple[SeatId, ...]:
        """Who gets a message, in the order of the agents: whom it is for; the moderator gets every one but its own."""
        return tuple(name for name in self.names if name in draft.to or name == self.moderator != draft.sender)


class ChatTurn(Frozen):
    """One turn of an agent: the numbers of the messages in its brief, and the messages that it sent.

    `failed` says why it came to nothing; then it said nothing, and what it was shown is unread still, unless `gave_up`:
    it had failed before, and the chat goes on without it. `unreachable`: it failed because its endpoint did.
    `stopped` says what cut it short after it had spoken. `cut`: the end of the chat, or an interruption, came before
    its own; what it was shown is unread still, and `unsent` is what it had said until then: nobody was sent that.
    `summary` is the synthesis with which it ended the chat. `prompt_hash` is the SHA-256 of the conversation that it
    sent last, in hex.
    """

    agent: SeatId
    read: tuple[int, ...] = ()
    said: tuple[Draft, ...] = ()
    failed: Line = ""
    gave_up: bool = False
    unreachable: bool = False
    stopped: Line = ""
    cut: bool = False
    unsent: tuple[Draft, ...] = ()
    summary: Text = ""
    model: str = ""
    prompt_hash: str = ""
    usage: Usage = Usage()
    began_at: float = 0.0
    seconds: float = 0.0

    @property
    def has_read(self) -> bool:
        """Whether what it was shown counts as read."""
        return not self.cut and (not self.failed or self.gave_up)


class TurnTaken(Frozen):
    """An agent's turn is over, or was cut off: then it is for the fold to say what cut it."""

    type: Literal["turn"] = "turn"
    turn: ChatTurn

    @property
    def usage(self) -> Usage:
        """What it used."""
        return self.turn.usage


class CallsLost(Frozen):
    """What calls used that a killed process took with it: they are on record elsewhere, and their turns nowhere."""

    type: Literal["calls_lost"] = "calls_lost"
    usage: Usage = Usage()


class ChatResult(Frozen):
    """How a chat ended: `by` is who made the `summary`, `why` says more about a failure.

    `messages` are those of agents, the opening is not among them; `turns` are all on record, with those that failed or
    were cut. `usage` also counts calls of turns that a killed process took with it, where those are on record.
    `seconds` is the time since it began.
    """

    id: str
    end: ChatEnd
    summary: Text = ""
    by: str = ""
    why: Line = ""
    messages: int = 0
    turns: int = 0
    failed_turns: int = 0
    usage: Usage = Usage()
    ended_at: float = 0.0
    seconds: float = 0.0


class Delivered(Frozen):
    """A message with who read it when, in seconds since 1970; None: not yet."""

    message: ChatMessage
    read: dict[SeatId, float | None]


class ChatRecord(Frozen):
    """All that is kept of a chat; no `result` while it is not over."""

    chat: Chat
    messages: tuple[Delivered, ...] = ()
    turns: tuple[ChatTurn, ...] = ()
    result: ChatResult | None = None


class ChatSummary(Frozen):
    """One chat in a list; `messages` are the agents'. `damaged` says why it cannot be read, then the rest is empty."""

    id: str
    agents: tuple[SeatId, ...] = ()
    messages: int = 0
    created_at: float = 0.0
    end: ChatEnd | None = None
    damaged: Line = ""


def spoken(text: str) -> str:
    """The text as a message holds it: without control characters, and without white space around it."""
    return _TEXT.validate_python(text)


def message_id(number: int) -> str:
    """The name of a message; numbers from 1."""
    return f"msg-{number:06d}"
