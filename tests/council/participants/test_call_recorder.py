"""Tests that a participant's requests and usage are recorded, also when its calls fail."""

from __future__ import annotations

import hashlib

import pytest
from tests.council.conftest import Council, voice

from swarmgate.council.participants.call_recorder import CallRecorder, with_recorder
from swarmgate.domain.review.votes import Seat
from swarmgate.domain.usage import Usage
from swarmgate.errors import EndpointFailed
from swarmgate.llm.model import CallFailed, Message, ModelReply, ModelRequest, ToolCall

ASKED = ModelRequest(messages=(Message(role="system", content="s"), Message(role="user", content="u")))


class Spending:
    """A model whose endpoint takes tokens for what it answers, and for what it does not."""

    name = "local/first"

    def __init__(self, *answers: ModelReply | Exception) -> None:
        self.answers = list(answers)

    async def complete(self, request: ModelRequest) -> ModelReply:  # noqa: ARG002 - the protocol's signature
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def reply(tokens: int, model: str = "") -> ModelReply:
    return ModelReply(text="x", usage=Usage(calls=1, prompt_tokens=tokens), model=model)


async def test_usage_is_summed_over_answers_and_failures() -> None:
    failed = CallFailed("429", usage=Usage(calls=1, prompt_tokens=7))
    recorder = CallRecorder(Spending(reply(10), failed, reply(100), ValueError("no call")))
    await recorder.complete(ASKED)
    with pytest.raises(CallFailed):
        await recorder.complete(ASKED)
    await recorder.complete(ASKED)
    with pytest.raises(ValueError, match="no call"):
        await recorder.complete(ASKED)
    assert (recorder.usage.calls, recorder.usage.prompt_tokens) == (3, 117)


async def test_who_answered_is_the_newest_that_did() -> None:
    recorder = CallRecorder(Spending(reply(1), reply(1, "local/second"), reply(1), CallFailed("down")))
    assert recorder.name == recorder.model == "local/first"
    for expected in ("local/first", "local/second", "local/second"):
        await recorder.complete(ASKED)
        assert recorder.model == expected
    with pytest.raises(CallFailed):
        await recorder.complete(ASKED)
    assert recorder.model == "local/second"


async def test_the_hash_is_that_of_the_newest_conversation_that_was_sent() -> None:
    call = ToolCall(id="1", name="search", arguments='{"text": "x"}')
    longer = ModelRequest(
        messages=(
            *ASKED.messages,
            Message(role="assistant", tool_calls=(call,)),
            Message(role="tool", content="\ud800", tool_call_id="1"),
        )
    )
    recorder = CallRecorder(Spending(reply(1), CallFailed("down")))
    assert recorder.prompt_hash == ""
    await recorder.complete(ASKED)
    assert recorder.prompt_hash == hashlib.sha256(b"system\0s\0\0user\0u\0\0").hexdigest()
    with pytest.raises(CallFailed):
        await recorder.complete(longer)
    told = b'system\0s\0\0user\0u\0\0assistant\0\0\x001\0search\0{"text": "x"}\0tool\0\xed\xa0\x80\x001\0'
    assert recorder.prompt_hash == hashlib.sha256(told).hexdigest()


@pytest.mark.parametrize(
    "other",
    [
        (Message(role="system", content="s"), Message(role="user", content="v")),
        (Message(role="system", content="su"), Message(role="user", content="")),
        (Message(role="system", content="s"), Message(role="assistant", content="u")),
    ],
)
async def test_another_conversation_has_another_hash(other: tuple[Message, ...]) -> None:
    hashes = set()
    for request in (ASKED, ModelRequest(messages=other)):
        recorder = CallRecorder(Spending(reply(1)))
        await recorder.complete(request)
        hashes.add(recorder.prompt_hash)
    assert len(hashes) == 2


async def test_each_desk_has_ears_of_its_own(council: Council) -> None:
    council.play(voice(None, None, "Hm."))
    agent = council.agent(Seat(id="a"))
    (one, first), (other, second) = with_recorder(agent), with_recorder(agent)
    await one.model.complete(ASKED.model_copy(update={"messages": (ASKED.messages[0], _asked_of("a"))}))
    assert (first.usage.calls, second.usage.calls) == (1, 0)
    assert first.seconds > 0
    assert one.files is other.files is agent.files
    assert council.server
    council.server.stop()
    with pytest.raises(EndpointFailed):
        await other.model.complete(ASKED)
    assert (first.usage.calls, second.model) == (1, "local/plain")


def _asked_of(name: str) -> Message:
    return Message(role="user", content=f"ROLE: participant\nSTEP: debate\nPARTICIPANT: {name}\nROUND: 1\n\nWell?")
