"""A minimal council pattern for tests, in one file: a poll in which every participant answers once."""
# ruff: noqa: ARG002 - the toy looks at less than a pattern may

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, cast

from pydantic import Field

from swarmgate.council.context import CouncilContext
from swarmgate.council.participants.question import ask, brief_for
from swarmgate.council.pattern import Pattern, Where
from swarmgate.council.records.lifecycle import Standing
from swarmgate.council.views import stream
from swarmgate.council.views.events import CouncilEvent
from swarmgate.domain.base import Frozen, Line, Text
from swarmgate.domain.review.votes import Seat
from swarmgate.domain.usage import Usage


class Poll(Frozen):
    id: str
    question: Line
    who: tuple[str, ...] = Field(min_length=1)


class Answered(Frozen):
    type: Literal["answered"] = "answered"
    who: str
    text: Text
    usage: Usage = Usage()


class Result(Frozen):
    said: dict[str, str]


class Ask(NamedTuple):
    who: str


@dataclass(frozen=True)
class State:
    asked: Poll
    answers: tuple[Answered, ...] = ()


class Polling(Pattern[Poll, State, Result]):
    """Asks everybody at once."""

    name, verb, request, events = "poll", "poll", Poll, (Answered,)

    def begin(self, request: Poll) -> State:
        return State(request)

    def apply(self, state: State, event: Frozen) -> State:
        return replace(state, answers=(*state.answers, event)) if isinstance(event, Answered) else state

    def next(self, state: State) -> Sequence[Ask]:
        heard = {each.who for each in state.answers}
        return [Ask(who) for who in state.asked.who if who not in heard]

    def title(self, state: State) -> str:
        return state.asked.question

    def who(self, state: State) -> tuple[str, ...]:
        return state.asked.who

    def outcome(self, standing: Standing[State]) -> Result | None:
        return Result(said={each.who: each.text for each in standing.own.answers}) if standing.over else None

    def views(self, standing: Standing[State]) -> dict[str, str]:
        return {"answers.md": "".join(f"- {each.who}: {each.text}\n" for each in standing.own.answers)}

    def progress_of_event(
        self, event: Frozen, before: Standing[State], after: Standing[State]
    ) -> Iterable[CouncilEvent]:
        if isinstance(event, Answered):
            said = {"step": "ask", "who": event.who, "text": event.text, "usage": event.usage}
            yield stream.Contributed(pattern=self.name, id=after.id, number=1, **said)
        yield from super().progress_of_event(event, before, after)

    def check(self, request: Poll, context: CouncilContext, where: Where) -> None:
        del where
        for who in request.who:
            context.contexts.agent(Seat(id=who))

    async def do(self, step: Hashable, state: State, context: CouncilContext) -> Sequence[Frozen]:
        who = cast("Ask", step).who
        heard = await ask(context.contexts.agent(Seat(id=who)), brief_for(who, "dispatch", 1), read=str)
        return [Answered(who=who, text=heard.value or heard.failed, usage=heard.usage)]


POLL = Polling()
