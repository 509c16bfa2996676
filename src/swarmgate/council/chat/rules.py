"""Rules of the swarm chat pattern: the fold of its record, the steps that are due, and its outcome."""

# ruff: noqa: ARG002 - a chat looks at less than a pattern may
from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from swarmgate.council.chat import view
from swarmgate.council.chat.model import CallsLost, Chat, ChatEnd, ChatResult, ChatSummary, TurnTaken
from swarmgate.council.chat.state import State, out_of_time, resumed, seated, sent, taken
from swarmgate.council.records.lifecycle import Completed, Resumed, Standing, TimeUp
from swarmgate.council.records.rules import Rules
from swarmgate.council.views.events import CouncilEvent
from swarmgate.council.views.stream import Notice
from swarmgate.domain.base import Frozen
from swarmgate.errors import SwarmError


class TakeTurn(NamedTuple):
    """An agent reads its inbox, and says what it has to say."""

    agent: str


class CountCalls(NamedTuple):
    """What calls used of which no turn tells is counted."""


class StopUnreached(NamedTuple):
    """The session ends: nobody who has something to read can be reached."""


class ChatRules(Rules[Chat, State, ChatResult]):
    """What the record of a swarm chat means."""

    name, verb, request, events = "chat", "chat", Chat, (TurnTaken, CallsLost)
    adjustable = False

    def begin(self, request: Chat) -> State:
        """With its opening delivered."""
        return sent(State(request), request.opening, request.created_at)

    def apply(self, state: State, event: Frozen) -> State:
        """The state after one more event; who speaks now is a part of it."""
        match event:
            case Resumed():
                return resumed(state)
            case TimeUp():
                return out_of_time(state)
            case CallsLost():
                return seated(replace(state, usage=state.usage + event.usage, uncounted=False))
            case TurnTaken():
                return taken(state, event.turn)
        return state

    def next(self, state: State) -> Sequence[Hashable]:
        """The turns that are under way; those who speak when a budget is used up are the last."""
        if state.uncounted:
            return (CountCalls(),)
        if state.speaking:
            return tuple(map(TakeTurn, state.speaking))
        over = state.late or state.synthesis or state.bound or not state.waiting
        return () if over else (StopUnreached(),)

    def ends_at(self, state: State) -> float | None:
        """When its time is over, whether a process is at it or not."""
        return state.chat.created_at + state.chat.ttl_s

    def outcome(self, standing: Standing[State]) -> ChatResult | None:
        """How it ended."""
        if not standing.over:
            return None
        state, ended = standing.own, datetime.fromisoformat(standing.newest_at).timestamp()
        names = ", ".join(sorted(state.streaks)) or "every agent that was asked"
        return ChatResult(
            id=state.chat.id,
            end=state.end,
            summary=state.synthesis.summary if state.synthesis else "",
            by=state.synthesis.agent if state.synthesis else "",
            why=f"{names} failed" if state.end is ChatEnd.FAILED else "",
            messages=state.sent_count,
            turns=len(state.turns) + len(state.cut),
            failed_turns=state.failed_turns,
            usage=state.usage,
            ended_at=ended,
            seconds=max(0.0, round(ended - state.chat.created_at, 3)),
        )

    def row(self, standing: Standing[State]) -> ChatSummary:
        """The row of a chat: how it ended, the number of messages, and the agents."""
        return view.summary(standing.own, self.outcome(standing))

    def damaged(self, id: str, began: str, why: str) -> ChatSummary:  # noqa: A002 - the field's name
        """What is damaged has a place of its own."""
        return ChatSummary(id=id, damaged=why)

    def measures(self, standing: Standing[State]) -> Mapping[str, object]:
        """How long it lasted, whether a process was at it or not; one that came to nothing has failed."""
        result = self.outcome(standing)
        if result is None:
            return {}
        return {"seconds": result.seconds, **({"status": "failed"} if result.end is ChatEnd.FAILED else {})}

    def progress_of_event(
        self, event: Frozen, before: Standing[State], after: Standing[State]
    ) -> Iterable[CouncilEvent]:
        """Progress events for new messages and for turns without one."""
        old, new = before.own, after.own
        common = {"pattern": self.name, "id": after.id}
        first = 1 if isinstance(event, Resumed) and new.sessions == 1 else len(old.messages) + 1
        for number in range(first, len(new.messages) + 1):
            yield Notice(**common, text=view.message_line(new.messages[number]))
        for number in range(len(old.turns) + 1, len(new.turns) + 1):
            turn = new.turns[number]
            if not isinstance(event, Resumed):
                kind, text = view.turn_line(turn, spoke=len(new.messages) > len(old.messages))
                yield Notice(**common, kind=kind, text=text, usage=turn.usage)
        if isinstance(event, Completed):
            yield Notice(**common, text=f"the chat is over: {new.end}")

    def progress_of_error(self, error: SwarmError, standing: Standing[State]) -> Iterable[CouncilEvent]:
        """Nothing: the command ends with that error."""
        return ()


RULES = ChatRules()
