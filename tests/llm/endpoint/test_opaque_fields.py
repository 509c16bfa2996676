"""What an endpoint says beside its words comes back to it as it came, streamed or not, and is nobody's word."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from tests.llm.habits import Refusal, Seen, chat_server

from swarmgate.agents.conversation.conversation import fitted, size
from swarmgate.agents.conversation.replies import answers
from swarmgate.config import Provider
from swarmgate.llm.endpoint.assembly import Assembly, Malformed
from swarmgate.llm.endpoint.openai_model import OpenAIModel
from swarmgate.llm.model import Message, ModelReply, ModelRequest, ToolSpec
from swarmgate.llm.wrappers.replay import key_of

FINISH = ToolSpec(name="finish", description="End.", parameters={"type": "object", "properties": {}})
BEGIN = (Message(role="system", content="RULES"), Message(role="user", content="ROLE: coder\n\nBRIEF"))
SIGNED = {"google": {"thought_signature": "c2lnbmF0dXJl"}}
CALL: dict[str, Any] = {"id": "c1", "type": "function", "function": {"name": "finish", "arguments": "{}"}}

WHOLE: dict[str, dict[str, Any]] = {
    "deepseek": {"content": None, "reasoning_content": "Let me see.", "tool_calls": [CALL]},
    "gemini": {"content": "", "tool_calls": [{**CALL, "extra_content": SIGNED}], "extra_content": SIGNED},
    "openrouter": {
        "content": "",
        "reasoning": "So.",
        "reasoning_details": [
            {"type": "reasoning.text", "text": "So.", "format": "anthropic-claude-v1", "index": 0},
            {"type": "reasoning.encrypted", "data": "AAA=", "id": "e1", "index": 0},
        ],
        "tool_calls": [CALL],
    },
    "litellm": {
        "content": "",
        "thinking_blocks": [
            {"type": "thinking", "thinking": "one", "signature": "s1"},
            {"type": "thinking", "thinking": "two", "signature": "s2"},
        ],
        "tool_calls": [{**CALL, "function": {**CALL["function"], "provider_specific_fields": {"a": 1}}}],
    },
    "nobody yet": {"content": "", "inner_life": {"mood": ["calm", {"n": 1.5}]}, "tool_calls": [{**CALL, "why": "x"}]},
}

STREAMED: dict[str, list[dict[str, Any]]] = {
    "deepseek": [
        {"role": "assistant", "content": None, "reasoning_content": ""},
        {"reasoning_content": "Let me"},
        {"reasoning_content": " see."},
        {"tool_calls": [{"index": 0, **CALL}], "reasoning_content": None},
    ],
    "gemini": [{"tool_calls": [{"index": 0, **CALL, "extra_content": SIGNED}]}, {"extra_content": SIGNED}],
    "openrouter": [
        {"reasoning": "S", "reasoning_details": [{**WHOLE["openrouter"]["reasoning_details"][0], "text": "S"}]},
        {"reasoning": "o.", "reasoning_details": [{**WHOLE["openrouter"]["reasoning_details"][0], "text": "o."}]},
        {"reasoning_details": [WHOLE["openrouter"]["reasoning_details"][1]]},
        {"tool_calls": [{"index": 0, **CALL}]},
    ],
    "litellm": [
        {"thinking_blocks": [{"type": "thinking", "thinking": "on", "signature": ""}]},
        {"thinking_blocks": [{"type": "thinking", "thinking": "e", "signature": ""}]},
        {"thinking_blocks": [{"type": "thinking", "thinking": "", "signature": "s1"}]},
        {"thinking_blocks": [{"type": "thinking", "thinking": "two"}]},
        {"thinking_blocks": [{"type": "thinking", "signature": "s2"}]},
        {"tool_calls": [{"index": 0, **WHOLE["litellm"]["tool_calls"][0]}]},
    ],
    "nobody yet": [
        {"inner_life": {"mood": ["calm"]}},
        {"inner_life": {"mood": [{"n": 1.5}]}},
        {"tool_calls": [{"index": 0, **CALL, "why": "x"}]},
    ],
}


def opaque_of(message: Mapping[str, Any]) -> dict[str, Any]:
    """What of a message goes back as it came."""
    calls = [{**each, "function": {**each["function"]}} for each in message["tool_calls"]]
    return {key: value for key, value in message.items() if key != "content"} | {"tool_calls": calls}


async def ask_twice(url: str, *, stream: bool) -> None:
    """Asks, and asks again with the answer in the conversation."""
    model = OpenAIModel("local/m", Provider(base_url=url, stream=stream))
    reply = await model.complete(ModelRequest(messages=BEGIN, tools=(FINISH,)))
    assert reply.text == ""
    talk = (*BEGIN, *answers(reply, ["done"]))
    await model.complete(ModelRequest(messages=talk, tools=(FINISH,)))
    await model.aclose()


@pytest.mark.parametrize("who", WHOLE)
@pytest.mark.parametrize("stream", [True, False])
async def test_it_comes_back_as_it_came(who: str, *, stream: bool) -> None:
    seen: Seen = []
    with chat_server(message=WHOLE[who], deltas=STREAMED[who], seen=seen) as url:
        await ask_twice(url, stream=stream)
    back = seen[1]["messages"][2]
    assert back["role"] == "assistant"
    assert opaque_of({k: v for k, v in back.items() if k != "role"}) == opaque_of(WHOLE[who])


@pytest.mark.parametrize("stream", [True, False])
async def test_what_an_endpoint_does_not_take_back_is_left_out_and_remembered(*, stream: bool) -> None:
    def refusing(body: Mapping[str, Any]) -> str:
        inside = any("reasoning_content" in each for each in body["messages"])
        return "property 'messages.2.reasoning_content' is unsupported" if inside else ""

    seen: Seen = []
    with chat_server(message=WHOLE["deepseek"], deltas=STREAMED["deepseek"], seen=seen, refusal=refusing) as url:
        await ask_twice(url, stream=stream)
    assert "reasoning_content" in seen[1]["messages"][2]
    assert "reasoning_content" not in seen[2]["messages"][2]


async def test_a_field_that_is_missed_is_no_field_that_is_refused() -> None:
    def demanding(body: Mapping[str, Any]) -> Refusal:
        return {"message": "The reasoning_content in the thinking mode must be passed back to the API."}

    model_says = ModelReply(text="x", opaque='{"reasoning_content": "r"}')
    talk = (*BEGIN, *answers(model_says, [], "again"))
    seen: Seen = []
    with chat_server(message={"content": "x"}, deltas=[], seen=seen, refusal=demanding) as url:
        model = OpenAIModel("local/m", Provider(base_url=url))
        with pytest.raises(Exception, match="must be passed back"):
            await model.complete(ModelRequest(messages=talk))
        await model.aclose()
    assert model.dialect.takes("message.reasoning_content")


async def test_it_goes_to_the_model_that_said_it_and_to_no_other() -> None:
    seen: Seen = []
    reply = ModelReply(text="hm", opaque='{"reasoning": "r"}', model="other/m")
    with chat_server(message={"content": "x"}, deltas=[{"content": "x"}], seen=seen) as url:
        model = OpenAIModel("local/m", Provider(base_url=url))
        await model.complete(ModelRequest(messages=(*BEGIN, *answers(reply, [], "again"))))
        await model.aclose()
    assert "reasoning" not in seen[0]["messages"][2]


def test_it_is_counted_and_survives_shortening_until_nothing_else_helps() -> None:
    thoughts = json.dumps({"reasoning_content": "hm " * 2000})
    reply = ModelReply(text="t" * 3000, opaque=thoughts)
    talk = [*BEGIN]
    for _ in range(6):
        talk += answers(reply, [], "again")
    assert size(talk) > 6 * 1500
    after, _ = fitted(talk, 12_000)
    assert size(after) <= 12_000
    assert all(each.opaque == thoughts for each in after if each.role == "assistant")
    last, _ = fitted(talk, 1_200)
    assert size(last) <= 1_200


def test_a_request_with_other_thoughts_is_another_request() -> None:
    talk = [(*BEGIN, *answers(ModelReply(text="x", opaque=each), [], "again")) for each in ("", '{"reasoning": "r"}')]
    keys = {key_of(ModelRequest(messages=each), "") for each in talk}
    assert len(keys) == 2


def test_parts_that_think_are_no_words() -> None:
    assembly = Assembly()
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "APPROVED"}]}
    parts = [thinking, {"type": "reasoning", "text": "APPROVED"}, {"type": "text", "text": "no"}]
    assembly.add({"choices": [{"message": {"content": parts}}]})
    assert assembly.text == "no"


def test_what_is_nested_without_end_is_unreadable_and_no_fault_of_ours() -> None:
    deep: Any = 1
    for _ in range(400):
        deep = {"a": [deep]}
    for message in ({"content": "x", "inner": deep}, {"tool_calls": [{**CALL, "inner": deep}]}):
        with pytest.raises(Malformed, match="nested too deeply"):
            Assembly().add({"choices": [{"delta": message}]})
