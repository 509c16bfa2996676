"""Executes one turn of an agent in a swarm chat: reads the inbox, sends messages, and may end the chat.

Nothing of it counts before its end: then what was said, and what was read, goes on record at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from swarmgate.agents.briefs.brief import Brief, one_line
from swarmgate.agents.context import AgentContext
from swarmgate.agents.conversation.toolbox import Toolbox
from swarmgate.agents.conversation.turn import Refused, take_turn
from swarmgate.agents.tools.arguments import SendMessage, Synthesize
from swarmgate.config import nearest
from swarmgate.council.chat.brief import shown_size
from swarmgate.council.chat.model import ALL, MOST_CONTENT, Chat, ChatTurn, Draft, spoken
from swarmgate.council.participants.call_recorder import CallRecorder
from swarmgate.errors import BreakerTripped, EndpointFailed, ModelError
from swarmgate.llm.endpoint.wire import estimated_tokens
from swarmgate.llm.model import ModelReply, ModelRequest

MOST_SENT = 16
"""Messages of one turn, from which on it is over."""


REPLY = 1_000
"""Tokens that a reply is taken to have while nobody knows: a message and a short thought."""


class _TurnEnded(Exception):
    """The turn is over; the message says why."""


class _NoTokens(_TurnEnded):
    """The tokens of the chat are used up."""


@dataclass
class ChatBudget:
    """The remaining budget of a chat, shared by the turns of all agents.

    What a call is estimated to use is set aside before it is made. While others are under way, only what is left beside
    theirs is lent, so at the end of a budget calls go one by one. What can overrun the budget is the last call alone,
    and what calls use beyond their estimates: nobody knows how long a reply will be, and none is cut off.
    """

    messages: int
    tokens: int
    _reserved: dict[object, int] = field(default_factory=dict)
    _returned: asyncio.Event = field(default_factory=asyncio.Event)

    async def reserve(self, call: object, estimate: int) -> None:
        """Reserve the estimate of a call; waits for others to come back where they may leave enough.

        Raises:
            _NoTokens: nothing is left.
        """
        while self._reserved and self.tokens > 0 and self.tokens - sum(self._reserved.values()) < estimate:
            self._returned.clear()
            await self._returned.wait()
        if self.tokens <= 0:
            raise _NoTokens("the tokens of the chat are used up")
        self._reserved[call] = estimate

    def settle(self, call: object, used: int) -> None:
        """Replace the estimate of a call by what it used."""
        del self._reserved[call]
        self.tokens -= used
        self._returned.set()


class _Bounded:
    """A `Model` that makes no call that the chat's tokens do not hold, and takes from them what its calls used."""

    def __init__(self, inner: CallRecorder, budget: ChatBudget) -> None:
        self.name = inner.name
        self._inner = inner
        self._budget = budget

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Answer the conversation; raises what `inner` raises."""
        await self._budget.reserve(self, estimated_tokens(_characters(request)) + REPLY)
        before = self._inner.usage.tokens
        try:
            return await self._inner.complete(request)
        finally:
            self._budget.settle(self, self._inner.usage.tokens - before)


def _characters(request: ModelRequest) -> int:
    total = sum(message.size for message in request.messages)
    return total + sum(len(tool.description) + _PARAMETERS for tool in request.tools)


_PARAMETERS = 300
"""Characters that the schema of a tool's parameters has, about."""


@dataclass
class AgentTurn:
    """A running turn and its result.

    `rooms` are the characters of messages that each agent reads at once. `sent` are its messages so far. `summary` is
    set where it ended the chat; `failed` says why it came to nothing, and `unreachable` that its endpoint was at fault;
    `stopped` what cut it short after it had spoken, and `cut` that the tokens of the chat were used up before that.
    """

    chat: Chat
    agent: str
    budget: ChatBudget
    rooms: Mapping[str, int]
    recorder: CallRecorder
    began_at: float
    sent: list[Draft] = field(default_factory=list)
    summary: str = ""
    failed: str = ""
    unreachable: bool = False
    stopped: str = ""
    cut: bool = False

    async def take(self, agent: AgentContext, brief: Brief) -> None:
        """Have the agent work at its brief; `recorder` has what its calls used, whatever came of them.

        Raises:
            BudgetExhausted, MissingRequirement, ConfigError: as they come.
        """
        agent = replace(agent, model=_Bounded(self.recorder, self.budget))
        work = {**Toolbox(agent).handlers, "send_message": self._send}
        try:
            ending = await take_turn(
                agent, brief, work=work, endings={"synthesize": self._synthesized}, answer=lambda _text: ""
            )
            self.summary = ending.value
        except _TurnEnded as over:
            self.stopped = str(over)
            self.cut = isinstance(over, _NoTokens) and not self.sent
        except ModelError as error:
            self._broken(error)

    def on_record(self, read: tuple[int, ...]) -> ChatTurn:
        """The turn that came to its end, as it goes on record; `read` are the messages that it was shown."""
        return self._signed(
            read=read,
            said=tuple(self.sent),
            failed=self.failed,
            unreachable=self.unreachable,
            stopped=self.stopped,
            cut=self.cut,
            summary=self.summary,
        )

    @property
    def began(self) -> bool:
        """Whether it has called a model or sent a message."""
        return bool(self.recorder.prompt_hash or self.sent)

    def cut_off(self) -> ChatTurn:
        """The turn that did not come to its end, as it stands now."""
        return self._signed(cut=True, unsent=tuple(self.sent))

    def _signed(self, **fields: Any) -> ChatTurn:
        recorder = self.recorder
        return ChatTurn(
            agent=self.agent,
            model=recorder.model,
            prompt_hash=recorder.prompt_hash,
            usage=recorder.usage,
            began_at=self.began_at,
            seconds=recorder.seconds,
            **fields,
        )

    def _broken(self, error: ModelError) -> None:
        """What was said before a breaker tripped stands; of a turn that failed otherwise, nothing does."""
        why = one_line(f"{type(error).__name__}: {error.message}")
        if isinstance(error, BreakerTripped) and self.sent:
            self.stopped = why
            return
        self.failed = why
        self.unreachable = isinstance(error, EndpointFailed)
        self.budget.messages += len(self.sent)
        self.sent.clear()

    async def _send(self, call: SendMessage) -> str:
        to = recipients(self.chat, self.agent, call.to)
        draft = Draft(sender=self.agent, to=to, content=_content(call.content))
        if unfit := too_long(self.chat, draft, self.rooms):
            raise Refused(f"`content` is too long: {unfit}; send it in several messages")
        if draft in self.sent:
            raise _TurnEnded("it said the same again")
        if self.budget.messages <= 0:
            raise _TurnEnded("no message is left")
        self.budget.messages -= 1
        self.sent.append(draft)
        if len(self.sent) == MOST_SENT:
            raise _TurnEnded(f"it sent {MOST_SENT} messages, as many as one turn may")
        return f"Goes to {', '.join(to)} when your turn ends: end it with a short text, or send another message."

    def _synthesized(self, call: Synthesize) -> str:
        moderator = self.chat.moderator
        if moderator not in ("", self.agent):
            raise Refused(f"only {moderator}, the moderator, ends this chat; tell {moderator} with send_message")
        return _content(call.summary, "summary")


def too_long(chat: Chat, draft: Draft, rooms: Mapping[str, int]) -> str:
    """Which of its readers cannot read a message at once, and how much that one can; empty: all can.

    Args:
        chat: in which.
        draft: the message.
        rooms: characters of messages that each agent reads at once.
    """
    least, reader = min((rooms[name], name) for name in chat.readers(draft))
    size = shown_size(draft)
    return "" if size <= least else f"it takes {size:,} characters of an inbox, and {reader} reads {least:,} at once"


def recipients(chat: Chat, sender: str, wanted: tuple[str, ...]) -> tuple[str, ...]:
    """Whom a message goes to, in the order of the agents.

    Raises:
        Refused: nobody is named, or a stranger, or the sender itself.
    """
    names = {each.strip() for one in wanted for each in one.split(",")} - {""}
    others = tuple(name for name in chat.names if name != sender)
    if ALL in names:
        names = (names - {ALL}) | set(others)
    here = f"Here are: {', '.join(others)}; `{ALL}` means all of them."
    if not names:
        raise Refused(f"`to` names nobody. {here}")
    if sender in names:
        raise Refused(f"you are {sender} yourself, and cannot write to yourself. {here}")
    for stranger in sorted(names.difference(others)):
        close = nearest(stranger, others)
        hint = f" Did you mean {close}?" if close else ""
        raise Refused(f"nobody named {stranger[:40]!r} is here.{hint} {here}")
    return tuple(name for name in others if name in names)


def _content(text: str, what: str = "content") -> str:
    text = spoken(text)
    if not text:
        raise Refused(f"`{what}` is empty")
    if len(text) > MOST_CONTENT:
        raise Refused(f"`{what}` has {len(text):,} characters; at most {MOST_CONTENT:,} are allowed: say it shorter")
    return text
