"""Executes a dispatch: tasks singly, in parallel, in a chain, or as a debate.

Nobody writes: a participant is offered tools that read, and no others.
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

from swarmgate.agents.briefs.brief import cut
from swarmgate.agents.context import AgentContext
from swarmgate.config import SPEAKING
from swarmgate.council.context import CouncilContext
from swarmgate.council.debate import rules as debates
from swarmgate.council.debate.model import DISPATCH, PART, Debate, Round
from swarmgate.council.debate.steps import DEBATING
from swarmgate.council.dispatch.model import (
    PREVIOUS,
    Debated,
    Dispatch,
    DispatchedReply,
    DispatchResult,
    DispatchTask,
    Means,
    Mode,
    Tried,
)
from swarmgate.council.dispatch.request import in_words
from swarmgate.council.dispatch.rules import DispatchRules, DispatchState, GiveUp, Hold, Try
from swarmgate.council.dispatch.task_answer import LEAST_ROOM, answer, room_of
from swarmgate.council.participants.call_recorder import with_recorder
from swarmgate.council.pattern import Pattern, Where
from swarmgate.council.run import run
from swarmgate.domain.base import Frozen
from swarmgate.domain.usage import Usage
from swarmgate.errors import (
    BudgetExhausted,
    CouncilFailed,
    CouncilRefused,
    MissingRequirement,
    ModelError,
    UsageError,
)
from swarmgate.llm.limits.worktime import WorkTime

MOST_OUTPUT = 40_000
"""Characters of one output that are kept."""


class Dispatching(DispatchRules, Pattern[Dispatch, DispatchState, DispatchResult]):
    """A dispatch that is worked on; `own` of its context is its `Means`."""

    def check(self, request: Dispatch, context: CouncilContext, where: Where) -> None:
        """Insists that every participant can be had, and reads its task whole."""
        for number in range(1, len(request.tasks) + 1):
            _agent(number, request, context, where)
        if request.mode is Mode.DEBATE:
            DEBATING.check(_debate(request, context), replace(context, own={}), lambda _: "")

    def needs(self, request: Dispatch, context: CouncilContext) -> int:
        """Of a debate the prompts of its round 1."""
        return DEBATING.needs(_debate(request, context), context) if request.mode is Mode.DEBATE else 0

    async def do(self, step: Hashable, state: DispatchState, context: CouncilContext) -> Sequence[Frozen]:
        """Tries one task once, or has all of them debated.

        Raises:
            CouncilFailed: no task has an output, or there is no outcome of the debate.
            BudgetExhausted: it was used up before any task had an output.
        """
        match step:
            case Try():
                return [await _tried(step, state, context)]
            case Hold():
                return [await _debated(state, context)]
            case GiveUp() if step.exhausted:
                raise BudgetExhausted(step.why, account=step.account, hint=step.hint)
            case GiveUp():
                raise CouncilFailed(step.why, hint=step.hint)
        raise ValueError(f"{step!r} is no step of a dispatch")


DISPATCHING = Dispatching()
"""The pattern."""


async def _tried(step: Try, state: DispatchState, context: CouncilContext) -> Tried:
    """What a participant answers; its failure is its own."""
    asked, number = state.asked, step.number
    if state.exhausted:
        return Tried(number=number, not_run=state.exhausted, exhausted=True, account=state.account)
    task, began, own = asked.tasks[number - 1], time.monotonic(), _means(context)
    agent, recorder = with_recorder(context.contexts.agent(own.seats[number - 1]))
    before = state.reply(number - 1).text if asked.mode is Mode.CHAIN and number > 1 else ""
    found: dict[str, Any] = {"model": agent.model.name}
    within_s = task.timeout_s or own.bounds.timeout_s
    try:
        async with WorkTime().limited(within_s):
            ending = await answer(agent, task, before)
        text = cut(ending.value, MOST_OUTPUT, "")
        found |= {"text": text, "cut": len(ending.value) - len(text), "model": ending.model}
    except BudgetExhausted as error:
        found |= {"failed" if recorder.usage.calls else "not_run": error.message}
        found |= {"exhausted": True, "account": error.account}
    except TimeoutError:
        found |= {"failed": f"no answer within {within_s:g} s", "again": True}
    except (ModelError, MissingRequirement) as error:
        found |= {"failed": error.message, "again": isinstance(error, ModelError)}
    seconds = round(time.monotonic() - began, 3)
    return Tried(number=number, usage=recorder.usage, prompt_hash=recorder.prompt_hash, seconds=seconds, **found)


async def _debated(state: DispatchState, context: CouncilContext) -> Debated:
    """The tasks as the seats of a debate, in a record of its own; a reply is what its seat said in the last round."""
    asked = state.asked
    record = context.records.begin(DEBATING, _debate(asked, context), part_of=asked.id)
    outcome, ended = None, dict[str, Any]()
    try:
        outcome = await run(DEBATING, record, replace(context, own={}))
    except BudgetExhausted as error:
        ended = {"failed": error.message, "exhausted": True, "account": error.account}
    except CouncilFailed as error:
        way = f"Go on with: swarm debate resume {asked.id}"
        ended = {"failed": error.message, "hint": ". ".join(filter(None, (error.hint, way)))}
    rounds = debates.RULES.record(record.standing).rounds
    used = record.standing.usage - state.counted
    return Debated(replies=_replies(asked.tasks, rounds), outcome=outcome, usage=used, **ended)


def _debate(asked: Dispatch, context: CouncilContext) -> Debate:
    """The debate of a dispatch: as it was begun, or as the settings have it now."""
    name, (seats, bounds) = f"{asked.id}.{PART}", _means(context)
    if context.records.documents.names(name):
        return context.records.open(DEBATING, name).request
    briefs = {task.name: "" if task.text == asked.question else task.text for task in asked.tasks}
    return Debate(
        id=name,
        question=asked.question,
        seats=tuple(seat.model_copy(update={"brief": briefs[seat.id]}) for seat in seats),
        rounds=asked.rounds,
        order=bounds.order,
        tokens=bounds.tokens,
        timeout_s=bounds.timeout_s,
        similarity=bounds.similarity,
        about=DISPATCH,
    )


def _means(context: CouncilContext) -> Means:
    own: Means = context.own
    return own


def _agent(number: int, asked: Dispatch, context: CouncilContext, where: Where) -> AgentContext:
    """The agent context of a task's participant.

    Raises:
        CouncilRefused: it cannot be had, or the text does not fit its window.
    """
    task, seat = asked.tasks[number - 1], _means(context).seats[number - 1]

    def begins(key: str) -> str:
        return where((number, key)) or in_words(number, key)

    try:
        agent = context.contexts.agent(seat)
    except UsageError as error:
        key = "folder" if seat.folder and "folder" in error.message else "model"
        raise CouncilRefused(f"{begins(key)}{task.name}: {error.message}", hint=error.hint) from error
    except MissingRequirement as error:
        message, hint = error.message, error.hint
        if seat.role in SPEAKING and not task.model:  # its model is that of the role, which the settings name
            named = {"`participant`": f"`{seat.role}`", "[roles.participant]": f"[roles.{seat.role}]"}
            for ours, theirs in named.items():
                message, hint = message.replace(ours, theirs), hint.replace(ours, theirs)
        raise MissingRequirement(f"{begins('model')}{task.name}: {message}", hint=hint) from error
    most = agent.limits.section_chars // 2
    if len(task.text) > most:
        raise CouncilRefused(
            f"{begins('text')}{task.name}: `text` has {len(task.text):,} characters, {agent.model.name} "
            f"takes {most:,} at most",
            hint="Put what is long into a file of the repository and name that: voices read files.",
        )
    if PREVIOUS in task.text and room_of(task, agent.limits.section_chars) < LEAST_ROOM:
        raise CouncilRefused(
            f"{begins('text')}{task.name}: `{PREVIOUS}` stands {task.text.count(PREVIOUS):,} times in "
            f"`text`: that leaves less than {LEAST_ROOM} characters for each",
            hint="Name it once: the output before also stands in a section of its own.",
        )
    return agent


def _replies(tasks: Sequence[DispatchTask], rounds: Sequence[Round]) -> tuple[DispatchedReply, ...]:
    """What each participant of a debate said in its last round; nothing where none is whole."""
    if not rounds:
        return ()
    spoken = [speech for each in rounds for speech in each.speeches]
    last = {speech.seat: speech for speech in rounds[-1].speeches}
    return tuple(
        DispatchedReply(
            number=number,
            name=task.name,
            tries=1,
            usage=sum((speech.usage for speech in spoken if speech.seat == task.name), Usage()),
            seconds=sum(speech.seconds for speech in spoken if speech.seat == task.name),
            **{name: getattr(last[task.name], name) for name in ("text", "failed", "model", "prompt_hash", "cut")},
        )
        for number, task in enumerate(tasks, start=1)
    )
