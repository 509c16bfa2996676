"""One turn of one role: ask the model, carry out the tools that it calls, until one of them ends the turn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from swarmgate.agents.arguments import Arguments
from swarmgate.agents.brief import Brief, cut, legible, one_line
from swarmgate.agents.desk import Desk, Limits, ToolUse
from swarmgate.agents.toolbox import Handler
from swarmgate.agents.tools import BadCall, Tool, offered, read_call
from swarmgate.errors import NoUsableReply, UsageError
from swarmgate.llm.model import TOO_LONG, Message, ModelReply, ModelRequest, ToolCall

T = TypeVar("T")

_KEPT = 2_000
"""Characters that stay in the conversation of a text that was no use."""

_NOT_DONE = "Not carried out: "


class Refused(Exception):
    """What a tool was asked for breaks a rule; the message tells the model every broken rule. Bounded, see `Limits`."""


@dataclass(frozen=True)
class Ending(Generic[T]):
    """How a turn ended: what its last tool call comes to, and the `provider/model` that made it."""

    value: T
    model: str


async def take_turn(
    desk: Desk, brief: Brief, *, work: Mapping[str, Handler], endings: Mapping[str, Callable[[Any], T]]
) -> Ending[T]:
    """Let a role work at its brief until it ends the turn.

    Args:
        desk: the role's surroundings.
        brief: says role and step, and with that the prompt and the tools on offer.
        work: what each tool does that does not end the turn; may raise `Refused`.
        endings: for each tool that ends the turn, what its arguments come to; may raise `Refused`.

    Raises:
        NoUsableReply: too many unusable replies in a row, too many refusals, or too many calls (`desk.limits`).
        ModelError, BudgetExhausted: the model could not be asked.
        MissingRequirement: a tool needs a program that is not there.
    """
    tools = offered(brief.role, brief.step)
    system = Message(role="system", content=desk.prompts.render(brief.role, brief.step))
    conversation = [system, Message(role="user", content=brief.text(desk.guidance))]
    specs = tuple(tool.spec for tool in tools)
    hands = _Hands(desk, brief.role, tools, work, endings)
    strikes = _Strikes()
    for _ in range(desk.limits.max_turns):
        request = ModelRequest(messages=tuple(conversation), tools=specs, purpose=brief.purpose)
        reply = _with_own_ids(await desk.model.complete(request), conversation)
        done = await hands.carry_out(reply)
        if done.ending:
            return Ending(done.ending[0], reply.model or desk.model.name)
        strikes = strikes.after(done)
        if strikes.out(desk.limits):
            raise _gave_up(desk, brief, reply, f"gave no usable reply, the last problem being: {done.problem}")
        conversation += done.messages
    raise _gave_up(desk, brief, None, f"did not end its turn within {desk.limits.max_turns} model calls")


@dataclass(frozen=True)
class _Done(Generic[T]):
    """What became of a reply: the messages that answer it, whether any tool ran, what was wrong, the turn's end."""

    messages: tuple[Message, ...] = ()
    worked: bool = False
    refused: bool = False
    problem: str = ""
    ending: tuple[T] | None = None


@dataclass(frozen=True)
class _Strikes:
    """Unusable replies in a row, and refusals over the whole turn: a refused plan is not mended by reading on."""

    unusable: int = 0
    refused: int = 0

    def after(self, done: _Done[Any]) -> _Strikes:
        return _Strikes(0 if done.worked or done.refused else self.unusable + 1, self.refused + done.refused)

    def out(self, limits: Limits) -> bool:
        return max(self.unusable, self.refused) > limits.replies


@dataclass(frozen=True)
class _Hands(Generic[T]):
    """Carries out what replies ask for."""

    desk: Desk
    role: str
    tools: tuple[Tool, ...]
    work: Mapping[str, Handler]
    endings: Mapping[str, Callable[[Any], T]]

    async def carry_out(self, reply: ModelReply) -> _Done[T]:
        """Answer every tool call of the reply, in order, up to the one that ends the turn."""
        if problem := _problem_of(reply, self.tools):
            return _Done(_answers(reply, [problem] * len(reply.tool_calls), problem), problem=problem)
        done, results = _Done[T](), list[str]()
        for call in reply.tool_calls:
            try:
                tool, arguments = read_call(call, self.tools)
                if tool.ends:
                    ending = self.endings[tool.name](arguments)
                    self._tell(call, _summary(arguments))
                    return replace(done, ending=(ending,))
                result, failed = await self._use(tool.name, arguments)
                results.append(result)
                self._tell(call, _summary(arguments), result if failed else "")
                done = replace(done, worked=True)
            except BadCall as error:
                done = replace(done, problem=str(error))
                results.append(f"Error: {error}")
                self._tell(call, "", results[-1])
            except Refused as error:
                done = replace(done, refused=True, problem=str(error))
                results.append(f"Refused: {error}")
                self._tell(call, "", results[-1])
        return replace(done, messages=_answers(reply, results))

    def _tell(self, call: ToolCall, summary: str, problem: str = "") -> None:
        name = cut(one_line(call.name), 80, "...")  # a model may call anything a tool
        self.desk.on_tool(ToolUse(self.role, name, summary, cut(one_line(problem), 200, "...")))

    async def _use(self, name: str, arguments: Arguments) -> tuple[str, bool]:
        """Run a working tool; its result, and whether it failed: what a model can mend is a result too."""
        try:
            return await self.work[name](arguments), False
        except UsageError as error:
            return f"Error: {error.message}{f' ({error.hint})' if error.hint else ''}", True
        except (OSError, ValueError) as error:
            return f"Error: {name} failed: {error}", True


def _problem_of(reply: ModelReply, tools: tuple[Tool, ...]) -> str:
    """Why nothing of a reply can be carried out; empty when its calls can be looked at."""
    ends = [tool.name for tool in tools if tool.ends]
    how = f"Your tools: {', '.join(tool.name for tool in tools)}. End your turn with {' or '.join(ends)}."
    if reply.finish_reason in (TOO_LONG, "length"):
        return (
            f"{_NOT_DONE}the reply was cut off, it is too long. Give shorter ones: a big file in several edits. {how}"
        )
    ending = [call.name for call in reply.tool_calls if call.name in ends]
    if len(ending) > 1:
        return f"{_NOT_DONE}{' and '.join(ending)} in one reply. Your turn ends once: call one of them, one time. {how}"
    if reply.tool_calls:
        return ""
    said = "The reply is text without a tool call" if reply.text.strip() else "The reply is empty"
    return f"{said}; only tool calls count here. {how}"


def _answers(reply: ModelReply, results: list[str], problem: str = "") -> tuple[Message, ...]:
    """The reply and its results as messages; without a call the problem is told as the user's."""
    if not reply.tool_calls:
        said = cut(reply.text.strip(), _KEPT, " ...") or "(empty reply)"
        return Message(role="assistant", content=said), Message(role="user", content=legible(problem))
    answered = zip(reply.tool_calls, results, strict=True)
    return (
        Message(role="assistant", content=reply.text, tool_calls=reply.tool_calls),
        *(Message(role="tool", tool_call_id=call.id, content=legible(result)) for call, result in answered),
    )


def _with_own_ids(reply: ModelReply, conversation: list[Message]) -> ModelReply:
    """The reply, every id of a call unique in the conversation: some endpoints count anew in each reply."""
    used = {call.id for message in conversation for call in message.tool_calls}
    calls: list[ToolCall] = []
    for number, call in enumerate(reply.tool_calls):
        own = call.id if call.id and call.id not in used else f"{call.id or 'call'}_{len(conversation)}_{number}"
        used.add(own)
        calls.append(call.model_copy(update={"id": own}))
    return reply.model_copy(update={"tool_calls": tuple(calls)})


def _summary(arguments: Arguments) -> str:
    """The first argument, on one line."""
    values = iter(arguments.model_dump(mode="json", exclude_unset=True).values())
    return cut(one_line(str(next(values, ""))), 80, "...")


def _gave_up(desk: Desk, brief: Brief, reply: ModelReply | None, what: str) -> NoUsableReply:
    model = (reply.model if reply else "") or desk.model.name
    return NoUsableReply(
        f"{brief.role} ({brief.step}), model {model}: {what}",
        hint=f"the exchange is in .swarm/traces/; run again, or set another model in [roles.{brief.role}]",
    )
