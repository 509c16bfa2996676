"""One turn of an agent in a swarm chat: it reads its inbox, says what it has to say, and may end the chat.

Nothing of it counts before its end: then the room puts what was said, and what was read, on record at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from swarmgate.agents.arguments import SendMessage, Synthesize
from swarmgate.agents.brief import Brief, one_line
from swarmgate.agents.desk import Desk
from swarmgate.agents.toolbox import Toolbox
from swarmgate.agents.turn import Refused, take_turn
from swarmgate.config import nearest
from swarmgate.council.overheard import Overheard
from swarmgate.domain.chat import ALL, MOST_CONTENT, Chat, Draft, spoken
from swarmgate.errors import BreakerTripped, ModelError
from swarmgate.llm.model import ModelReply, ModelRequest

MOST_SAID = 16
"""Messages of one turn, from which on it is over."""


class _Over(Exception):
    """The turn is over; the message says why."""


@dataclass
class Purse:
    """What all agents of a chat may still use together; shared by all turns."""

    messages: int
    tokens: int


class _Bounded:
    """A `Model` that makes no call when the chat's tokens are used up, and takes from them what its calls used."""

    def __init__(self, inner: Overheard, purse: Purse) -> None:
        self.name = inner.name
        self._inner = inner
        self._purse = purse

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Answer the conversation; raises what `inner` raises."""
        if self._purse.tokens <= 0:
            raise _Over("the tokens of the chat are used up")
        before = self._inner.usage.tokens
        try:
            return await self._inner.complete(request)
        finally:
            self._purse.tokens -= self._inner.usage.tokens - before


@dataclass
class AgentTurn:
    """A turn while it goes on, and what came of it.

    `said` are its messages so far. `summary` is set where it ended the chat; `failed` says why it came to nothing,
    `stopped` what cut it short after it had spoken.
    """

    chat: Chat
    agent: str
    purse: Purse
    said: list[Draft] = field(default_factory=list)
    summary: str = ""
    failed: str = ""
    stopped: str = ""

    async def take(self, desk: Desk, brief: Brief) -> Overheard:
        """Have the agent work at its brief; what its calls used comes back, whatever came of them.

        Raises:
            BudgetExhausted, MissingRequirement, ConfigError: as they come.
        """
        heard = Overheard(desk.model)
        desk = replace(desk, model=_Bounded(heard, self.purse))
        work = {**Toolbox(desk).handlers, "send_message": self._send}
        try:
            ending = await take_turn(
                desk, brief, work=work, endings={"synthesize": self._synthesized}, answer=lambda _text: ""
            )
            self.summary = ending.value
        except _Over as over:
            self.stopped = str(over)
        except ModelError as error:
            self._broken(error)
        return heard

    def _broken(self, error: ModelError) -> None:
        """What was said before a breaker tripped stands; of a turn that failed otherwise, nothing does."""
        why = one_line(f"{type(error).__name__}: {error.message}")
        if isinstance(error, BreakerTripped) and self.said:
            self.stopped = why
            return
        self.failed = why
        self.purse.messages += len(self.said)
        self.said.clear()

    async def _send(self, call: SendMessage) -> str:
        to = recipients(self.chat, self.agent, call.to)
        draft = Draft(sender=self.agent, to=to, content=_content(call.content))
        if draft in self.said:
            raise _Over("it said the same again")
        if self.purse.messages <= 0:
            raise _Over("no message is left")
        self.purse.messages -= 1
        self.said.append(draft)
        if len(self.said) == MOST_SAID:
            raise _Over(f"it sent {MOST_SAID} messages, as many as one turn may")
        return f"Goes to {', '.join(to)} when your turn ends: end it with a short text, or send another message."

    def _synthesized(self, call: Synthesize) -> str:
        moderator = self.chat.moderator
        if moderator not in ("", self.agent):
            raise Refused(f"only {moderator}, the moderator, ends this chat; tell {moderator} with send_message")
        return _content(call.summary, "summary")


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
