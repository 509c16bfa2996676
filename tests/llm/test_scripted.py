from __future__ import annotations

import pytest
from pydantic import ValidationError

from swarmgate.llm.model import CallFailed, Message, ModelReply, ModelRequest, ToolCall
from swarmgate.llm.scripted import ScriptedModel

SYSTEM = Message(role="system", content="s")
USER = Message(role="user", content="u")
ASK = ModelRequest(messages=(SYSTEM, USER), purpose={"role": "coder"})


async def test_replies_come_in_order_and_requests_are_kept() -> None:
    call = ToolCall(id="1", name="finish")
    model = ScriptedModel(["a", call, ModelReply(text="b", model="x/y"), CallFailed("no")], name="my/model")
    replies = [await model.complete(ASK) for _ in range(3)]
    assert [(reply.text, reply.tool_calls, reply.model) for reply in replies] == [
        ("a", (), "my/model"),
        ("", (call,), "my/model"),
        ("b", (), "x/y"),
    ]
    with pytest.raises(CallFailed, match=r"^no$"):
        await model.complete(ASK)
    with pytest.raises(CallFailed, match=r"4 replies; call 5 is for .*coder"):
        await model.complete(ASK)
    assert model.requests == [ASK] * 5


@pytest.mark.parametrize("messages", [(), (USER,), (USER, SYSTEM), (SYSTEM, USER, SYSTEM)])
def test_a_conversation_has_exactly_one_system_message_first(messages: tuple[Message, ...]) -> None:
    with pytest.raises(ValidationError, match="exactly one system message"):
        ModelRequest(messages=messages)
