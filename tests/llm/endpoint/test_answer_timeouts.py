"""Slow beginnings, held back arguments, keep-alives and silences, over real sockets."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from swarmgate.config import Provider, Role
from swarmgate.llm.endpoint.answer_timeouts import AnswerTimer, TimeLimits
from swarmgate.llm.endpoint.openai_model import OpenAIModel
from swarmgate.llm.events import Answering, CutOff, ModelEvent
from swarmgate.llm.model import REPEATS, CallFailed, Message, ModelRequest

ASK = ModelRequest(messages=(Message(role="system", content="s"), Message(role="user", content="u")))
Write = Callable[[bytes], Awaitable[None]]


def chunk(**delta: Any) -> bytes:
    return b"data: " + json.dumps({"choices": [{"delta": delta}]}).encode() + b"\n\n"


END = b'data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'


@asynccontextmanager
async def streaming(play: Callable[[Write], Awaitable[None]]) -> AsyncIterator[str]:
    """An endpoint that streams as `play` does."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async def write(data: bytes) -> None:
            writer.write(data)
            await writer.drain()

        try:
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
            await reader.readexactly(length)
            await write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
            await play(write)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"


async def asked(url: str, limits: TimeLimits, told: list[ModelEvent] | None = None) -> Any:
    model = OpenAIModel("local/m", Provider(base_url=url), limits=limits, on_event=(told or []).append)
    try:
        return await model.complete(ASK)
    finally:
        await model.aclose()


async def test_a_slow_beginning_is_bounded_by_its_own_limit() -> None:
    never = asyncio.Event()

    async def thinks(write: Write) -> None:
        await never.wait()

    async with streaming(thinks) as url:
        with pytest.raises(CallFailed, match=r"no answer began within 0\.1 s \(first_byte_s\)") as caught:
            await asked(url, TimeLimits(30, 0.1, 30))
        assert caught.value.retriable
        assert "[providers.local]" in caught.value.hint
        never.set()


@pytest.mark.slow
@pytest.mark.parametrize("sign", [b": OPENROUTER PROCESSING\n\n", chunk(role="assistant", content=""), b"\n"])
async def test_a_keep_alive_is_a_sign_of_life_before_the_answer(sign: bytes) -> None:
    async def alive(write: Write) -> None:
        for _ in range(10):
            await write(sign)
            await asyncio.sleep(0.1)
        await write(chunk(content="at last") + END)

    async with streaming(alive) as url:
        assert (await asked(url, TimeLimits(60, 0.9, 0.01))).text == "at last"


async def test_a_keep_alive_without_an_end_is_bounded_by_the_whole() -> None:
    async def for_ever(write: Write) -> None:
        while True:
            await write(b": ping\n\n")
            await asyncio.sleep(0.02)

    async with streaming(for_ever) as url:
        with pytest.raises(CallFailed, match=r"no complete answer within 0\.5 s \(timeout_s\)"):
            await asked(url, TimeLimits(0.5, 0.4, 0.4))


@pytest.mark.slow
async def test_arguments_that_are_held_back_are_waited_for() -> None:
    held = asyncio.Event()

    async def holds(write: Write) -> None:
        call = {"index": 0, "id": "c", "function": {"name": "write_file", "arguments": ""}}
        await write(chunk(tool_calls=[call]))
        await asyncio.sleep(0.5)
        held.set()
        await write(chunk(tool_calls=[{"index": 0, "function": {"arguments": '{"path": "a"}'}}]) + END)

    async with streaming(holds) as url:
        reply = await asked(url, TimeLimits(60, 60, 60))
    assert held.is_set()
    assert reply.tool_calls[0].arguments == '{"path": "a"}'


def test_the_limits_follow_timeout_s_and_the_role_says_it_first() -> None:
    at_home = Provider(base_url="http://h/v1", timeout_s=1800)
    assert TimeLimits.of(at_home) == TimeLimits(1800, 1800, 1800)
    tight = Provider(base_url="http://h/v1", timeout_s=100, first_byte_s=20, silence_s=10)
    assert TimeLimits.of(tight) == TimeLimits(100, 20, 10)
    assert TimeLimits.of(tight, Role(model="a/b", silence_s=30)) == TimeLimits(100, 20, 30)
    assert TimeLimits.of(tight, Role(model="a/b", timeout_s=15)) == TimeLimits(15, 15, 10)
    assert TimeLimits.of(tight).whole == TimeLimits(100, 100, 100)


def test_a_whole_answer_has_one_limit() -> None:
    timer = AnswerTimer(TimeLimits(100, 1, 1).whole, lambda: 0.0)
    assert timer.until == 100


async def test_a_loop_is_cut_while_it_streams_and_counted() -> None:
    sent = 0

    async def loops(write: Write) -> None:
        nonlocal sent
        await write(chunk(content="The plan:\n"))
        while True:
            await write(chunk(content="Task 1 is to add the parser.\n"))
            sent += 1
            await asyncio.sleep(0)

    told: list[ModelEvent] = []
    async with streaming(loops) as url:
        model = OpenAIModel("local/m", Provider(base_url=url), limits=TimeLimits(60, 60, 60), on_event=told.append)
        reply = await model.complete(ASK)
        await model.aclose()
    assert reply.finish_reason == REPEATS
    assert reply.tool_calls == ()
    assert reply.text.startswith("The plan:\nTask 1")
    assert len(reply.text) < 1000
    assert 900 < reply.usage.completion_tokens < 200_000
    assert "said the same over and over" in reply.cut
    assert [event.text for event in told if isinstance(event, CutOff)]


@pytest.mark.slow
async def test_how_much_of_an_answer_is_there_is_told_while_it_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("swarmgate.llm.endpoint.answer_timeouts._PROGRESS_EVERY_S", 0.05)

    async def slow(write: Write) -> None:
        for number in range(6):
            await write(chunk(content=f"line {number} " * 10))
            await asyncio.sleep(0.1)
        await write(END)

    told: list[ModelEvent] = []
    async with streaming(slow) as url:
        model = OpenAIModel("local/m", Provider(base_url=url), on_event=told.append)
        await model.complete(ASK)
        await model.aclose()
    tokens = [event.tokens for event in told if isinstance(event, Answering)]
    assert tokens == sorted(tokens)
    assert len(tokens) >= 2


def test_behind_the_reason_of_an_end_silence_is_short_and_no_failure() -> None:
    timer = AnswerTimer(TimeLimits(3600, 3600, 3600), lambda: 0.0)
    assert timer.received(begun=True, done=False) == 3600
    assert not timer.done
    assert timer.received(begun=True, done=False, ended=True) == 30
    assert timer.done


async def test_an_answer_that_has_ended_is_taken_though_the_connection_stays_open() -> None:
    hung = asyncio.Event()

    async def play(write: Write) -> None:
        await write(chunk(content="whole") + END.partition(b"data: [DONE]")[0])
        await hung.wait()

    async with streaming(play) as url:
        model = OpenAIModel("local/m", Provider(base_url=url), limits=TimeLimits(60, 60, 0.2))
        reply = await model.complete(ASK)
        await model.aclose()
        hung.set()
    assert (reply.text, reply.finish_reason) == ("whole", "stop")
