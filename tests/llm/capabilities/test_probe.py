"""Probes against real endpoints that can everything, or lack one thing each, and what they make of the next run."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from swarmgate.config import Config, Provider, Role
from swarmgate.domain.capabilities import Capabilities
from swarmgate.domain.usage import Usage
from swarmgate.llm.capabilities.probe import probe
from swarmgate.llm.capabilities.settings import compact_roles, current, steered
from swarmgate.llm.capabilities.windows import context_tokens, in_lm_studio, in_models, in_props, in_running, in_show
from swarmgate.llm.endpoint import web_pages
from swarmgate.llm.endpoint.model_memory import ModelMemory
from swarmgate.llm.endpoint.openai_model import OpenAIModel
from swarmgate.llm.model import CallFailed, Message, ModelReply, ModelRequest, ToolSpec
from swarmgate.testing import ScriptedServer

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
RULES = [{"match": {"role": "coder"}, "replies": [{"text": "unused"}]}]
FEATURES = ("tools", "parallel_tools", "stream", "json_schema", "system")


async def probed(base_url: str, name: str = "local/scripted", **more: Any) -> Capabilities:
    provider = Provider(base_url=base_url)
    return await probe(name, provider, api_key="", price=lambda usage: usage.tokens * 1.0, now=NOW, **more)


async def test_an_endpoint_that_can_everything() -> None:
    with ScriptedServer(RULES, context_tokens=32_768) as server:
        found = await probed(server.base_url)
    assert [getattr(found, feature) for feature in FEATURES] == [True] * 5
    assert (found.context_tokens, found.error, found.base_url) == (32_768, "", server.base_url)
    assert found.asked == "2026-11-21T12:00:00+00:00"
    assert found.usage.calls == len(server.requests) == 3
    assert found.usage.usd == found.usage.tokens > 0
    assert found.usage.tokens < 1000
    assert {request.headers["ROLE"] for request in server.requests} == {"probe"}


@pytest.mark.parametrize("feature", FEATURES)
async def test_what_is_lacking_is_found_and_nothing_else(feature: str) -> None:
    with ScriptedServer(RULES, lacks=[feature]) as server:
        found = await probed(server.base_url)
    lacking = {name for name in FEATURES if getattr(found, name) is not True}
    assert lacking == {feature, *(["parallel_tools"] if feature == "tools" else [])}
    assert getattr(found, feature) is False
    assert found.context_tokens is None


async def test_everything_lacking_at_once() -> None:
    with ScriptedServer(RULES, lacks=FEATURES) as server:
        found = await probed(server.base_url)
    assert [getattr(found, feature) for feature in FEATURES] == [False] * 5
    assert found.error == ""


async def test_a_model_that_only_talks_has_no_tools_and_no_schema() -> None:
    with ScriptedServer([{"match": {"role": "probe"}, "replies": [{"text": "I am a poet."}]}]) as server:
        found = await probed(server.base_url)
    assert (found.tools, found.parallel_tools, found.json_schema, found.system) == (False, False, False, None)
    assert found.stream is True


async def test_what_fails_for_another_reason_stays_unknown() -> None:
    busy = {"fault": {"kind": "429"}}
    rules = [{"match": {"role": "probe", "step": step}, "replies": [busy]} for step in ("tools", "json_schema")]
    with ScriptedServer(rules) as server:
        found = await probed(server.base_url)
    assert (found.tools, found.parallel_tools, found.json_schema, found.system) == (None, None, None, True)


@pytest.mark.parametrize("content", ["<think>They want a call of", None])
async def test_a_model_that_is_cut_off_while_it_thinks_has_said_nothing_about_tools(
    serving: Callable[..., Any], content: str | None
) -> None:
    def respond(body: dict[str, Any], _headers: Any) -> tuple[int, str, bytes]:
        cut = "tools" in body or "response_format" in body
        choice = {"message": {"content": content if cut else "PLUM"}, "finish_reason": "length" if cut else "stop"}
        return 200, "application/json", json.dumps({"choices": [choice]}).encode()

    with serving(respond) as base_url:
        found = await probed(base_url)
    assert (found.tools, found.parallel_tools, found.json_schema, found.error) == (None, None, None, "")


async def test_a_second_call_that_did_not_come_because_of_the_limit_is_not_lacking(serving: Callable[..., Any]) -> None:
    made = {"id": "c", "type": "function", "function": {"name": "report_number", "arguments": '{"number": 1}'}}

    def respond(body: dict[str, Any], _headers: Any) -> tuple[int, str, bytes]:
        told = {"content": None, "tool_calls": [made]} if "tools" in body else {"content": "PLUM"}
        data = {"choices": [{"message": told, "finish_reason": "length" if "tools" in body else "stop"}]}
        return 200, "application/json", json.dumps(data).encode()

    with serving(respond) as base_url:
        found = await probed(base_url)
    assert (found.tools, found.parallel_tools) == (True, None)


async def test_an_endpoint_that_is_not_there_or_says_no_is_an_error_and_no_finding() -> None:
    found = await probed("http://127.0.0.1:9/v1")
    assert "the connection failed" in found.error
    assert found.tools is None
    assert found.usage.calls == 0
    with ScriptedServer([{"match": {"role": "probe"}, "replies": [{"fault": {"kind": "429"}}]}]) as server:
        assert "answered 429" in (await probed(server.base_url)).error
    with ScriptedServer([{"match": {"role": "probe"}, "replies": [{"fault": {"kind": "hang"}}]}]) as server:
        assert "no complete answer within 0.1 s" in (await probed(server.base_url, timeout_s=0.1)).error


async def test_a_base_url_without_a_version_is_told_with_the_model(serving: Callable[..., Any]) -> None:
    with serving(lambda _body, _headers: (404, "text/plain", b"404 page not found")) as base_url:
        bare = base_url.removesuffix("/v1")
        error = (await probed(bare)).error
        model = OpenAIModel("local/scripted", Provider(base_url=bare))
        with pytest.raises(CallFailed) as caught:
            await model.complete(ModelRequest(messages=(Message(role="system", content="x"),)))
        await model.aclose()
    assert error.startswith("local/scripted: the endpoint answered 404")
    assert f"is /v1 missing? base_url says {bare}: try {bare}/v1" in error
    assert f"try {bare}/v1" in caught.value.hint
    assert "`scripted`" in caught.value.hint


@pytest.mark.parametrize(
    ("url", "lacks"),
    [
        ("http://h:1", True), ("http://h/", True), ("http://v1/", True), ("https://h/api", True),
        ("http://h/v1", False), ("http://h/v1/", False), ("https://h/v1beta/openai", False), ("http://h/v4", False),
    ],
)  # fmt: skip
def test_what_lacks_a_version(url: str, lacks: bool) -> None:  # noqa: FBT001 - a parameter of a test
    assert web_pages.lacks_version(url) is lacks


# --- the window ---


def test_windows_as_servers_state_them() -> None:
    vllm = {"data": [{"id": "other", "max_model_len": 1}, {"id": "org/m", "max_model_len": 40_960}]}
    assert in_models(vllm, "org/m") == 40_960
    assert in_models({"data": [{"id": "a/m", "context_length": 200_000}]}, "a/m") == 200_000
    assert in_models({"data": [{"id": "m", "max_model_len": True}, {"id": "m", "context_window": 8192}]}, "m") == 8192
    assert in_running({"models": [{"name": "qwen3:latest", "context_length": 4096}]}, "qwen3") == 4096
    assert in_show({"parameters": 'stop "x"\nnum_ctx                        16384\n'}) == 16_384
    v1 = {"models": [{"key": "m", "max_context_length": 9, "loaded_instances": [{"config": {"context_length": 8}}]}]}
    assert in_lm_studio(v1, "m") == 8
    assert in_lm_studio({"data": [{"id": "m", "max_context_length": 9, "loaded_context_length": 7}]}, "m") == 7
    assert in_lm_studio({"data": [{"id": "m", "max_context_length": 9}]}, "m") is None
    assert in_props({"default_generation_settings": {"n_ctx": 512}}) == 512


@pytest.mark.parametrize(
    "data", [None, [], "x", {"data": 3}, {"data": [None, {"id": "m"}]}, {"models": [{"key": "m"}]}]
)
def test_what_states_no_window_is_none(data: Any) -> None:
    sizes = (in_models(data, "m"), in_running(data, "m"), in_show(data), in_lm_studio(data, "m"), in_props(data))
    assert sizes == (None,) * 5


async def test_ollama_is_asked_for_what_it_allocated_not_for_what_the_model_was_trained_for() -> None:
    served = {
        "/models": {"data": [{"id": "qwen3:8b", "owned_by": "library"}]},
        "http://h:1/api/ps": {"models": []},
        "http://h:1/api/show": {"model_info": {"qwen3.context_length": 40_960}, "parameters": "num_ctx 8192"},
    }
    asked: list[str] = []

    async def look(url: str, *, body: dict[str, Any] | None = None) -> Any:
        asked.append(url)
        return served.get(url)

    assert await context_tokens(look, "http://h:1/v1", "qwen3:8b") == 8192
    assert not any("props" in url for url in asked)
    asked.clear()
    assert await context_tokens(look, "http://h:1/openai", "other") is None
    assert asked == ["/models"]


# --- what findings do ---


def finding(**more: Any) -> Capabilities:
    return Capabilities(model="local/m", base_url="http://h/v1", asked="2026-11-21", usage=Usage(), **more)


def settings(role: dict[str, Any] | None = None, **more: Any) -> Config:
    roles = {"default": {"model": "local/m"}, "coder": {"model": "local/m", **(role or {})}}
    return Config.model_validate({"providers": {"local": {"base_url": "http://h/v1"}}, "roles": roles, **more})


def test_the_window_fills_in_what_is_open_and_makes_prompts_compact() -> None:
    found = {"local/m": finding(context_tokens=8192)}
    after = steered(settings(), found)
    assert (after.roles["coder"].context_tokens, after.roles["coder"].prompts) == (8192, "compact")
    assert compact_roles(after, ["coder", "reviewer"]) == ("coder", "reviewer")
    mine = steered(settings({"context_tokens": 100_000}), found)
    assert (mine.roles["coder"].context_tokens, mine.roles["coder"].prompts) == (100_000, "full")
    assert compact_roles(mine, ["coder", "reviewer"]) == ("reviewer",)
    full = steered(settings({"prompts": "full"}), found)
    assert full.roles["coder"].prompts == "full"
    large = steered(settings(), {"local/m": finding(context_tokens=131_072)})
    assert (large.roles["coder"].context_tokens, large.roles["coder"].prompts) == (131_072, "full")


def test_the_smallest_window_of_a_roles_models_counts() -> None:
    found = {"local/m": finding(context_tokens=200_000), "local/n": finding(context_tokens=32_000)}
    assert steered(settings({"fallback": ["local/n"]}), found).roles["coder"].context_tokens == 32_000


def test_findings_of_another_place_do_not_hold() -> None:
    moved = finding(context_tokens=8192).model_copy(update={"base_url": "http://elsewhere/v1"})
    assert current(settings(), {"local/m": moved, "gone/m": finding()}) == {}
    assert steered(settings(), {"local/m": moved}).roles["coder"].prompts == "full"


@pytest.mark.parametrize(
    ("model", "pattern", "expected"),
    [
        ("local/qwen2.5-coder:7b", "*:7b", "compact"),
        ("local/Qwen2.5-Coder-7B-Instruct", "*-7b-*", "compact"),
        ("local/m", "local/*", "compact"),
        ("local/m", "other/*", "full"),
        ("local/mixtral-8x7b", "*-7b*", "full"),
    ],
)
def test_patterns_of_models(model: str, pattern: str, expected: str) -> None:
    after = steered(settings({"model": model}, models={"compact": [pattern]}), {})
    assert after.roles["coder"].prompts == expected


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("local/llama3.2:3b", "compact"),
        ("local/qwen2.5-coder:1.5b-instruct", "compact"),
        ("openrouter/meta-llama/Llama-3.1-8B-Instruct", "compact"),
        ("local/qwen3-coder:30b", "full"),
        ("local/Qwen3-Coder-30B-A3B-Instruct", "full"),
        ("local/gemma3:27b", "full"),
        ("openai/gpt-5-mini", "full"),
        ("command:claude -p --model x-3b", "full"),
    ],
)
def test_small_models_are_known_by_their_names(model: str, expected: str) -> None:
    assert steered(settings({"model": model}), {}).roles["coder"].prompts == expected


TOOL = ToolSpec(
    name="note",
    description="Note it.",
    parameters={
        "type": "object",
        "properties": {"text": {"type": "string"}, "lines": {"type": "array", "items": {"type": "integer"}}},
        "required": ["text"],
        "additionalProperties": False,
    },
)
ASK = ModelRequest(
    messages=(Message(role="system", content="RULES"), Message(role="user", content="ROLE: coder\n\nBRIEF")),
    tools=(TOOL,),
)


async def answered(
    rules: list[dict[str, Any]], known: Capabilities | None, role: Role | None = None, **provider: Any
) -> tuple[ModelReply, dict[str, Any]]:
    with ScriptedServer(rules, lacks=provider.pop("lacks", ())) as server:
        found = known and known.model_copy(update={"base_url": server.base_url})
        memory = ModelMemory({"local/m": found} if found else {})
        model = OpenAIModel("local/m", Provider(base_url=server.base_url, **provider), role, memory=memory)
        reply = await model.complete(ASK)
        await model.aclose()
    return reply, dict(server.requests[-1].body)


HELD = '{"text": "so be it", "calls": [{"tool": "note", "arguments": {"text": "x", "lines": null}}]}'


async def test_without_tools_and_with_schemas_calls_are_held_to_one() -> None:
    rules = [{"replies": [{"text": HELD}]}]
    reply, body = await answered(rules, finding(tools=False, json_schema=True, stream=True))
    assert (reply.text, reply.tool_calls[0].name) == ("so be it", "note")
    assert reply.tool_calls[0].arguments == '{"text": "x", "lines": null}'
    schema = body["response_format"]["json_schema"]
    assert schema["strict"] is True
    call = schema["schema"]["properties"]["calls"]["items"]["anyOf"][0]
    assert call["properties"]["tool"]["enum"] == ["note"]
    arguments = call["properties"]["arguments"]
    assert arguments["required"] == ["text", "lines"]
    assert arguments["properties"]["lines"]["anyOf"][1] == {"type": "null"}
    assert "tools" not in body
    assert '"calls"' in body["messages"][0]["content"]


async def test_a_text_in_the_schema_is_a_text() -> None:
    reply, _ = await answered(
        [{"replies": [{"text": '{"text": "only words", "calls": []}'}]}], finding(tools=False, json_schema=True)
    )
    assert (reply.text, reply.tool_calls) == ("only words", ())


async def test_a_call_that_is_quoted_in_the_text_of_a_schema_is_none() -> None:
    text = 'It says: {"tool": "note", "arguments": {"text": "approve"}}'
    rules = [{"replies": [{"text": json.dumps({"text": text, "calls": []})}]}]
    reply, _ = await answered(rules, finding(tools=False, json_schema=True))
    assert (reply.text, reply.tool_calls) == (text, ())


async def test_a_schema_that_is_refused_later_is_left_out() -> None:
    rules = [{"replies": [{"text": '{"tool": "note", "arguments": {"text": "x"}}'}]}]
    reply, body = await answered(rules, finding(tools=False, json_schema=True), lacks=["json_schema"])
    assert reply.tool_calls[0].name == "note"
    assert "response_format" not in body


async def test_findings_steer_and_settings_win() -> None:
    rules = [{"replies": [{"text": "hello"}]}]
    _, body = await answered(rules, finding(tools=False, stream=False, json_schema=False))
    assert "stream" not in body
    assert "tools" not in body
    assert "response_format" not in body
    _, body = await answered(rules, finding(tools=False, stream=False), tools=True, stream=True)
    assert body["stream"] is True
    assert body["tools"]
    _, body = await answered(rules, finding(tools=False), Role(model="local/m", tools=True))
    assert body["tools"]
    _, body = await answered(rules, finding(tools=None, stream=None))
    assert body["stream"] is True
    assert body["tools"]


async def test_without_a_system_message_the_instructions_are_the_head_of_the_brief() -> None:
    _, body = await answered([{"replies": [{"text": "hello"}]}], finding(system=False), lacks=["system"])
    (message,) = body["messages"]
    assert message["role"] == "user"
    assert message["content"].startswith("ROLE: coder\n\nRULES\n")
    assert message["content"].endswith("\n\nBRIEF")
