"""Says what is wrong with a model's reply, and builds the messages that answer a reply, good or bad."""

from __future__ import annotations

from swarmgate.agents.briefs import role_markers
from swarmgate.agents.briefs.brief import cut, legible, one_line
from swarmgate.agents.tools.arguments import SubmitVerdict
from swarmgate.agents.tools.tool_table import Tool
from swarmgate.llm.model import REPEATS, TOO_LONG, Message, ModelReply, ToolCall

_STORED = 2_000
"""Characters that stay in the conversation of a text that was no use."""

_QUOTED = 120
"""Characters that are quoted of words behind a call."""

_NOT_DONE = "Not carried out: "


def is_text(reply: ModelReply) -> bool:
    """Whether a reply is a whole text and nothing else."""
    return bool(reply.text.strip()) and not reply.tool_calls and not reply.doubt and not cut_off(reply)


def cut_off(reply: ModelReply) -> bool:
    """Whether the endpoint or we ended the reply before it was whole."""
    return reply.finish_reason in (TOO_LONG, REPEATS, "length")


def problem_of(reply: ModelReply, tools: tuple[Tool, ...]) -> str:
    """Why nothing of a reply can be carried out; empty when its calls can be looked at."""
    ends = [tool.name for tool in tools if tool.ends]
    end = " or ".join(ends) or "your answer as text"
    how = f"Your tools: {', '.join(tool.name for tool in tools)}. End your turn with {end}."
    if reply.finish_reason == REPEATS:
        return f"{_NOT_DONE}the reply was cut off: {reply.cut}. Say each thing once. {how}"
    if cut_off(reply):
        why = f" ({reply.cut})" if reply.cut else ""
        return (
            f"{_NOT_DONE}the reply was cut off, it is too long{why}. Give shorter ones: a big file in several edits. "
            f"{how}"
        )
    ending = [call.name for call in reply.tool_calls if call.name in ends]
    if reply.doubt:
        return f"{_NOT_DONE}the reply can be read in two ways: {reply.doubt}. Make each call once, in one way. {how}"
    if len(ending) > 1:
        return f"{_NOT_DONE}{' and '.join(ending)} in one reply. Your turn ends once: call one of them, one time. {how}"
    if ending and reply.tool_calls[-1].name not in ends:
        return (
            f"{_NOT_DONE}{ending[0]} ends your turn, and {reply.tool_calls[-1].name} stands behind it in the same "
            f"reply. Make the call that ends your turn when all else is done. {how}"
        )
    if reply.tool_calls:
        return ""
    return f"{_without_call(reply)}; only tool calls count here. {how}"


def retraction(reply: ModelReply, tools: tuple[Tool, ...], given: set[str]) -> str:
    """Why words behind the call that ends the turn may take it back; empty when they do not.

    Calls that stand in text alone: behind a native one nothing can be said. A verdict is the last word. Any other end
    of a turn is a claim, and counts if it is given a second time, whatever stands behind it.

    Args:
        reply: whose calls can be looked at.
        tools: those on offer.
        given: such ends of this turn as were asked again; added to.
    """
    ends = {tool.name: tool for tool in tools if tool.ends}
    call = next((each for each in reply.tool_calls if each.name in ends), None)
    if call is None or not reply.after:
        return ""
    same = f"{call.name} {call.arguments}"
    if same in given and not issubclass(ends[call.name].arguments, SubmitVerdict):
        return ""
    given.add(same)
    words = cut(one_line(reply.after), _QUOTED, "...")
    return (
        f'{_NOT_DONE}words stand behind {call.name}, "{words}", and may take it back. Say what you have to say before '
        f"it, make the call again if it is what you mean, and nothing after it."
    )


def _without_call(reply: ModelReply) -> str:
    if reply.text.strip():
        return "The reply is text without a tool call"
    if reply.thought:
        return "The reply is thinking alone: end it, then answer. Nothing that stands in it is carried out"
    return "The reply is empty"


def answers(reply: ModelReply, results: list[str], problem: str = "") -> tuple[Message, ...]:
    """The reply and its results as messages; without a call the problem is told as the user's."""
    if not reply.tool_calls:
        text = cut(reply.text.strip(), _STORED, " ...") or "(empty reply)"
        back = Message(role="assistant", content=text, opaque=reply.opaque, by=reply.model)
        return back, Message(role="user", content=role_markers.defused_result(legible(problem)))
    answered = zip(reply.tool_calls, map(role_markers.defused_result, map(legible, results)), strict=True)
    return (
        Message(role="assistant", content=reply.text, tool_calls=reply.tool_calls, opaque=reply.opaque, by=reply.model),
        *(Message(role="tool", tool_call_id=call.id, content=result) for call, result in answered),
    )


def with_own_ids(reply: ModelReply, conversation: list[Message]) -> ModelReply:
    """The reply, every id of a call unique in the conversation: some endpoints count anew in each reply."""
    used = {call.id for message in conversation for call in message.tool_calls}
    calls: list[ToolCall] = []
    for number, call in enumerate(reply.tool_calls):
        own = call.id if call.id and call.id not in used else f"{call.id or 'call'}_{len(conversation)}_{number}"
        used.add(own)
        calls.append(call.model_copy(update={"id": own}))
    return reply.model_copy(update={"tool_calls": tuple(calls)})
