from __future__ import annotations

import pytest

from swarmgate.domain.usage import Usage
from swarmgate.errors import EndpointFailed
from swarmgate.llm.events import FellBack, ModelEvent
from swarmgate.llm.model import CallFailed, Message, ModelRequest
from swarmgate.llm.scripted import ScriptedModel
from swarmgate.llm.wrappers.fallback import REST_S, Fallback

ASK = ModelRequest(messages=(Message(role="system", content="s"), Message(role="user", content="u")))


def down(name: str) -> CallFailed:
    return CallFailed(f"{name}: down", hint=f"look at {name}", retriable=True, usage=Usage(prompt_tokens=1))


async def test_the_next_model_answers_and_is_named() -> None:
    told: list[ModelEvent] = []
    first = ScriptedModel([down("a/1")], name="a/1")
    reply = await Fallback([first, ScriptedModel(["hello"], name="b/2")], on_event=told.append).complete(ASK)
    assert (reply.text, reply.model, reply.usage.prompt_tokens) == ("hello", "b/2", 1)
    assert told == [FellBack(model="a/1", to="b/2", reason="a/1: down")]


async def test_all_used_up_names_each_model_and_how_to_go_on() -> None:
    models = [ScriptedModel([down(name)], name=name) for name in ("a/1", "b/2")]
    with pytest.raises(EndpointFailed) as caught:
        await Fallback(models).complete(ASK)
    assert caught.value.exit_code == 5
    assert caught.value.message == "every model of the role failed: a/1: down; b/2: down"
    assert "look at a/1; look at b/2; " in caught.value.hint
    assert "`swarm run`" in caught.value.hint


@pytest.mark.parametrize(
    ("names", "awaited"),
    [
        (["a/1"], "the endpoint answers"),
        (["command:x"], "the program works"),
        (["command:x", "a/1"], "one of them works"),
    ],
)
async def test_what_to_wait_for_is_named(names: list[str], awaited: str) -> None:
    with pytest.raises(EndpointFailed) as caught:
        await Fallback([ScriptedModel([down(name)], name=name) for name in names]).complete(ASK)
    assert caught.value.hint.endswith(f"once {awaited}")


async def test_a_model_that_is_down_is_asked_last_for_a_while() -> None:
    now = [0.0]
    first = ScriptedModel([down("a/1"), "first again"], name="a/1")
    second = ScriptedModel(["one", "two"], name="b/2")
    model = Fallback([first, second], clock=lambda: now[0])
    assert [(await model.complete(ASK)).text for _ in range(2)] == ["one", "two"]
    now[0] = REST_S + 1
    assert (await model.complete(ASK)).text == "first again"


async def test_a_refused_request_does_not_put_the_model_to_rest() -> None:
    first = ScriptedModel([CallFailed("a/1: too long"), "short enough"], name="a/1")
    model = Fallback([first, ScriptedModel(["one"], name="b/2")])
    assert [(await model.complete(ASK)).text for _ in range(2)] == ["one", "short enough"]
