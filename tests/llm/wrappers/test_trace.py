from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import count

import pytest

from swarmgate.domain.text.redaction import MASK
from swarmgate.errors import UsageError
from swarmgate.llm.model import CallFailed, Message, ModelReply, ModelRequest, ToolCall, ToolSpec
from swarmgate.llm.scripted import ScriptedModel
from swarmgate.llm.wrappers.recorded import RecordedModel
from swarmgate.llm.wrappers.trace import Exchange, Traced

KEY = "sk-abcdefghijklmnopqrstuv"
CALL = ToolCall(id="1", name="write_file", arguments=f'{{"content": "{KEY}"}}')
ASK = ModelRequest(
    messages=(Message(role="system", content="s"), Message(role="user", content=f"use {KEY}, not plain-key")),
    tools=(ToolSpec(name="finish", description="", parameters={}),),
    purpose={"role": "coder", "task": "1.1"},
)
NOW = datetime(2026, 1, 1, tzinfo=UTC)


class Kept(list[Exchange]):
    def record(self, exchange: Exchange) -> None:
        self.append(exchange)


def traced(inner: ScriptedModel, kept: Kept) -> Traced:
    ticks = count()
    return Traced(inner, kept, secrets=["plain-key", ""], clock=lambda: NOW + timedelta(seconds=next(ticks)))


async def test_an_exchange_is_recorded_whole_and_without_secrets() -> None:
    kept = Kept()
    reply = await traced(ScriptedModel([ModelReply(text=KEY, tool_calls=(CALL,))]), kept).complete(ASK)
    assert reply.tool_calls[0].arguments == CALL.arguments  # what the caller gets is untouched
    (exchange,) = kept
    assert exchange.messages[1].content == f"use {MASK}, not {MASK}"
    assert exchange.reply
    assert exchange.reply.text == MASK
    assert exchange.reply.tool_calls[0].arguments == f'{{"content": "{MASK}"}}'
    assert (exchange.model, exchange.tools, exchange.purpose["task"]) == ("scripted/model", ("finish",), "1.1")
    assert (exchange.started_at, exchange.seconds, exchange.error) == (NOW, 1.0, "")
    assert Exchange.model_validate_json(exchange.model_dump_json()) == exchange


async def test_a_failed_exchange_is_recorded_too() -> None:
    kept = Kept()
    model = traced(ScriptedModel([CallFailed(f"refused {KEY}"), KeyError("bug")]), kept)
    for error in (CallFailed, KeyError):
        with pytest.raises(error):
            await model.complete(ASK)
    assert [exchange.error for exchange in kept] == [f"refused {MASK}", "KeyError"]
    assert not any(exchange.reply for exchange in kept)


async def test_a_trace_is_played_again_without_its_failures() -> None:
    kept = Kept()
    model = traced(ScriptedModel(["one", CallFailed("no"), "two"]), kept)
    await model.complete(ASK)
    with pytest.raises(CallFailed):
        await model.complete(ASK)
    await model.complete(ASK)
    replay = RecordedModel(kept)
    assert replay.name == "scripted/model"
    assert [(await replay.complete(ASK)).text for _ in range(2)] == ["one", "two"]
    with pytest.raises(UsageError, match=r"holds 2 answers; request 3 is for role=coder task=1\.1"):
        await replay.complete(ASK)


async def test_a_run_that_goes_another_way_than_its_trace_is_told() -> None:
    kept = Kept()
    await traced(ScriptedModel(["one"]), kept).complete(ASK)
    for other in (
        ASK.model_copy(update={"purpose": {"role": "critic"}}),
        ASK.model_copy(update={"messages": (*ASK.messages, Message(role="assistant", content="x"))}),
    ):
        with pytest.raises(UsageError, match="request 1 is not the recorded one"):
            await RecordedModel(kept).complete(other)
    with pytest.raises(UsageError, match="holds 0 answers"):
        await RecordedModel([]).complete(ASK)
