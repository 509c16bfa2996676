"""What calls find out about a model: told once, known to every role, remembered for later runs."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

from swarmgate.config import Provider, Role
from swarmgate.domain.capabilities import Capabilities
from swarmgate.llm.endpoint.model_memory import Change, ModelMemory
from swarmgate.llm.endpoint.openai_model import OpenAIModel
from swarmgate.llm.events import ModelEvent
from swarmgate.llm.model import Message, ModelRequest, ToolSpec
from swarmgate.testing import ScriptedServer

ASK = ModelRequest(
    messages=(Message(role="system", content="RULES"), Message(role="user", content="ROLE: coder\n\nBRIEF")),
    tools=(ToolSpec(name="finish", description="End.", parameters={"type": "object", "properties": {}}),),
)
SAYS = [{"replies": [{"text": "hello"}]}]


class Kept(dict[str, Capabilities]):
    """What was kept for later runs."""

    def __call__(self, model: str, base_url: str, change: Change) -> None:
        self[model] = change(self.get(model) or Capabilities(model=model, base_url=base_url, asked=""))


@asynccontextmanager
async def speaking(base_url: str, memory: ModelMemory, told: list[ModelEvent], **settings: Any) -> Any:
    role = Role(model="local/m", **settings.pop("role", {}))
    model = OpenAIModel("local/m", Provider(base_url=base_url, **settings), role, memory=memory, on_event=told.append)
    try:
        yield model
    finally:
        await model.aclose()


async def test_what_one_role_finds_out_is_told_once_and_known_to_all_and_to_the_next_run() -> None:
    told, kept = list[ModelEvent](), Kept()
    memory = ModelMemory(store=kept)
    with ScriptedServer(SAYS, lacks=["tools", "system"]) as server:
        async with (
            speaking(server.base_url, memory, told) as coder,
            speaking(server.base_url, memory, told) as reviewer,
        ):
            for model in (coder, reviewer, coder):
                await model.complete(ASK)
        assert sorted(event.text.partition(":")[2][:12] for event in told) == [" it does not", " it takes no"]
        assert all(event.model == "local/m" for event in told)
        assert kept["local/m"].tools is kept["local/m"].system is False
        before = len(server.requests)
        async with speaking(server.base_url, ModelMemory(kept), again := list[ModelEvent]()) as later:
            await later.complete(ASK)
    assert len(server.requests) == before + 1
    assert again == []
    assert "tools" not in server.requests[-1].body


async def test_what_was_found_elsewhere_does_not_count() -> None:
    known = {"local/m": Capabilities(model="local/m", base_url="http://moved/v1", asked="", tools=False)}
    with ScriptedServer(SAYS) as server:
        async with speaking(server.base_url, ModelMemory(known), []) as model:
            await model.complete(ASK)
    assert server.requests[0].body["tools"]


@pytest.mark.parametrize("settings", [{"tools": True}, {"role": {"tools": True}}])
async def test_the_users_word_wins_over_what_is_known(settings: Mapping[str, Any]) -> None:
    told, kept = list[ModelEvent](), Kept()
    with ScriptedServer(SAYS) as server:
        known = {"local/m": Capabilities(model="local/m", base_url=server.base_url, asked="", tools=False)}
        async with speaking(server.base_url, ModelMemory(known, store=kept), told, **settings) as model:
            await model.complete(ASK)
            assert model.learn("tools", "it answered in text") is False
            await model.complete(ASK)
    assert all(request.body["tools"] for request in server.requests)
    assert (told, kept) == ([], {})


async def test_what_is_written_and_refused_is_left_out_for_now_and_told() -> None:
    told, kept = list[ModelEvent](), Kept()
    with ScriptedServer(SAYS, lacks=["tools"]) as server:
        async with speaking(server.base_url, ModelMemory(store=kept), told, tools=True) as model:
            await model.complete(ASK)
    (event,) = told
    assert event.text.startswith("local/m: it does not call tools: they are described in text from here on")
    assert event.text.endswith("(this model does not support tools)")
    assert kept == {}


async def test_a_finding_that_is_no_refusal_changes_the_next_call() -> None:
    told, kept = list[ModelEvent](), Kept()
    with ScriptedServer(SAYS) as server:
        async with speaking(server.base_url, ModelMemory(store=kept), told) as model:
            await model.complete(ASK)
            assert model.learn("tools", "its first reply spells a call in text") is True
            assert model.learn("tools", "again") is True
            await model.complete(ASK)
    assert [bool(request.tools) for request in server.requests] == [True, False]
    assert len(told) == 1
    assert kept["local/m"].tools is False
