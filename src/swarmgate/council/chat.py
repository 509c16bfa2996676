"""A swarm chat: agents read their inboxes and write to each other until one of its ends.

Whose oldest unread message is the oldest has the next turn, four agents at a time. A turn is on record as a whole or
not at all, so a chat that was killed goes on with the turns that were under way. Nobody outside can take a turn. What
a turn used that was cut by the end of the chat, and what was not sent for that, is on record too.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from typing import Protocol

from swarmgate.agents.desk import Desk, ignore
from swarmgate.council.chat_brief import MOST_UNREAD, WINDOW, chat_brief, inbox_of, room_of
from swarmgate.council.chat_schedule import next_speakers
from swarmgate.council.chat_turn import AgentTurn, Purse, too_long
from swarmgate.council.events import AgentSpoke, ChatEnded, MessageSent, OnCouncilEvent
from swarmgate.council.overheard import Overheard
from swarmgate.council.voices import Voices
from swarmgate.domain.chat import Chat, ChatEnd, ChatMessage, ChatResult, ChatTurn, Standing
from swarmgate.domain.usage import Usage
from swarmgate.errors import CouncilFailed, CouncilRefused, EndpointFailed, SwarmError

_TRIES = 2
"""Failed turns in a row, after which what an agent did not read counts as read, or its endpoint is waited for."""

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

    def keep(
        self, chat: Chat, turn: ChatTurn, result: ChatResult | None = None, *, cut: Sequence[ChatTurn] = ()
    ) -> tuple[ChatMessage, ...]:
        """Keep a turn, what it read and said, and the end that it brings; the messages with their numbers.

        `cut` are turns that this end cut. Raises `StaleWriter` where the turn read what was read by another meanwhile.
        """

    def end(self, result: ChatResult, *, cut: Sequence[ChatTurn] = ()) -> None:
        """Keep how a chat ended, and the turns that its end cut."""


async def chat(
    request: Chat, *, voices: Voices, store: ChatStore, on_event: OnCouncilEvent = ignore, clock: Clock = time.time
) -> ChatResult:
    """Hold a swarm chat to its end.

    Raises:
        CouncilRefused: its id is taken, or its opening does not fit the window of an agent.
        CouncilFailed: every agent that was asked failed by itself; the chat is over, and that is on record.
        EndpointFailed: nobody who has something to read can be reached; the chat can be resumed.
        BudgetExhausted, Stopped, MissingRequirement: as they come; the chat can be resumed.
    """
    desks = _desks(request, voices)  # what is missing is told before anything is on record
    if unfit := too_long(request, request.opening, _rooms(desks)):
        raise CouncilRefused(
            f"`initial.content` is too long: {unfit}",
            hint="Put it into a file of the repository and name that, or give that agent a model with a larger window.",
        )
    on_event(MessageSent(request.id, store.begin(request)))
    return await _Room(request, desks, store, on_event, clock, Usage()).talk()


async def resume(
    chat_id: str,
    *,
    voices: Voices,
    store: ChatStore,
    on_event: OnCouncilEvent = ignore,
    clock: Clock = time.time,
    used: Usage | None = None,
) -> ChatResult:
    """Go on with a chat that was interrupted; its time has gone on meanwhile.

    Args:
        chat_id: which.
        voices: make the surroundings of the agents.
        store: where it is on record.
        on_event: hears what happens.
        clock: tells the time.
        used: by all calls of this chat before, also those of turns that are not on record; None: as its turns say.

    Raises:
        Archived: it is over.
        SwarmError: as `chat`.
    """
    request = store.find(chat_id)
    return await _Room(request, _desks(request, voices), store, on_event, clock, used or Usage()).talk()


def _desks(request: Chat, voices: Voices) -> dict[str, Desk]:
    return {agent.id: voices.desk(agent) for agent in request.agents}


def _rooms(desks: Mapping[str, Desk]) -> dict[str, int]:
    return {name: room_of(desk.limits.section_chars) for name, desk in desks.items()}


class _Room:
    """One chat while a process is at it."""

    def __init__(
        self,
        request: Chat,
        desks: Mapping[str, Desk],
        store: ChatStore,
        on_event: OnCouncilEvent,
        clock: Clock,
        used: Usage,
    ) -> None:
        self._chat = request
        self._store = store
        self._tell = on_event
        self._clock = clock
        self._desks = desks
        self._rooms = _rooms(desks)
        found = store.standing(request.id)
        self._turns, self._failed_turns, self._messages = found.turns, found.failed_turns, found.messages
        self._usage = max(found.usage, used, key=lambda each: each.tokens)
        self._streaks, self._heard = Counter(found.faltering), set(found.heard)
        self._unreached = Counter[str]()
        self._waiting: dict[str, str] = {}
        self._under_way: dict[str, AgentTurn] = {}
        self._past: dict[str, tuple[ChatMessage, ...]] = {}
        self._purse = Purse(request.messages - found.messages, request.tokens - self._usage.tokens)
        self._result: ChatResult | None = None

    async def talk(self) -> ChatResult:
        left = self._chat.created_at + self._chat.ttl_s - self._clock()
        if left <= 0:
            return self._ended(ChatEnd.TTL)
        try:
            async with asyncio.timeout(left) as ttl:
                return await self._until_its_end()
        except TimeoutError:
            if not ttl.expired():
                raise
            return self._result or self._ended(ChatEnd.TTL)
        except BaseException:
            self._interrupted()
            raise

    async def _until_its_end(self) -> ChatResult:
        speaking: dict[asyncio.Task[None], str] = {}
        try:
            while self._result is None:
                end = self._bound()
                for agent in () if end else self._next(set(speaking.values())):
                    speaking[asyncio.create_task(self._turn(agent))] = agent
                if not speaking:
                    return self._ended(end or self._silence())
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
        oldest = self._store.oldest_unread(self._chat.id)
        can_read = {agent: number for agent, number in oldest.items() if agent not in self._waiting}
        return next_speakers(can_read, order=self._chat.names, speaking=speaking)

    def _bound(self) -> ChatEnd | None:
        """Which budget is used up; then those who speak now are the last."""
        if self._messages >= self._chat.messages:
            return ChatEnd.MESSAGES
        return ChatEnd.TOKENS if self._purse.tokens <= 0 else None

    def _silence(self) -> ChatEnd:
        """The end that it is when nobody speaks.

        Raises:
            EndpointFailed: those who have something to read cannot be reached.
        """
        if not self._waiting:
            return ChatEnd.QUIET
        why = "; ".join(f"{agent}: {why}" for agent, why in sorted(self._waiting.items()))
        raise EndpointFailed(
            f"The chat {self._chat.id} cannot go on: {why}",
            hint=f"Nothing is lost. When the endpoint answers again, within {self._chat.ttl_s:g} s of the chat's "
            f"beginning: swarm chat resume {self._chat.id}",
        )

    async def _turn(self, agent: str) -> None:
        """One turn of an agent, to its place on record."""
        request, desk = self._chat, self._desks[agent]
        section = desk.limits.section_chars
        inbox = inbox_of(self._store.unread(request.id, agent, limit=MOST_UNREAD), section=section)
        brief = chat_brief(
            request, agent, inbox=inbox, past=self._past_of(agent), left=self._purse.messages, section=section
        )
        taken = AgentTurn(request, agent, self._purse, self._rooms, Overheard(desk.model), self._clock())
        self._under_way[agent] = taken
        await taken.take(desk, brief)
        if self._result is not None:  # another one ended the chat meanwhile
            return
        del self._under_way[agent]
        turn = taken.on_record(tuple(message.number for message in inbox), gave_up=self._gives_up(taken))
        sent = self._keep(turn)
        self._remember(agent, (*inbox, *sent) if turn.has_read else sent)

    def _gives_up(self, taken: AgentTurn) -> bool:
        """Whether the chat goes on without what a failed turn did not read.

        An endpoint that never answered this agent, and does answer others, is the agent's own failing. Every other
        endpoint is waited for.
        """
        agent = taken.agent
        if taken.unreachable:
            broken = bool(self._heard) and agent not in self._heard
            return broken and self._unreached[agent] + 1 >= _TRIES
        return bool(taken.failed) and self._streaks[agent] + 1 >= _TRIES

    def _past_of(self, agent: str) -> tuple[ChatMessage, ...]:
        """The newest messages that it has read or sent; read from the store once."""
        if agent not in self._past:
            self._past[agent] = self._store.earlier(self._chat.id, agent, limit=WINDOW)
        return self._past[agent]

    def _remember(self, agent: str, more: Sequence[ChatMessage]) -> None:
        known = {message.number: message for message in (*self._past_of(agent), *more)}
        self._past[agent] = tuple(known[number] for number in sorted(known)[-WINDOW:])

    def _keep(self, turn: ChatTurn) -> tuple[ChatMessage, ...]:
        self._count(turn)
        cut: tuple[ChatTurn, ...] = ()
        result = None
        if turn.summary:
            cut = self._cut_off(f"{turn.agent} ended the chat")
            result = self._outcome(ChatEnd.SYNTHESIS, summary=turn.summary, by=turn.agent)
        sent = self._store.keep(self._chat, turn, result, cut=cut)
        for message in sent:
            self._tell(MessageSent(self._chat.id, message))
        for each in (turn, *cut):
            self._tell(AgentSpoke(self._chat.id, each))
        if result is not None:
            self._over(result)
        return sent

    def _cut_off(self, why: str) -> tuple[ChatTurn, ...]:
        """The turns that are under way, as they stand: each that has asked a model anything, or said anything."""
        turns = tuple(taken.cut_off(why) for taken in self._under_way.values())
        self._under_way.clear()
        cut = tuple(turn for turn in turns if turn.prompt_hash or turn.unsent)
        for turn in cut:
            self._count(turn)
        return cut

    def _interrupted(self) -> None:
        """Keeps what turns under way have used; they are taken again when the chat is resumed."""
        with suppress(SwarmError):  # what interrupted it may be the store itself
            for turn in self._cut_off("the chat was interrupted"):
                self._store.keep(self._chat, turn)

    def _count(self, turn: ChatTurn) -> None:
        self._turns += 1
        self._messages += len(turn.said)
        self._usage += turn.usage
        if turn.cut:
            return
        if turn.failed:
            self._failed_turns += 1
            counts = self._unreached if turn.unreachable else self._streaks
            counts[turn.agent] += 1
            if turn.unreachable and counts[turn.agent] >= _TRIES and not turn.gave_up:
                self._waiting[turn.agent] = turn.failed
        else:
            for each in (self._streaks, self._unreached):
                each.pop(turn.agent, None)
            self._waiting.clear()  # there is an endpoint that answers: the others are asked again
            self._heard.add(turn.agent)

    def _ended(self, end: ChatEnd) -> ChatResult:
        """The end that no agent brought.

        Raises:
            CouncilFailed: nobody who was asked has come to anything, each by its own fault.
        """
        if end is not ChatEnd.QUIET or self._heard:
            cut = self._cut_off(_SAID.get(end, "the chat ended"))
            result = self._outcome(end)
            self._store.end(result, cut=cut)
            for turn in cut:
                self._tell(AgentSpoke(self._chat.id, turn))
            return self._over(result)
        why = f"{', '.join(sorted(self._streaks)) or 'every agent that was asked'} failed"
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
    ChatEnd.TTL: "the time of the chat was up",
    ChatEnd.MESSAGES: "the messages of the chat were used up",
    ChatEnd.TOKENS: "the tokens of the chat were used up",
}
