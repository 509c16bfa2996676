"""Pages and foreign forms with status 200, and answers that end by their length: said as what they are."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from swarmgate.config import Provider, Role
from swarmgate.domain.usage import Usage
from swarmgate.llm.endpoint.answer_length import longest_answer, where_cut
from swarmgate.llm.endpoint.openai_model import OpenAIModel
from swarmgate.llm.events import CutOff, ModelEvent
from swarmgate.llm.model import REPEATS, CallFailed, Message, ModelReply, ModelRequest

ASK = ModelRequest(messages=(Message(role="system", content="s"), Message(role="user", content="u")))


async def answered(url: str, role: Role | None = None, told: list[ModelEvent] | None = None, **more: Any) -> ModelReply:
    on_event = told.append if told is not None else lambda _event: None
    model = OpenAIModel("local/m", Provider(base_url=url), role, on_event=on_event, **more)
    try:
        return await model.complete(ASK)
    finally:
        await model.aclose()


LOGIN = b"<!doctype html><html><head><title>Corp SSO</title></head><form><input type='password'></form></html>"
UI = b'<!DOCTYPE html><html><head><title>Open WebUI</title></head><body><div id="app"></div></body></html>'
PROXY = b"<html>\n<head><title>502 Bad Gateway</title></head><body><hr>nginx/1.25</body></html>"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["text/html", "text/html; charset=utf-8", "application/json", "text/event-stream", ""])
@pytest.mark.parametrize(
    ("data", "says", "hint", "retriable"),
    [
        (LOGIN, 'sent a login page "Corp SSO"', "log in", False),
        (UI, 'sent a web page "Open WebUI"', "/v1", False),
        (PROXY, 'sent an error page of a proxy "502 Bad Gateway"', "look at the server", True),
        (b"Ollama is running", 'but "Ollama is running"', "/v1", True),
        (b"", "sent nothing at all", "/v1", True),
        (b'{"detail": "Not Found"}', "but: Not Found", "/v1", True),
        (b'{"model": "m", "message": {"content": "hi"}, "done": true}', "JSON without `choices`", "Ollama", True),
        (b'{"message": {"content": "hi"}, "done": false}\n{"done": true}\n', "JSON without `choices`", "Ollama", True),
        (b'{"object": "response", "output": []}', "JSON without `choices` (object, output)", "/chat/completions", True),
    ],
    ids=["login", "ui", "proxy", "words", "nothing", "detail", "ollama", "ollama streams", "responses"],
)
async def test_a_page_says_what_it_is(
    serving: Callable[..., Any], *, kind: str, data: bytes, says: str, hint: str, retriable: bool
) -> None:
    if kind == "application/json" and (not data.startswith((b"<", b"{")) or b"\n{" in data):
        pytest.skip("unreadable JSON is told as that")
    with serving(lambda _body, _headers: (200, kind, data)) as url, pytest.raises(CallFailed) as caught:
        await answered(url)
    assert says in caught.value.message
    assert hint in caught.value.hint
    assert caught.value.retriable is retriable


async def test_an_address_without_v1_is_told_with_the_one_to_try(serving: Callable[..., Any]) -> None:
    with serving(lambda _body, _headers: (200, "text/html", UI)) as url, pytest.raises(CallFailed) as caught:
        await answered(url.removesuffix("/v1"))
    assert f"try {url}" in caught.value.hint


@pytest.mark.parametrize("kind", ["text/plain", "text/html", "application/octet-stream"])
async def test_an_answer_in_json_under_another_name_is_one(serving: Callable[..., Any], kind: str) -> None:
    data = json.dumps({"choices": [{"message": {"content": "hello"}, "finish_reason": "stop"}]}).encode()
    with serving(lambda _body, _headers: (200, kind, data)) as url:
        assert (await answered(url)).text == "hello"


def whole(content: Any, finish: str, prompt: int, completion: int) -> bytes:
    usage = {"prompt_tokens": prompt, "completion_tokens": completion}
    return json.dumps(
        {"choices": [{"message": {"content": content}, "finish_reason": finish}], "usage": usage}
    ).encode()


@pytest.mark.parametrize(
    ("role", "longest", "usage", "says"),
    [
        ({"max_tokens": 1000}, None, (500, 1000), "at max_tokens = 1,000 of the role"),
        ({}, 4096, (500, 4096), "at 4,096 tokens, the built-in longest answer"),
        ({"context_tokens": 16_384}, 8_000, (9_000, 7_380), "at the end of the window of 16,384 tokens"),
        ({}, 8_000, (9_000, 3_000), "after 3,000 tokens, by a limit of the endpoint's own"),
    ],
)
@pytest.mark.parametrize("content", ["a beginning", None])
async def test_a_cut_off_says_where_and_what_to_set(
    serving: Callable[..., Any],
    *,
    role: dict[str, Any],
    longest: int | None,
    usage: tuple[int, int],
    says: str,
    content: str | None,
) -> None:
    told: list[ModelEvent] = []
    settings = Role(model="local/m", **role)
    with serving(lambda _body, _headers: (200, "application/json", whole(content, "length", *usage))) as url:
        if content is None:
            with pytest.raises(CallFailed) as caught:
                await answered(url, settings, told, longest=longest)
            assert f"cut off {says} before it said anything" in caught.value.message
            assert caught.value.hint
            return
        reply = await answered(url, settings, told, longest=longest)
    assert reply.cut == says
    (event,) = told
    assert isinstance(event, CutOff)
    assert says in event.text


async def test_a_loop_in_one_body_is_treated_like_a_streamed_one(serving: Callable[..., Any]) -> None:
    data = whole("The plan:\n" + "Task 1 is to add the parser.\n" * 1000, "length", 500, 7_000)
    told: list[ModelEvent] = []
    with serving(lambda _body, _headers: (200, "application/json", data)) as url:
        reply = await answered(url, None, told)
    assert reply.finish_reason == REPEATS
    assert reply.usage.completion_tokens == 7_000
    assert len(reply.text) < 1000
    assert len(told) == 1


def test_the_longest_answer_follows_role_and_window() -> None:
    assert longest_answer("coder", 16_384) == 3_276
    assert longest_answer("reviewer", 1_000_000) == 16_384
    assert longest_answer("architect", 1_000_000) == 32_768
    assert longest_answer("coder", None) == 25_600
    assert longest_answer("coder", 2_000) == 1_024


def test_a_window_that_is_full_is_no_limit_of_the_role() -> None:
    where, hint = where_cut(
        Usage(prompt_tokens=15_000, completion_tokens=1_380), asked=4_000, written=True, window=16_384
    )
    assert "window of 16,384" in where
    assert "larger window" in hint


@pytest.mark.parametrize(
    ("status", "kind", "data", "says", "hint"),
    [
        (400, "text/html", PROXY.replace(b"502 Bad Gateway", b"400 Bad Request"), 'a web page "400 Bad Request"', ""),
        (403, "text/html", b"<!DOCTYPE html><title>Just a moment...</title>", 'proxy "Just a moment..."', "may use"),
        (413, "text/html", b"<html><title>413 Request Entity Too Large</title>", "Too Large", "client_max_body_size"),
        (405, "application/json", b'{"detail": "Method Not Allowed"}', "Method Not Allowed", "base_url"),
        (415, "application/json", b'{"message": "Unsupported Media Type"}', "Unsupported Media Type", "base_url"),
        (418, "text/plain", b"I'm a teapot", "teapot", "base_url"),
        (307, "text/plain", b"", "answered 307", "base_url"),
        (407, "text/html", b"<title>Proxy Authentication Required</title>", "Authentication", "HTTPS_PROXY"),
        (451, "application/json", b'{"error": {"message": "not here"}}', "not here", "another"),
        (400, "application/json", b'{"error": {"message": "m is not a valid model ID"}}', "model ID", "model name `m`"),
        (400, "application/json", b'{"error": {"message": "rate limit exceeded"}}', "rate limit", ""),
        (
            500,
            "application/json",
            b'{"error": {"message": "exceeds the available context size"}}',
            "too long",
            "larger",
        ),
    ],
)
async def test_a_refusal_is_asked_once_and_says_what_helps(
    serving: Callable[..., Any], *, status: int, kind: str, data: bytes, says: str, hint: str
) -> None:
    asked: list[dict[str, Any]] = []

    def respond(body: dict[str, Any], _headers: object) -> tuple[int, str, bytes]:
        asked.append(body)
        return status, kind, data

    with serving(respond) as url, pytest.raises(CallFailed) as caught:
        await answered(url)
    assert says in caught.value.message
    assert "<" not in caught.value.message
    assert hint in caught.value.hint
    assert len(asked) == 1
