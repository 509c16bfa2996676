"""Questions of agents in the middle of a task: puts them on record, goes on with answers, and declines for nobody."""

from __future__ import annotations

from pydantic import ValidationError

from swarmgate.agents.ask_user import Asked, Asking, with_answer
from swarmgate.domain.base import Frozen
from swarmgate.domain.events.event import Event, QuestionAnswered, TaskQuestionAsked
from swarmgate.domain.guard import Effect, GuardNote
from swarmgate.domain.next_step import question_at_work
from swarmgate.domain.state.state import State
from swarmgate.engine.context import Context
from swarmgate.ledger.files import conversations
from swarmgate.llm.model import Message, ToolCall

RULE = "ask_user"


class _Stored(Frozen):
    """A conversation that waits for an answer, which belongs to one of its calls."""

    messages: tuple[Message, ...]
    call: str


def asking(state: State, ctx: Context, task: str, role: str, step: str) -> Asking:
    """What a role may ask in the turn that begins now, and the conversation that it goes on with."""
    settings = ctx.config.ask
    left = settings.per_task - len(state.asked_about(task))

    def refused(question: str) -> None:
        detail = f"a question beyond the {settings.per_task} of [ask] per_task was refused: {ctx.redact(question)}"
        ctx.reports.append(GuardNote(rule=RULE, effect=Effect.REFUSED, detail=detail, role=role, step=step))

    return Asking(
        allowed=settings.allowed(role),
        left=max(left, 0),
        most=settings.per_task,
        resumed=_resumed(state, ctx, task, step),
        refused=refused,
    )


def _resumed(state: State, ctx: Context, task: str, step: str) -> tuple[Message, ...]:
    """The conversation that stood at a question, with the answer in it; empty where there is none."""
    question = state.task(task).question
    if question is None or question.step != step or not question.settled:
        return ()
    try:
        stored = _Stored.model_validate_json(conversations.read(ctx.folder, question.conversation))
    except ValidationError:
        ctx.notify("notice", f"the conversation of question {question.number} is not here: the turn begins again")
        return ()
    return with_answer(stored.messages, stored.call, question)


def asked(ctx: Context, task: str, attempt: int, role: str, step: str, found: Asked, *, tree: str = "") -> Event:
    """The question on record; the conversation is kept first, so that the event never names one that is not there."""
    clean, question = ctx.redact, found.question
    stored = _Stored(messages=tuple(_clean(ctx, each) for each in found.conversation), call=found.call)
    return TaskQuestionAsked(
        task=task,
        attempt=attempt,
        role=role,
        step=step,
        question=clean(question.question),
        options=tuple(map(clean, question.options)),
        why=clean(question.why),
        assumption=clean(question.assumption),
        tree=tree,
        conversation=conversations.keep(ctx.folder, stored.model_dump_json(exclude_defaults=True)),
    )


def _clean(ctx: Context, message: Message) -> Message:
    """The message without keys; opaque fields that hold what looks like one are left out, for they may not change."""

    def untouched(text: str) -> str:
        return text if ctx.redact(text) == text else ""

    calls = tuple(
        ToolCall(
            id=call.id,
            name=call.name,
            arguments=ctx.redact(call.arguments),
            replaced=call.replaced,
            opaque=untouched(call.opaque),
        )
        for call in message.tool_calls
    )
    update = {"content": ctx.redact(message.content), "tool_calls": calls, "opaque": untouched(message.opaque)}
    return message.model_copy(update=update)


async def decline(state: State, ctx: Context) -> list[Event]:
    """Leaves the question to the agent's own judgement: nobody is there to answer, and the user wants no wait."""
    question = question_at_work(state)
    if question is None:
        raise ValueError("no question waits for an answer")
    ctx.notify("notice", f"question {question.number} is declined: nobody is there ([ask] wait = false)")
    return [QuestionAnswered(number=question.number, answer="", declined=True)]
