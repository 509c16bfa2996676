"""A swarm chat: agents read their inboxes and write to each other until one of its ends.

Whose oldest unread message is the oldest has the next turn, four agents at a time. A turn is on record as a whole or
not at all, so a chat that was killed goes on with the turns that were under way. Nobody outside can take a turn.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from typing import Protocol

from swarmgate.agents.desk import Desk, ignore
from swarmgate.council.chat_brief import MOST_UNREAD, WINDOW, chat_brief, inbox_of
from swarmgate.council.chat_schedule import next_speakers
from swarmgate.council.chat_turn import AgentTurn, Purse
from swarmgate.council.events import AgentSpoke, ChatEnded, MessageSent, OnCouncilEvent
from swarmgate.council.voices import Voices
from swarmgate.domain.chat import Chat, ChatEnd, ChatMessage, ChatResult, ChatTurn, Standing
from swarmgate.errors import CouncilFailed

_TRIES = 2
"""Failed turns in a row, after which what an agent did not read counts as read."""

Clock = Callable[[], float]
"""Seconds since 1970."""


class ChatStore(Protocol):
    """Keeps chats; the ledger room writes them to `.swarm/runtime/chats.sqlite3`. Each call is atomic.

    Whatever changes a chat that is over raises `Archived`.
    """

    def begin(self, chat: Chat) -> ChatMessage:
        """Keep a new chat, with its opening delivered; raises `CouncilRefused` where its id is taken."""

    def find(self, chat_id: str) -> Chat:
        """A chat that can go on; raises `CouncilRefused` where there is none, `Archived` where it is over."""

    def standing(self, chat_id: str) -> Standing:
        """How far it has come."""

    def oldest_unread(self, chat_id: str) -> dict[str, int]:
        """The number of the oldest unread message, by agent."""

    def unread(self, chat_id: str, agent: str, *, limit: int) -> tuple[ChatMessage, ...]:
        """The oldest unread messages of an agent, in order."""

    def earlier(self, chat_id: str, agent: str, *, limit: int) -> tuple[ChatMessage, ...]:
        """The newest messages that an agent has read or sent, in order."""

    def keep(self, chat: Chat, turn: ChatTurn, result: ChatResult | None = None) -> tuple[ChatMessage, ...]:
        """Keep a turn, what it read and said, and the end that it brings; the messages with their numbers."""

    def end(self, result: ChatResult) -> None:
        """Keep how a chat ended."""


async def chat(
    request: Chat, *, voices: Voices, store: ChatStore, on_event: OnCouncilEvent = ignore, clock: Clock = time.time
) -> ChatResult:
    """Hold a swarm chat to its end.

    Raises:
        CouncilRefused: its id is taken.
        CouncilFailed: every agent that was asked failed; the chat is over, and that is on record.
        BudgetExhausted, Stopped, MissingRequirement: as they come; the chat can be resumed.
    """
    desks = _desks(request, voices)  # what is missing is told before anything is on record
    on_event(MessageSent(request.id, store.begin(request)))
    return await _Room(request, desks, store, on_event, clock).talk()


async def resume(
    chat_id: str, *, voices: Voices, store: ChatStore, on_event: OnCouncilEvent = ignore, clock: Clock = time.time
) -> ChatResult:
    """Go on with a chat that was interrupted; its time has gone on meanwhile.

    Raises:
        Archived: it is over.
        SwarmError: as `chat`.
    """
    request = store.find(chat_id)
    return await _Room(request, _desks(request, voices), store, on_event, clock).talk()


def _desks(request: Chat, voices: Voices) -> dict[str, Desk]:
    return {agent.id: voices.desk(agent) for agent in request.agents}


class _Room:
    """One chat while a process is at it."""

    def __init__(
        self, request: Chat, desks: Mapping[str, Desk], store: ChatStore, on_event: OnCouncilEvent, clock: Clock
    ) -> None:
        self._chat = request
        self._store = store
        self._tell = on_event
        self._clock = clock
        self._desks = desks
        found = store.standing(request.id)
        self._usage, self._turns, self._failed_turns = found.usage, found.turns, found.failed_turns
        self._messages = found.messages
        self._streaks, self._heard = Counter(found.faltering), set(found.heard)
        self._purse = Purse(request.messages - found.messages, request.tokens - found.usage.tokens)
        self._result: ChatResult | None = None

    async def talk(self) -> ChatResult:
        left = self._chat.created_at + self._chat.ttl_s - self._clock()
        try:
            async with asyncio.timeout(max(0.0, left)) as ttl:
                return await self._until_its_end()
        except TimeoutError:
            if not ttl.expired():
                raise
            return self._result or self._ended(ChatEnd.TTL)

    async def _until_its_end(self) -> ChatResult:
        speaking: dict[asyncio.Task[None], str] = {}
        try:
            while self._result is None:
                end = self._bound()
                for agent in () if end else self._next(set(speaking.values())):
                    speaking[asyncio.create_task(self._turn(agent))] = agent
                if not speaking:
                    return self._ended(end or ChatEnd.QUIET)
                done, _ = await asyncio.wait(speaking, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    del speaking[task]
                errors = [error for task in done if (error := task.exception())]
                if errors and self._result is None:
                    raise errors[0]
            return self._result
        finally:
            for task in speaking:
                task.cancel()
            await asyncio.gather(*speaking, return_exceptions=True)

    def _next(self, speaking: Collection[str]) -> tuple[str, ...]:
        return next_speakers(self._store.oldest_unread(self._chat.id), order=self._chat.names, speaking=speaking)

    def _bound(self) -> ChatEnd | None:
        """Which budget is used up; then those who speak now are the last."""
        if self._messages >= self._chat.messages:
            return ChatEnd.MESSAGES
        return ChatEnd.TOKENS if self._purse.tokens <= 0 else None

    async def _turn(self, agent: str) -> None:
        """One turn of an agent, to its place on record."""
        request, desk = self._chat, self._desks[agent]
        section = desk.limits.section_chars
        unread = self._store.unread(request.id, agent, limit=MOST_UNREAD)
        inbox = inbox_of(unread, section=section)
        past = self._store.earlier(request.id, agent, limit=WINDOW)
        brief = chat_brief(request, agent, inbox=inbox, past=past, left=self._purse.messages, section=section)
        taken, began_at = AgentTurn(request, agent, self._purse), self._clock()
        heard = await taken.take(desk, brief)
        if self._result is not None:  # another one ended the chat meanwhile
            return
        gave_up = bool(taken.failed) and self._streaks[agent] + 1 >= _TRIES
        self._keep(
            taken,
            ChatTurn(
                agent=agent,
                read=tuple(message.number for message in inbox),
                said=tuple(taken.said),
                failed=taken.failed,
                gave_up=gave_up,
                stopped=taken.stopped,
                model=heard.model,
                prompt_hash=heard.prompt_hash,
                usage=heard.usage,
                began_at=began_at,
                seconds=heard.seconds,
            ),
        )

    def _keep(self, taken: AgentTurn, turn: ChatTurn) -> None:
        self._count(turn)
        result = self._outcome(ChatEnd.SYNTHESIS, summary=taken.summary, by=turn.agent) if taken.summary else None
        sent = self._store.keep(self._chat, turn, result)
        for message in sent:
            self._tell(MessageSent(self._chat.id, message))
        self._tell(AgentSpoke(self._chat.id, turn))
        if result is not None:
            self._over(result)

    def _count(self, turn: ChatTurn) -> None:
        self._turns += 1
        self._messages += len(turn.said)
        self._usage += turn.usage
        if turn.failed:
            self._failed_turns += 1
            self._streaks[turn.agent] += 1
            self._heard.discard(turn.agent)
        else:
            self._streaks.pop(turn.agent, None)
            self._heard.add(turn.agent)

    def _ended(self, end: ChatEnd) -> ChatResult:
        """The end that no agent brought.

        Raises:
            CouncilFailed: nobody who was asked has come to anything.
        """
        if self._heard:
            result = self._outcome(end)
            self._store.end(result)
            return self._over(result)
        who = ", ".join(sorted(self._streaks)) or "every agent that was asked"
        why = f"{who} failed" if self._streaks else f"no turn had come to its end when {_SAID[end]}"
        self._store.end(self._over(self._outcome(ChatEnd.FAILED, why=why)))
        raise CouncilFailed(
            f"The chat {self._chat.id} came to nothing: {why}.",
            hint=f"Why each turn failed: swarm chat show {self._chat.id}",
        )

    def _over(self, result: ChatResult) -> ChatResult:
        self._result = result
        self._tell(ChatEnded(result))
        return result

    def _outcome(self, end: ChatEnd, *, summary: str = "", by: str = "", why: str = "") -> ChatResult:
        now = self._clock()
        return ChatResult(
            id=self._chat.id,
            end=end,
            summary=summary,
            by=by,
            why=why,
            messages=self._messages,
            turns=self._turns,
            failed_turns=self._failed_turns,
            usage=self._usage,
            ended_at=now,
            seconds=round(now - self._chat.created_at, 3),
        )


_SAID = {
    ChatEnd.TTL: "its time was up",
    ChatEnd.MESSAGES: "its messages were used up",
    ChatEnd.TOKENS: "its tokens were used up",
    ChatEnd.QUIET: "it fell quiet",
}
