"""Runs one turn of one role: asks the model, executes its tool calls, and repeats until a call ends the turn."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from swarmgate.agents.briefs.brief import Brief, cut, one_line
from swarmgate.agents.briefs.house_rules import sections
from swarmgate.agents.context import AgentContext, ToolUse
from swarmgate.agents.conversation.conversation import Talk, shortened
from swarmgate.agents.conversation.replies import answers, cut_off, is_text, problem_of, retraction, with_own_ids
from swarmgate.agents.conversation.tool_effect import UNKNOWN, Effected, ToolEffect
from swarmgate.agents.conversation.toolbox import Handler
from swarmgate.agents.guards.breakers import Watch
from swarmgate.agents.guards.unoffered_tools import UnofferedCalls
from swarmgate.agents.tools.arguments import Arguments
from swarmgate.agents.tools.tool_table import ASK, BadCall, Tool, offered, read_call
from swarmgate.domain.guard import Effect, GuardNote, LiveTurn, Turn
from swarmgate.domain.operations import Operation, operation
from swarmgate.errors import BreakerTripped, CommandRefused, UsageError
from swarmgate.llm.endpoint.wire import estimated_tokens
from swarmgate.llm.limits.worktime import WorkTime
from swarmgate.llm.model import Message, ModelReply, ModelRequest, ToolCall

T = TypeVar("T")

_OUTSIDE = ("delegate", "consult", "debate", "first_look", "synthesize")
"""Steps that name an attempt and do not end it: before it begins, and beside it."""

_LENGTH = 500
"""Characters of a note about repeated calls."""

_READ_ON = {
    "read_file": "call read_file with start_line and end_line",
    "list_files": "narrow the list with a glob",
    "search": "narrow the pattern or the glob",
    "run_command": "have the command print less, or into a file, and read that with read_file and start_line",
    "run_gates": "mend what is shown, then call it again",
}
_ASK_LESS = "ask for less at a time"

AWAITED = "Not known yet."
"""The result of the call that ended a turn, in a conversation that may be taken up again."""

_DROPPED = "Not carried out: the call before it ended the turn. Make it again if it is what you mean."


class Refused(Exception):
    """A tool call breaks a rule; the message names every broken one. `Limits.replies` bounds these."""


@dataclass(frozen=True)
class Ending(Generic[T]):
    """The end of a turn: the value of its last tool call, and the `provider/model` that made it.

    `conversation` is all of it, `call` the id of that call, whose result stands in the conversation as `AWAITED`.
    """

    value: T
    model: str
    conversation: tuple[Message, ...] = ()
    call: str = ""


async def take_turn(
    agent: AgentContext,
    brief: Brief,
    *,
    work: Mapping[str, Handler],
    endings: Mapping[str, Callable[[Any], T]],
    answer: Callable[[str], T] | None = None,
    form: type[Arguments] | None = None,
    resumed: Sequence[Message] = (),
) -> Ending[T]:
    """Let a role work at its brief until it ends the turn.

    Args:
        agent: the role's context.
        brief: says role and step, and with that the prompt and the tools on offer.
        work: what each tool does that does not end the turn; may raise `Refused`.
        endings: for each tool that ends the turn, what its arguments come to; may raise `Refused`.
        answer: what a reply in plain text comes to where that ends the turn; may raise `Refused`. None: only a tool
            call does.
        form: the schema of `submit_answer`; None: it is not on offer.
        resumed: the conversation that the turn goes on from; empty: it begins with the brief.

    Raises:
        BreakerTripped: the turn went past one of its bounds (`agent.limits`).
        ModelError, BudgetExhausted: the model could not be asked.
        MissingRequirement: a tool needs a program that is not there.
        SelfCodingBlocked: the architect called tools that write files once too often in this run.
    """
    brief = replace(brief, opening=agent.opening(brief))
    tools = offered(brief.role, brief.step, form, asks=ASK in endings)
    system = "\n\n".join(filter(None, (agent.prompts.render(brief.role, brief.step), agent.persona)))
    inside = "\n\n".join(filter(None, (agent.prompts.render(brief.role, brief.step, program=True), agent.persona)))
    text = brief.text(sections(agent.house_rules(brief.files)), section=agent.limits.section_chars)
    talk = Talk(system, text, tools, agent.limits.context_tokens)
    talk.messages = [*resumed] or talk.messages
    worked = WorkTime()
    watch = _watch(agent, brief, worked)
    unoffered = UnofferedCalls(brief, on_guard=agent.on_guard, self_coding=agent.self_coding())
    hands = _Hands(agent, brief, tools, work, endings, answer, watch, unoffered, worked)
    tripped = ""
    try:
        with operation(Operation.AGENT, brief.role, model=agent.model.name, **brief.purpose):
            return await _in_time(agent, brief, hands, talk, worked, inside)
    except BreakerTripped as error:
        tripped = error.breaker
        _warned(agent, brief, watch)
        ended = Effect.STOPPED if brief.step in _OUTSIDE or not brief.attempt else Effect.REJECTED
        _note(agent, brief, ended, f"{error.breaker}: {error.message}")
        raise
    finally:
        try:
            await agent.end_turn()
        finally:
            _over(agent, brief, watch, talk, tripped)


def _over(agent: AgentContext, brief: Brief, watch: Watch, talk: Talk, tripped: str) -> None:
    """Reports the measurements of the turn, and what was noticed in it."""
    agent.on_count(None)
    if not tripped:
        _warned(agent, brief, watch)
    _replayed(agent, brief, watch)
    spared = agent.prompts.saved(brief.role, brief.step) * watch.calls
    agent.on_turn(_turn(brief, watch, talk, tripped).model_copy(update={"prompt_tokens_saved": spared}))


def _watch(agent: AgentContext, brief: Brief, worked: WorkTime) -> Watch:
    def version(path: str) -> object:
        try:
            found = (agent.files.root / path).stat()
        except (OSError, ValueError):
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino

    limits = agent.limits
    return Watch(
        who=f"{brief.role} ({brief.step})",
        role=brief.role,
        bounds=limits.bounds,
        replies=limits.replies,
        max_turns=limits.max_turns,
        version=version,
        model=agent.model.name,
        clock=worked,
    )


async def _in_time(
    agent: AgentContext, brief: Brief, hands: _Hands[T], talk: Talk, worked: WorkTime, message: str
) -> Ending[T]:
    """Runs the turn under its wall time, which also ends hanging calls; waits for limits do not count."""
    try:
        async with worked.limited(agent.limits.bounds.wall_time_s, on_change=hands.report_counts):
            return await _until_its_end(agent, brief, hands, hands.watch, talk, message)
    except TimeoutError:
        if worked.expired:
            hands.watch.out_of_time()
        raise


async def _until_its_end(
    agent: AgentContext, brief: Brief, hands: _Hands[T], watch: Watch, talk: Talk, message: str
) -> Ending[T]:
    purpose = {**brief.purpose, "brief_tokens": str(talk.brief_tokens)}
    while True:
        messages = talk.fitted()
        watch.before_reply(dropped=talk.dropped)
        hands.report_counts()
        request = ModelRequest(
            messages=messages, tools=talk.specs, purpose=purpose, call_due=hands.answer is None, instructions=message
        )
        reply = with_own_ids(await _asked(agent, request), talk.messages)
        watch.replied(
            model=reply.model,
            tokens=reply.usage.tokens,
            thinking=estimated_tokens(len(reply.thought)),
            replayed=reply.replayed,
        )
        _noticed(agent, brief, reply, watch.model)
        done = await hands.carry_out(reply)
        if done.ending:
            whole = (*talk.messages, *done.messages)
            return Ending(done.ending[0], reply.model or agent.model.name, whole, done.call)
        usable, idle = done.worked or done.refused, not reply.tool_calls and not cut_off(reply)
        watch.after_reply(usable=usable, refused=done.refused, idle=idle, problem=done.problem)
        talk.messages += done.messages


async def _asked(agent: AgentContext, request: ModelRequest) -> ModelReply:
    """Asks the model."""
    with operation(Operation.MODEL, agent.model.name, asked=request.messages[-1].content) as note:
        reply = await agent.model.complete(request)
        used = reply.usage
        note(
            {
                "model": reply.model,
                "said": reply.text,
                "prompt": used.prompt_tokens,
                "completion": used.completion_tokens,
            }
        )
        return reply


def _noticed(agent: AgentContext, brief: Brief, reply: ModelReply, model: str) -> None:
    """Records the repairs that were made to a malformed reply."""
    about: dict[str, Any] = {"effect": Effect.NOTED, "role": brief.role, "step": brief.step}
    if reply.halves:
        message = f"{reply.halves} halves of characters in an answer of {model}: U+FFFD stands for each"
        agent.on_guard(GuardNote(rule="unicode", detail=message, **about))
    for each in reply.repaired:
        agent.on_guard(GuardNote(rule="repaired", detail=cut(one_line(each), _LENGTH, "..."), **about))


@dataclass(frozen=True)
class _Done(Generic[T]):
    """The outcome of a reply: its answers, whether a tool ran, the problem, the turn's end and its call."""

    messages: tuple[Message, ...] = ()
    worked: bool = False
    refused: bool = False
    problem: str = ""
    ending: tuple[T] | None = None
    call: str = ""


@dataclass(frozen=True)
class _Hands(Generic[T]):
    """Executes the tool calls of replies."""

    agent: AgentContext
    brief: Brief
    tools: tuple[Tool, ...]
    work: Mapping[str, Handler]
    endings: Mapping[str, Callable[[Any], T]]
    answer: Callable[[str], T] | None
    watch: Watch
    unoffered: UnofferedCalls
    worked: WorkTime
    given: set[str] = field(default_factory=set)

    async def carry_out(self, reply: ModelReply) -> _Done[T]:
        """Answer every tool call of the reply, in order, up to the one that ends the turn."""
        if words := reply.text.strip():
            self.agent.on_words(self.brief.role, words)
        if self.answer is not None and is_text(reply):
            try:
                return _Done(ending=(self.answer(reply.text.strip()),))
            except Refused as error:
                return _Done(answers(reply, [], str(error)), refused=True, problem=str(error))
        if problem := problem_of(reply, self.tools) or retraction(reply, self.tools, self.given):
            return _Done(answers(reply, [problem] * len(reply.tool_calls), problem), problem=problem)
        done, results = _Done[T](), list[str]()
        for call in reply.tool_calls:
            try:
                tool, arguments = read_call(call, self.tools)
                if tool.ends:
                    ending = self.endings[tool.name](arguments)
                    self._report(call, _summary(arguments))
                    rest = [AWAITED, *[_DROPPED] * (len(reply.tool_calls) - len(results) - 1)]
                    return replace(done, ending=(ending,), call=call.id, messages=answers(reply, [*results, *rest]))
                results.append(await self._use(call, tool.name, arguments))
                done = replace(done, worked=True)
            except BadCall as error:
                problem = self.unoffered.refusal(call, str(error))
                self.watch.bad_call(call, problem)
                done = replace(done, problem=problem)
                results.append(f"Error: {problem}")
                self._report(call, "", results[-1])
            except Refused as error:
                self.watch.refused_call(call, str(error))
                done = replace(done, refused=True, problem=str(error))
                results.append(f"Refused: {error}")
                self._report(call, "", results[-1])
        return replace(done, messages=answers(reply, results))

    def _report(self, call: ToolCall, summary: str, problem: str = "", effect: Effected = UNKNOWN) -> None:
        name = cut(one_line(call.name), 80, "...")  # a model may call anything a tool
        why = cut(one_line(problem), 200, "...")
        failed = bool(problem) or effect.failed
        self.agent.on_tool(ToolUse(self.brief.role, name, summary, why, effect.outcome, effect.detail, failed))

    def report_counts(self) -> None:
        """Publishes the breaker counts, for `swarm status` in another process."""
        brief, watch = self.brief, self.watch
        self.agent.on_count(
            LiveTurn(
                role=brief.role,
                step=brief.step,
                task=brief.task,
                attempt=brief.attempt,
                began=time.time() - watch.seconds,
                stands=self.worked.stands,
                breakers=watch.counts,
            )
        )

    async def _use(self, call: ToolCall, name: str, arguments: Arguments) -> str:
        """Run a working tool and report it; its result: what a model can mend is one too."""
        warning = self.watch.before_call(call)
        self.report_counts()
        failed, refused_by, shown = True, "", ToolEffect(self.agent.files, name, arguments)
        try:
            with operation(Operation.TOOL, name, call=call.id, arguments=call.arguments):
                result = await self.work[name](arguments)
            failed = False
        except CommandRefused as error:
            result, refused_by = f"Error: {error.message}", error.rule
        except UsageError as error:
            result = f"Error: {error.message}{f' ({error.hint})' if error.hint else ''}"
        except (OSError, ValueError) as error:
            result = f"Error: {name} failed: {error}"
        again = self.watch.after_call(call, result, failed=failed, refused_by=refused_by)
        rendered = shortened(result, self.agent.limits.result_chars, _READ_ON.get(name, _ASK_LESS))
        answer = "\n".join(filter(None, (rendered, warning or again)))
        self._report(call, _summary(arguments), answer if failed else "", UNKNOWN if failed else shown.after(result))
        return answer


def _summary(arguments: Arguments) -> str:
    """The first argument, on one line."""
    values = iter(arguments.model_dump(mode="json", exclude_unset=True).values())
    return cut(one_line(str(next(values, ""))), 80, "...")


def _note(agent: AgentContext, brief: Brief, effect: Effect, detail: str, count: int = 1) -> None:
    agent.on_guard(
        GuardNote(
            rule="breaker",
            effect=effect,
            detail=detail,
            role=brief.role,
            step=brief.step,
            attempt=brief.attempt,
            count=count,
        )
    )


def _warned(agent: AgentContext, brief: Brief, watch: Watch) -> None:
    if watch.warned:
        message = "; ".join(f"{times} times {call}" for call, times in watch.warned.items())
        _note(agent, brief, Effect.WARNED, f"repeats: {cut(message, _LENGTH, '...')}", len(watch.warned))


def _replayed(agent: AgentContext, brief: Brief, watch: Watch) -> None:
    if watch.replayed:
        message = (
            f"{watch.replayed} finished calls of the turn that was cut short came from the record, and cost nothing"
        )
        agent.on_guard(
            GuardNote(rule="replayed", effect=Effect.NOTED, detail=message, role=brief.role, step=brief.step)
        )


def _turn(brief: Brief, watch: Watch, talk: Talk, tripped: str) -> Turn:
    return Turn(
        role=brief.role,
        step=brief.step,
        attempt=brief.attempt,
        model=watch.model,
        calls=watch.calls,
        tool_calls=watch.tool_calls,
        errors=watch.errors,
        repeats=watch.repeats,
        rereads=watch.rereads,
        dropped=talk.dropped,
        brief_tokens=talk.brief_tokens,
        tokens=watch.tokens,
        thinking=watch.thinking,
        seconds=watch.seconds,
        tripped=tripped,
    )
