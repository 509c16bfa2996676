"""State of a swarm chat, folded from its events: whose turn is next, what a turn changes, and why the chat ended.

Whose oldest unread message is the oldest has the next turn, four agents at a time. A turn is on record as a whole or
not at all, so a chat that was killed goes on with the turns that were under way.
"""

# ruff: noqa: RUF009 - the defaults are persistent maps, which never change
from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from immutables import Map

from swarmgate.council.chat.model import Chat, ChatEnd, ChatMessage, ChatTurn, Draft
from swarmgate.domain.usage import Usage
from swarmgate.errors import IllegalMove

PLACES = 4
"""Agents that speak at a time."""

WINDOW = 16
"""Messages of the past that an agent is shown."""

_TRIES = 2
"""Failed turns in a row, after which what an agent did not read counts as read, or its endpoint is waited for."""

_INTERRUPTED, _TIME_UP = "the chat was interrupted", "the time of the chat was up"


@dataclass(frozen=True, slots=True)
class State:
    """How far a chat has come.

    Attributes:
        chat: what was asked for.
        messages: all, by their numbers.
        turns: all that are over, in their order from 1; what was said in them stands as messages.
        cut: turns that were cut off in this session, as long as nobody knows by what.
        oldest: the number of the oldest unread message, by agent; who has none is left out.
        past: the numbers of the newest messages that an agent has read or sent, in order.
        speaking: who is at a turn.
        streaks: failed turns in a row, by agent whose endpoint is not at fault.
        unreached: the same in this session by agent whose endpoint is.
        waiting: agents that cannot be reached, and why.
        answered: agents that ever came to the end of a turn.
        failed_turns: how many there were.
        usage: of all calls.
        sessions: processes that were at it.
        uncounted: a process before this one may have made calls of which no turn tells.
        spent: the tokens were used up in the middle of a turn.
        late: its time is over.
        synthesis: the turn that ended it.
    """

    chat: Chat
    messages: Map[int, ChatMessage] = Map()
    turns: Map[int, ChatTurn] = Map()
    cut: tuple[ChatTurn, ...] = ()
    oldest: Map[str, int] = Map()
    past: Map[str, tuple[int, ...]] = Map()
    speaking: tuple[str, ...] = ()
    streaks: Map[str, int] = Map()
    unreached: Map[str, int] = Map()
    waiting: Map[str, str] = Map()
    answered: frozenset[str] = frozenset()
    failed_turns: int = 0
    usage: Usage = Usage()
    sessions: int = 0
    uncounted: bool = False
    spent: bool = False
    late: bool = False
    synthesis: ChatTurn | None = None

    @property
    def sent_count(self) -> int:
        """Messages of agents: the opening is not among them."""
        return len(self.messages) - 1

    @property
    def bound(self) -> ChatEnd | None:
        """Which budget is used up; then those who speak now are the last."""
        if self.sent_count >= self.chat.messages:
            return ChatEnd.MESSAGES
        return ChatEnd.TOKENS if self.spent or self.usage.tokens >= self.chat.tokens else None

    @property
    def end(self) -> ChatEnd:
        """Why it is over where nobody speaks any more."""
        if self.synthesis:
            return ChatEnd.SYNTHESIS
        if self.late:
            return ChatEnd.TTL
        return self.bound or (ChatEnd.QUIET if self.answered else ChatEnd.FAILED)

    def inbox(self, agent: str) -> Iterator[ChatMessage]:
        """The unread messages of an agent, in order."""
        for number in range(self.oldest.get(agent, len(self.messages) + 1), len(self.messages) + 1):
            if agent in self.chat.readers(message := self.messages[number]):
                yield message

    def all_turns(self) -> tuple[ChatTurn, ...]:
        """Every turn, in order; what nobody ended was interrupted."""
        return (*(self.turns[number] for number in range(1, len(self.turns) + 1)), *_stopped(self.cut, _INTERRUPTED))


def next_speakers(
    oldest: Mapping[str, int], *, order: Sequence[str], speaking: Collection[str] = (), places: int = PLACES
) -> tuple[str, ...]:
    """The agents whose turn it is, at most as many as there are places left.

    The one whose oldest unread message is the oldest goes first, of equals the one that stands first in `order`. New
    messages are younger than all before them, and a turn reads from the oldest on: so whoever waits is overtaken only
    by messages that were there before, and nobody starves.

    Args:
        oldest: the number of the oldest unread message, by agent; who has none is left out.
        order: every agent.
        speaking: agents at a turn now: nobody has two at once.
        places: how many may speak at a time.
    """
    waiting = [agent for agent in order if agent in oldest and agent not in speaking]
    return tuple(sorted(waiting, key=oldest.__getitem__)[: max(0, places - len(speaking))])


def resumed(state: State) -> State:
    """The state in a new session: unfinished turns are taken again, and every endpoint is tried again."""
    state = _ended(replace(state, cut=(), speaking=()), _stopped(state.cut, _INTERRUPTED))
    sessions = state.sessions + 1
    return seated(replace(state, unreached=Map(), waiting=Map(), sessions=sessions, uncounted=sessions > 1))


def out_of_time(state: State) -> State:
    """Its time is over, which cut off who spoke."""
    return _ended(replace(state, late=True, speaking=(), cut=()), _stopped(state.cut, _TIME_UP))


def seated(state: State) -> State:
    """The state with as many speaking agents as are allowed, while the chat runs."""
    if state.uncounted or state.late or state.synthesis or state.bound:
        return state
    can_read = {agent: number for agent, number in state.oldest.items() if agent not in state.waiting}
    more = next_speakers(can_read, order=state.chat.names, speaking=state.speaking)
    return replace(state, speaking=(*state.speaking, *more)) if more else state


def taken(state: State, turn: ChatTurn) -> State:
    """After a turn.

    Raises:
        IllegalMove: that agent is at none.
    """
    if not (state.synthesis or turn.agent in state.speaking):
        raise IllegalMove(f"{turn.agent} is at no turn in the chat {state.chat.id}.")
    speaking = tuple(name for name in state.speaking if name != turn.agent)
    state = replace(state, speaking=speaking, usage=state.usage + turn.usage)
    if state.synthesis:
        return _ended(state, _stopped([_unsent(turn)], f"{state.synthesis.agent} ended the chat"))
    if turn.cut and not turn.stopped:
        return seated(replace(state, cut=(*state.cut, turn)))
    gave_up = _gives_up(state, turn)
    turn, drafts = turn.model_copy(update={"gave_up": gave_up, "said": ()}), turn.said
    state = _counted(_ended(state, [turn]), turn)
    state = _read(state, turn) if turn.has_read else state
    for draft in drafts:
        state = sent(state, draft, turn.began_at + turn.seconds)
    return replace(state, speaking=(), synthesis=turn) if turn.summary else seated(state)


def _unsent(turn: ChatTurn) -> ChatTurn:
    """The turn that came to its end together with the chat, or just after it: nobody was sent what it said."""
    nothing = {"read": (), "said": (), "failed": "", "unreachable": False, "summary": ""}
    return turn if turn.cut else turn.model_copy(update={**nothing, "cut": True, "unsent": turn.said})


def _stopped(turns: Iterable[ChatTurn], why: str) -> tuple[ChatTurn, ...]:
    return tuple(turn.model_copy(update={"stopped": why}) for turn in turns)


def _ended(state: State, turns: Iterable[ChatTurn]) -> State:
    """With turns that are over."""
    known = state.turns
    for turn in turns:
        known = known.set(len(known) + 1, turn)
    return replace(state, turns=known)


def _gives_up(state: State, turn: ChatTurn) -> bool:
    """Whether the chat goes on without what a failed turn did not read.

    An endpoint that never answered this agent, and does answer others, is the agent's own failing. Every other
    endpoint is waited for.
    """
    agent = turn.agent
    if turn.unreachable:
        broken = bool(state.answered) and agent not in state.answered
        return broken and state.unreached.get(agent, 0) + 1 >= _TRIES
    return bool(turn.failed) and state.streaks.get(agent, 0) + 1 >= _TRIES


def _counted(state: State, turn: ChatTurn) -> State:
    """With the failures in a row of an agent, or with none any more."""
    agent = turn.agent
    if turn.cut:
        return replace(state, spent=True)
    if not turn.failed:  # there is an endpoint that answers: the others are asked again
        streaks = state.streaks.delete(agent) if agent in state.streaks else state.streaks
        unreached = state.unreached.delete(agent) if agent in state.unreached else state.unreached
        return replace(state, streaks=streaks, unreached=unreached, waiting=Map(), answered=state.answered | {agent})
    state = replace(state, failed_turns=state.failed_turns + 1)
    if not turn.unreachable:
        return replace(state, streaks=state.streaks.set(agent, state.streaks.get(agent, 0) + 1))
    times = state.unreached.get(agent, 0) + 1
    waits = times >= _TRIES and not turn.gave_up
    waiting = state.waiting.set(agent, turn.failed) if waits else state.waiting
    return replace(state, unreached=state.unreached.set(agent, times), waiting=waiting)


def _read(state: State, turn: ChatTurn) -> State:
    """With what a turn was shown marked as read."""
    agent, last = turn.agent, turn.read[-1] if turn.read else 0
    if not last:
        return state
    numbers = range(last + 1, len(state.messages) + 1)
    left = next((number for number in numbers if agent in state.chat.readers(state.messages[number])), 0)
    oldest = state.oldest.set(agent, left) if left else state.oldest.delete(agent)
    return replace(state, oldest=oldest, past=_remembered(state.past, agent, turn.read))


def sent(state: State, draft: Draft, at: float) -> State:
    """With a message under the next number, delivered to whom it is for; the moderator sees every one."""
    number, oldest = len(state.messages) + 1, state.oldest
    message = ChatMessage.model_construct(number=number, at=at, **dict(draft))
    for reader in state.chat.readers(draft):
        if reader not in oldest:
            oldest = oldest.set(reader, number)
    past = _remembered(state.past, draft.sender, (number,))
    return replace(state, messages=state.messages.set(number, message), oldest=oldest, past=past)


def _remembered(past: Map[str, tuple[int, ...]], agent: str, more: Sequence[int]) -> Map[str, tuple[int, ...]]:
    return past.set(agent, tuple(sorted({*past.get(agent, ()), *more})[-WINDOW:]))
