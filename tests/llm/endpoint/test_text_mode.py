"""Models that turn out not to call tools, over real HTTP: they go on in text, are told of once, and remembered."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from tests.llm.endpoint.test_model_memory import Kept, speaking

from swarmgate.agents.tools.tool_table import offered
from swarmgate.domain.capabilities import Capabilities
from swarmgate.llm.endpoint.model_memory import ModelMemory
from swarmgate.llm.events import ModelEvent
from swarmgate.llm.model import REPEATS, TOO_LONG, Message, ModelRequest

TOOLS = tuple(tool.spec for tool in offered("coder", "code"))
ASK = ModelRequest(
    messages=(Message(role="system", content="RULES"), Message(role="user", content="ROLE: coder\n\nBRIEF")),
    tools=TOOLS,
    call_due=True,
)
SPELT = '{"tool": "finish", "arguments": {"summary": "done"}}'
NATIVE = {"id": "c1", "type": "function", "function": {"name": "finish", "arguments": '{"summary": "done"}'}}
Body = dict[str, Any]


class Endpoint:
    """Answers what `says` makes of a request; keeps the requests."""

    def __init__(self, says: Callable[[Body], Mapping[str, Any]]) -> None:
        self.seen: list[Body] = []
        self._says = says

    def __call__(self, body: Body, _headers: Mapping[str, str]) -> tuple[int, str, bytes]:
        self.seen.append(body)
        message = {"role": "assistant", "content": None, **self._says(body)}
        usage = {"prompt_tokens": 10, "completion_tokens": 5}
        answer = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": usage}
        return 200, "application/json", json.dumps(answer).encode()

    @property
    def natively(self) -> list[bool]:
        """Of each request, whether it offered tools."""
        return ["tools" in body for body in self.seen]


async def test_a_call_in_the_text_of_the_first_answer_is_taken_and_text_is_asked_for_from_then_on(serving: Any) -> None:
    endpoint, told, kept = (
        Endpoint(lambda _body: {"content": f"I am done.\n```json\n{SPELT}\n```"}),
        list[ModelEvent](),
        Kept(),
    )
    with serving(endpoint) as url:
        memory = ModelMemory(store=kept)
        async with speaking(url, memory, told) as coder, speaking(url, memory, told) as reviewer:
            first = await coder.complete(ASK)
            await reviewer.complete(ASK)
            await coder.complete(ASK)
        async with speaking(url, ModelMemory(kept), told) as later:
            again = await later.complete(ASK)
    assert [(call.name, call.arguments) for call in first.tool_calls] == [("finish", '{"summary": "done"}')]
    assert (first.text, first.repaired) == ("I am done.", ("finish: called in text",))
    assert (again.tool_calls, again.repaired) == (first.tool_calls, ())
    assert endpoint.natively == [True, False, False, False]
    assert kept["local/m"].tools is False
    (event,) = told
    assert "it does not call tools" in event.text


async def test_an_endpoint_that_drops_the_tools_is_asked_in_text_before_a_failure_is_counted(serving: Any) -> None:
    def says(body: Body) -> Mapping[str, Any]:
        return {"content": "I would look at the files." if "tools" in body else SPELT}

    endpoint, told, kept = Endpoint(says), list[ModelEvent](), Kept()
    with serving(endpoint) as url:
        async with speaking(url, ModelMemory(store=kept), told) as model:
            reply = await model.complete(ASK)
            await model.complete(ASK)
    assert [call.name for call in reply.tool_calls] == ["finish"]
    assert (reply.usage.calls, reply.usage.prompt_tokens) == (2, 20)
    assert endpoint.natively == [True, False, False]
    assert kept["local/m"].tools is False
    assert len(told) == 1


async def test_a_model_that_only_talks_is_asked_in_text_once_and_nothing_is_remembered(serving: Any) -> None:
    endpoint, told, kept = Endpoint(lambda _body: {"content": "I like it."}), list[ModelEvent](), Kept()
    with serving(endpoint) as url:
        async with speaking(url, ModelMemory(store=kept), told) as model:
            for _ in range(3):
                assert (await model.complete(ASK)).text == "I like it."
    assert endpoint.natively == [True, False, True, True]
    assert (told, kept) == ([], {})


@pytest.mark.parametrize("later", ["Now I am done.", SPELT])
async def test_a_model_that_has_called_tools_stays_where_it_is(serving: Any, later: str) -> None:
    answers: list[dict[str, Any]] = [{"tool_calls": [NATIVE]}, {"content": later}, {"tool_calls": [NATIVE]}]
    endpoint, told = Endpoint(lambda _body: answers[len(endpoint.seen) - 1]), list[ModelEvent]()
    with serving(endpoint) as url:
        async with speaking(url, ModelMemory(), told) as model:
            replies = [await model.complete(ASK) for _ in answers]
    assert endpoint.natively == [True, True, True]
    assert bool(replies[1].tool_calls) == (later == SPELT)
    assert told == []


@pytest.mark.parametrize("settings", [{"tools": True}, {"role": {"tools": True}}])
async def test_what_the_user_wrote_stays(serving: Any, settings: Mapping[str, Any]) -> None:
    endpoint, told = Endpoint(lambda _body: {"content": "Words."}), list[ModelEvent]()
    with serving(endpoint) as url:
        async with speaking(url, ModelMemory(), told, **settings) as model:
            await model.complete(ASK)
    assert (endpoint.natively, told) == ([True], [])


async def test_words_are_an_answer_where_no_call_is_due(serving: Any) -> None:
    endpoint = Endpoint(lambda _body: {"content": 'Use it so: {"name": "tool", "parameters": {}}.'})
    with serving(endpoint) as url:
        async with speaking(url, ModelMemory(), []) as model:
            reply = await model.complete(ASK.model_copy(update={"call_due": False}))
    assert reply.text.startswith("Use it so: {")
    assert endpoint.natively == [True]


async def test_native_calls_are_taken_though_text_was_asked_for(serving: Any) -> None:
    endpoint = Endpoint(lambda _body: {"content": "", "tool_calls": [NATIVE]})
    with serving(endpoint) as url:
        known = {"local/m": Capabilities(model="local/m", base_url=url, asked="", tools=False)}
        async with speaking(url, ModelMemory(known), []) as model:
            reply = await model.complete(ASK)
    assert [call.name for call in reply.tool_calls] == ["finish"]
    assert endpoint.natively == [False]


def call(name: str, arguments: str) -> dict[str, Any]:
    return {"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}}


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("functions.finish", '{"summary": "done"}'),
        ("finish<|channel|>commentary", '{"summary": "done"}'),
        ("finish", '```json\n{"summary": "done"}\n```'),
        ("finish", '{"summary": "done",}'),
        ("finish", "{'summary': 'done'}"),
        ("finish", '<think>Shall I? {"summary": "no"}</think>{"summary": "done"}'),
        ("finish", 'Shall I?</think>\n{"summary": "done"}'),
    ],
)
async def test_native_calls_are_put_right_where_that_is_clear(serving: Any, name: str, arguments: str) -> None:
    endpoint = Endpoint(lambda _body: {"tool_calls": [call(name, arguments)]})
    with serving(endpoint) as url:
        async with speaking(url, ModelMemory(), []) as model:
            reply = await model.complete(ASK)
    assert [(each.name, json.loads(each.arguments)) for each in reply.tool_calls] == [("finish", {"summary": "done"})]
    assert len(reply.repaired) == 1


async def test_thinking_beside_native_calls_is_no_text_and_calls_nothing(serving: Any) -> None:
    thought = f"<think>Perhaps {SPELT}?</think>\nI read first."
    endpoint = Endpoint(lambda _body: {"content": thought, "tool_calls": [call("run_gates", "{}")]})
    with serving(endpoint) as url:
        async with speaking(url, ModelMemory(), []) as model:
            reply = await model.complete(ASK)
    assert ([each.name for each in reply.tool_calls], reply.text, reply.doubt) == (["run_gates"], "I read first.", "")
    assert reply.thought == f"<think>Perhaps {SPELT}?</think>"


async def test_thinking_alone_is_no_empty_answer_and_no_reason_for_text(serving: Any) -> None:
    endpoint = Endpoint(lambda _body: {"content": f"<think>Perhaps {SPELT}?"})
    with serving(endpoint) as url:
        async with speaking(url, ModelMemory(), []) as model:
            reply = await model.complete(ASK)
    assert (reply.text, reply.tool_calls, bool(reply.thought)) == ("", (), True)
    assert endpoint.natively == [True]


@pytest.mark.parametrize(("spelt", "doubted"), [(SPELT, False), (SPELT.replace("done", "half done"), True)])
async def test_native_calls_and_others_in_the_text_contradict_each_other(
    serving: Any,
    spelt: str,
    doubted: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    endpoint = Endpoint(lambda _body: {"content": spelt, "tool_calls": [NATIVE]})
    with serving(endpoint) as url:
        async with speaking(url, ModelMemory(), []) as model:
            reply = await model.complete(ASK)
    assert (bool(reply.doubt), len(reply.tool_calls)) == (doubted, 1)


async def test_fields_of_reasoning_are_never_read(serving: Any) -> None:
    endpoint = Endpoint(lambda _body: {"content": "Words.", "reasoning_content": SPELT, "reasoning": SPELT})
    with serving(endpoint) as url:
        async with speaking(url, ModelMemory(), []) as model:
            reply = await model.complete(ASK.model_copy(update={"call_due": False}))
    assert (reply.text, reply.tool_calls) == ("Words.", ())


@pytest.mark.parametrize("thought", ["So many thoughts, " * 70_000, " ".join(map(str, range(200_000)))])
async def test_thinking_of_an_answer_that_was_cut_off_is_not_shown(serving: Any, thought: str) -> None:
    endpoint = Endpoint(lambda _body: {"content": f"<think>{thought}"})
    with serving(endpoint) as url:
        async with speaking(url, ModelMemory(), []) as model:
            reply = await model.complete(ASK)
    assert reply.finish_reason in (TOO_LONG, REPEATS)
    assert reply.text == ""
