"""What endpoints refuse is left out, by whichever words, remembered, and never silently where the user wrote it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from tests.llm.habits import Refusal, Seen, chat_server

from swarmgate.config import Provider, Role
from swarmgate.llm.endpoint.model_memory import ModelMemory
from swarmgate.llm.endpoint.openai_model import OpenAIModel
from swarmgate.llm.endpoint.refusals import read
from swarmgate.llm.events import ModelEvent
from swarmgate.llm.model import CallFailed, Message, ModelReply, ModelRequest, ToolCall, ToolSpec

FINISH = ToolSpec(
    name="finish",
    description="End.",
    parameters={
        "type": "object",
        "properties": {"n": {"type": "integer", "default": 1}},
        "additionalProperties": False,
    },
)
CALLED = (ToolCall(id="c1", name="finish", arguments="{}"),)
TALK = (
    Message(role="system", content="RULES"),
    Message(role="user", content="ROLE: coder\n\nBRIEF"),
    Message(role="assistant", tool_calls=CALLED),
    Message(role="tool", tool_call_id="c1", content=""),
)
Body = Mapping[str, Any]


def roles(body: Body) -> list[str]:
    return [each["role"] for each in body["messages"]]


def contents(body: Body) -> list[Any]:
    return [each["content"] for each in body["messages"]]


def schema(body: Body) -> dict[str, Any]:
    found: dict[str, Any] = body["tools"][0]["function"]["parameters"] if "tools" in body else {}
    return found


async def asked(
    refusal: Callable[[Body], Refusal],
    *,
    talk: tuple[Message, ...] = TALK,
    role: Mapping[str, Any] | None = None,
    status: int = 400,
    memory: ModelMemory | None = None,
    **provider: Any,
) -> tuple[ModelReply, Seen, list[ModelEvent]]:
    seen, told = Seen(), list[ModelEvent]()
    with chat_server(message={"content": "hello"}, seen=seen, refusal=refusal, status=status) as url:
        model = OpenAIModel(
            "local/m",
            Provider(base_url=url, **provider),
            Role(model="local/m", **{"temperature": 0.2, "max_tokens": 50_000, **(role or {})}),
            memory=memory or ModelMemory(),
            on_event=told.append,
        )
        try:
            reply = await model.complete(ModelRequest(messages=talk, tools=(FINISH,)))
            before = len(seen)
            await model.complete(ModelRequest(messages=talk, tools=(FINISH,)))
            assert len(seen) == before + 1, "what was found out holds for the next call"
        finally:
            await model.aclose()
    return reply, seen, told


def field(name: str, **error: Any) -> Callable[[Body], Refusal]:
    """An endpoint that refuses a field."""
    return lambda body: error if name in body else ""


def openai(message: str, param: str, code: str) -> dict[str, Any]:
    return {"message": message, "type": "invalid_request_error", "param": param, "code": code}


GPT5_TEMPERATURE = openai(
    "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
    "temperature",
    "unsupported_value",
)
GPT5_MAX = openai(
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    "max_tokens",
    "unsupported_parameter",
)


async def test_the_first_example_of_the_docs_holds_for_gpt_5() -> None:
    def gpt5(body: Body) -> Refusal:
        return GPT5_MAX if "max_tokens" in body else GPT5_TEMPERATURE if "temperature" in body else ""

    _, seen, told = await asked(gpt5)
    assert "temperature" not in seen[-1]
    assert seen[-1]["max_completion_tokens"] == 50_000
    assert seen[-1]["tools"]
    assert any("it takes no temperature" in event.text for event in told)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("refused", "message"),
    [
        ("temperature", "temperature: Extra inputs are not permitted"),
        ("temperature", "`temperature` is deprecated for this model."),
        ("temperature", "invalid temperature: only 1 is allowed for this model"),
        ("stream_options", "Unrecognized request argument supplied: stream_options"),
        ("stream_options", "[{'loc': ['body', 'stream_options'], 'msg': 'extra fields not permitted'}]"),
        ("stream", "Streaming is not supported for this deployment"),
        ("max_tokens", 'Invalid JSON payload received. Unknown name "max_tokens": Cannot find field.'),
        ("tools", "registry.ollama.ai/library/gemma3:270m does not support tools"),
        ("tools", '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
        ("tools", "tools param requires --jinja flag"),
        ("tools", "`tool_choice` is not supported by this model"),
        ("tools", "Function calling is not enabled for models/gemma-3-27b-it"),
        ("tools", "No endpoints found that support tool use."),
    ],
)
async def test_a_field_that_is_refused_is_left_out_and_nothing_else(refused: str, message: str) -> None:
    _, seen, told = await asked(field(refused, message=message))
    kept = {"temperature", "stream_options", "stream", "tools"} - {refused}
    kept -= {"stream_options"} if refused == "stream" else set()
    assert refused not in seen[-1]
    assert kept <= seen[-1].keys()
    assert len(seen) == 3
    assert len(told) == 1


@pytest.mark.parametrize(
    "message",
    [
        "System role not supported",
        "Developer instruction is not enabled for models/gemma-3-27b-it",
        "Only user and assistant roles are supported!",
        "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
        "Conversation roles must alternate user/assistant/user/assistant/...",
        'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter',
    ],
)
async def test_the_system_message_becomes_the_head_of_the_first_user_message(message: str) -> None:
    _, seen, _ = await asked(lambda body: message if "system" in roles(body) else "")
    assert roles(seen[-1]) == ["user", "assistant", "tool"]
    assert contents(seen[-1])[0] == "ROLE: coder\n\nRULES\n\nBRIEF"
    assert seen[-1]["tools"]


@pytest.mark.parametrize(
    ("message", "status"),
    [
        ("Conversation roles must alternate user/assistant/user/assistant/...", 400),
        ("Only user and assistant roles are supported!", 500),
        ("messages.3.role: Input should be 'system', 'user' or 'assistant'", 422),
    ],
)
async def test_where_messages_of_tools_are_refused_tools_are_spoken(message: str, status: int) -> None:
    _, seen, _ = await asked(lambda body: message if "tool" in roles(body) else "", status=status)
    assert "tool" not in roles(seen[-1])
    assert "tools" not in seen[-1]


async def test_neighbours_become_one_message() -> None:
    user = Message(role="user", content="MORE")
    talk = (*TALK[:2], user, Message(role="assistant", content="a"), Message(role="assistant", content="b"), user)

    def refusal(body: Body) -> str:
        found = roles(body)[1:]
        return "roles must alternate" if found != ["user", "assistant"] * (len(found) // 2) + ["user"] else ""

    _, seen, _ = await asked(refusal, talk=talk)
    assert contents(seen[-1])[1:] == ["ROLE: coder\n\nBRIEF\n\nMORE", "a\n\nb", "MORE"]


@pytest.mark.parametrize(
    "message",
    [
        "invalid message content type: <nil>",
        'can only concatenate str (not "NoneType") to str',
        "messages.2.assistant.content: Input should be a valid string",
        "Expected 'content' to be a string, got null",
    ],
)
async def test_a_content_of_null_becomes_an_empty_one(message: str) -> None:
    _, seen, _ = await asked(lambda body: message if None in contents(body) else "", status=400)
    assert contents(seen[-1])[2:] == ["", ""]
    assert seen[-1]["tools"]


@pytest.mark.parametrize(
    "message",
    [
        "Tool call id was c1 but must be a-z, A-Z, 0-9, with a length of 9.",
        "Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with maximum length 40",
    ],
)
async def test_ids_of_calls_become_such_as_are_taken(message: str) -> None:
    def refusal(body: Body) -> str:
        made = [call["id"] for each in body["messages"] for call in each.get("tool_calls", ())]
        return "" if all(len(each) == 9 for each in made) else message

    _, seen, _ = await asked(refusal)
    assert seen[-1]["messages"][3]["tool_call_id"] == seen[-1]["messages"][2]["tool_calls"][0]["id"]
    assert seen[-1]["tools"]


async def test_what_does_not_help_is_not_remembered() -> None:
    """A complaint that names one thing after the other, whatever is sent."""
    kept = ModelMemory()
    words = ["temperature is not supported", "stream_options is not supported", "max_tokens is too large"]
    told = list[ModelEvent]()

    def refusal(body: Body) -> str:
        return words[min(len(seen) - 1, 2)]

    seen: Seen = []
    with chat_server(message={"content": "x"}, seen=seen, refusal=refusal) as url:
        role = Role(model="local/m", temperature=0.2, max_tokens=50_000)
        model = OpenAIModel("local/m", Provider(base_url=url), role, memory=kept, on_event=told.append)
        with pytest.raises(CallFailed):
            await model.complete(ModelRequest(messages=TALK))
        await model.aclose()
    assert len(seen) <= 16
    assert (dict(kept.known), told) == ({}, [])


async def test_an_endpoint_that_changed_its_mind_gets_back_what_it_wants() -> None:
    thoughts = '{"reasoning_content": "r"}'
    talk = (*TALK[:2], Message(role="assistant", content="x", opaque=thoughts), Message(role="user", content="go on"))

    def refusal(body: Body) -> str:
        there = "reasoning_content" in body["messages"][2]
        return "" if there else "The reasoning_content in the thinking mode must be passed back to the API."

    memory = ModelMemory()
    seen: Seen = []
    with chat_server(message={"content": "x"}, seen=seen, refusal=refusal) as url:
        memory.learn("local/m", url, lambda known: known.without("message.reasoning_content"))
        model = OpenAIModel("local/m", Provider(base_url=url), memory=memory)
        await model.complete(ModelRequest(messages=talk))
        await model.complete(ModelRequest(messages=talk))
        await model.aclose()
    assert len(seen) == 3
    assert memory.known["local/m"].left_out == ()


async def test_an_empty_content_becomes_a_word() -> None:
    def refusal(body: Body) -> str:
        if None in contents(body):
            return "content must not be null"
        return "messages: text content blocks must be non-empty" if "" in contents(body) else ""

    _, seen, _ = await asked(refusal)
    assert contents(seen[-1])[2:] == ["(no text)", "(no text)"]


@pytest.mark.parametrize(
    "message",
    [
        (
            'Invalid JSON payload received. Unknown name "additionalProperties" at \'tools[0].function_declarations[0]'
            ".parameters': Cannot find field."
        ),
        "tools.0.function.parameters: keyword 'default' is not supported",
        "Invalid schema for function 'finish': 'default' is not permitted.",
    ],
)
async def test_schemas_of_tools_get_fewer_keywords(message: str) -> None:
    _, seen, _ = await asked(lambda body: message if "additionalProperties" in schema(body) else "")
    assert schema(seen[-1]) == {"type": "object", "properties": {"n": {"type": "integer"}}}


@pytest.mark.parametrize(
    ("message", "most"),
    [
        (
            (
                "max_tokens is too large: 50000. This model supports at most 16384 completion tokens, whereas "
                "you provided 50000."
            ),
            16_384,
        ),
        ("max_tokens: 50000 > 8192, which is the maximum allowed number of output tokens for claude-3-5-haiku", 8_192),
        ("Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", 8_192),
        ("`max_tokens` must be less than or equal to `32,768`", 32_768),
        ("max_tokens is too large", 25_000),
    ],
)
async def test_an_answer_that_is_too_long_is_asked_for_shorter(message: str, most: int) -> None:
    _, seen, told = await asked(lambda body: message if body.get("max_tokens", 0) > most else "")
    assert seen[-1]["max_tokens"] == most
    assert f"no longer answers than {most:,}" in told[0].text


@pytest.mark.parametrize(
    "message",
    [
        (
            "This model's maximum context length is 40960 tokens. However, you requested 51000 tokens (1000 in the "
            "messages, 50000 in the completion). Please reduce the length of the messages or completion."
        ),
        (
            "'max_tokens' or 'max_completion_tokens' is too large: 50000. This model's maximum context length is 40960 "
            "tokens and your request has 1000 input tokens (50000 > 40960 - 1000)."
        ),
        "input length and `max_tokens` exceed context limit: 1000 + 50000 > 40960, decrease input length",
        (
            "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 40960. Given: 1000 `inputs` tokens "
            "and 50000 `max_new_tokens`"
        ),
    ],
)
async def test_a_window_leaves_room_for_a_shorter_answer(message: str) -> None:
    seen, memory = Seen(), ModelMemory()
    refusal = lambda body: message if body["max_tokens"] + 1000 > 40_960 else ""  # noqa: E731 - as above
    with chat_server(message={"content": "hello"}, seen=seen, refusal=refusal) as url:
        role = Role(model="local/m", max_tokens=50_000)
        model = OpenAIModel("local/m", Provider(base_url=url), role, memory=memory)
        await model.complete(ModelRequest(messages=TALK))
        await model.aclose()
    assert 36_000 < seen[-1]["max_tokens"] <= 39_960
    assert memory.known["local/m"].context_tokens == 40_960
    assert memory.known["local/m"].longest_answer is None, "the next prompt may be shorter"


@pytest.mark.parametrize(
    ("message", "most"),
    [
        ("This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.", 1),
        ("prompt is too long: 210000 tokens > 200000 maximum", 1),
        ("request (4390 tokens) exceeds the available context size (4096 tokens), try increasing it", 1),
        ("This model's maximum context length is 40960 tokens.", 3),
    ],
)
async def test_a_conversation_that_fits_no_window_is_too_long(message: str, most: int) -> None:
    count: list[int] = []

    def refusal(_body: Body) -> str:
        count.append(1)
        return message

    with pytest.raises(CallFailed, match="too long for the model"):
        await asked(refusal)
    assert len(count) <= most


async def test_an_answer_that_the_account_cannot_afford_is_asked_for_shorter_this_time() -> None:
    told = "This request requires more credits, or fewer max_tokens. You requested up to 50000 tokens, but can only "
    seen, memory = Seen(), ModelMemory()
    refusal = lambda body: f"{told}afford 9000." if body["max_tokens"] > 9_000 else ""  # noqa: E731 - as above
    with chat_server(message={"content": "hello"}, seen=seen, refusal=refusal, status=402) as url:
        model = OpenAIModel("local/m", Provider(base_url=url), Role(model="local/m", max_tokens=50_000), memory=memory)
        await model.complete(ModelRequest(messages=TALK))
        await model.aclose()
    assert [each["max_tokens"] for each in seen] == [50_000, 9_000]
    assert dict(memory.known) == {}


async def test_a_field_whose_name_is_part_of_another_stays() -> None:
    both = '{"reasoning": "r", "reasoning_content": "r"}'
    talk = (*TALK[:2], Message(role="assistant", content="x", opaque=both), Message(role="user", content="go on"))

    def refusal(body: Body) -> str:
        there = "reasoning_content" in body["messages"][2]
        return "messages.2.assistant.reasoning_content: property is unsupported" if there else ""

    _, seen, _ = await asked(refusal, talk=talk)
    assert seen[-1]["messages"][2]["reasoning"] == "r"


@pytest.mark.slow
@pytest.mark.parametrize("refused", ["stream_options", "temperature", "max_tokens", "tools"])
@pytest.mark.parametrize("message", ["Bad Request", "Internal validation error (code 17)"])
async def test_a_refusal_without_a_word_of_why_is_found_by_leaving_out_one_after_the_other(
    refused: str, message: str
) -> None:
    _, seen, told = await asked(lambda body: message if refused in body else "")
    assert refused not in seen[-1]
    kept = {"temperature", "stream_options", "tools"} - {refused}
    assert kept <= seen[-1].keys(), "what was left out for once is there again"
    assert len(told) == 1
    assert "it said: " in told[0].text


async def test_a_refusal_that_passes_teaches_nothing() -> None:
    memory, seen = ModelMemory(), Seen()
    refusal = lambda _body: "Bad Request" if len(seen) == 1 else ""  # noqa: E731 - as above
    with chat_server(message={"content": "x"}, seen=seen, refusal=refusal) as url:
        role = Role(model="local/m", temperature=0.2)
        model = OpenAIModel("local/m", Provider(base_url=url), role, memory=memory)
        await model.complete(ModelRequest(messages=TALK, tools=(FINISH,)))
        await model.aclose()
    assert seen[0] == seen[1]
    assert len(seen) == 2
    assert dict(memory.known) == {}


async def test_an_answer_of_the_model_that_the_endpoint_refuses_is_asked_for_again() -> None:
    seen = Seen()
    error = {"message": "Failed to call a function. See 'failed_generation'.", "code": "tool_use_failed"}
    with chat_server(message={"content": "x"}, seen=seen, refusal=lambda _body: error) as url:
        model = OpenAIModel("local/m", Provider(base_url=url))
        with pytest.raises(CallFailed, match="Failed to call a function") as caught:
            await model.complete(ModelRequest(messages=TALK, tools=(FINISH,)))
        await model.aclose()
    assert caught.value.retriable
    assert len(seen) == 1


async def test_what_nothing_mends_fails_with_the_first_words_within_bounds() -> None:
    seen: Seen = []

    def refusal(body: Body) -> str:
        seen.append(dict(body))
        return f"Bad Request {len(seen)}"

    with pytest.raises(CallFailed, match=r"400: Bad Request 1$"):
        await asked(refusal)
    assert len(seen) <= 16


@pytest.mark.parametrize(
    "message",
    [
        "API key not valid. Please pass a valid API key.",
        "The model `m` does not exist",
        "Your credit balance is too low",
        "flagged by our moderation: policy violation",
    ],
)
async def test_what_no_form_mends_is_asked_once(message: str) -> None:
    count: list[int] = []

    def refusal(_body: Body) -> str:
        count.append(1)
        return message

    with pytest.raises(CallFailed):
        await asked(refusal)
    assert len(count) == 1


async def test_what_was_answered_before_is_not_left_out_for_a_word() -> None:
    seen: Seen = []
    with chat_server(
        message={"content": "hello"},
        seen=seen,
        refusal=lambda _body: "Invalid tool call in the last message" if len(seen) > 1 else "",
    ) as url:
        model = OpenAIModel("local/m", Provider(base_url=url))
        request = ModelRequest(messages=TALK, tools=(FINISH,))
        await model.complete(request)
        with pytest.raises(CallFailed, match="Invalid tool call"):
            await model.complete(request)
        await model.aclose()
    assert len(seen) == 2
    assert model.dialect.tools


async def test_what_the_user_wrote_and_is_not_heeded_is_told_in_each_run() -> None:
    kept: dict[str, Any] = {}

    def refusal(body: Body) -> Refusal:
        return GPT5_TEMPERATURE if "temperature" in body else ""

    seen: Seen = []
    with chat_server(message={"content": "x"}, seen=seen, refusal=refusal) as url:
        for _ in range(2):
            told = list[ModelEvent]()
            memory = ModelMemory(kept)
            role = Role(model="local/m", temperature=0.2)
            model = OpenAIModel("local/m", Provider(base_url=url), role, memory=memory, on_event=told.append)
            for _ in range(2):
                await model.complete(ModelRequest(messages=TALK))
            await model.aclose()
            kept = dict(memory.known)
            assert [event.text.partition(":")[2].partition(":")[0] for event in told] == [" it takes no temperature"]
    assert len(seen) == 5
    quiet = list[ModelEvent]()
    with chat_server(message={"content": "x"}, seen=seen, refusal=refusal):
        model = OpenAIModel("local/m", Provider(base_url=url), Role(model="local/m"), on_event=quiet.append)
        await model.aclose()
    assert quiet == []


async def test_a_refusal_inside_of_an_answer_of_status_200_is_one_too() -> None:
    _, seen, _ = await asked(
        lambda body: {"message": "temperature is not supported", "code": 400} if "temperature" in body else "",
        status=200,
    )
    assert "temperature" not in seen[-1]


@pytest.mark.parametrize(
    ("body", "text", "param"),
    [
        ({"message": "m", "param": "p"}, "m", "p"),
        ([{"error": {"message": "m", "code": 400}}], "m", ""),
        ({"detail": [{"loc": ["body", "messages", 0, "role"], "msg": "bad"}]}, "bad", "messages.0.role"),
        ({"detail": "no"}, "no", ""),
        ({"error": "no"}, "no", ""),
        ({"errors": [{"message": "m", "param": "p"}]}, "m", "p"),
        ({"code": 10001, "msg": "m"}, "m", ""),
        ({"success": False, "error_msg": "m"}, "m", ""),
        ({"error": {"message": '{"error": {"message": "m", "param": "p"}}', "code": 400}}, "m", "p"),
        ({"message": "{not json"}, "{not json", ""),
        (
            {"error": {"message": "failed", "metadata": {"raw": '{"error": {"message": "m", "param": "p"}}'}}},
            "failed: m",
            "p",
        ),
        ({"error": {"message": "failed", "metadata": {"raw": "upstream is down"}}}, "failed: upstream is down", ""),
        ({"error": {"message": "failed", "metadata": {"raw": "[[["}}}, "failed: [[[", ""),
        ("plain words", "plain words", ""),
        (None, "status line", ""),
        ({}, "{}", ""),
    ],
)
def test_complaints_of_every_form_are_read(body: Any, text: str, param: str) -> None:
    found = read(body, "status line")
    assert text in found.text
    assert found.param == param
