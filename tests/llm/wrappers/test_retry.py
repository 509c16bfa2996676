"""Retries against the scripted server's faults, without waiting."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarmgate.config import Provider
from swarmgate.domain.usage import Usage
from swarmgate.llm.endpoint.openai_model import OpenAIModel
from swarmgate.llm.events import ModelEvent, Retrying
from swarmgate.llm.limit_resets import Limit
from swarmgate.llm.model import CallFailed, Message, ModelReply, ModelRequest
from swarmgate.llm.scripted import ScriptedModel
from swarmgate.llm.wrappers.retry import LONGEST_S, Retry, delay
from swarmgate.testing import ScriptedServer

ASK = ModelRequest(messages=(Message(role="system", content="s"), Message(role="user", content="u")))


class Sleeps(list[float]):
    async def __call__(self, seconds: float) -> None:
        self.append(seconds)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["429", "500", "cut_stream", "invalid_json", "empty", "hang"])
@pytest.mark.parametrize("stream", [True, False])
async def test_a_fault_that_passes_is_survived(kind: str, stream: bool) -> None:  # noqa: FBT001 - a parameter of the test
    sleeps = Sleeps()
    replies: list[Any] = [{"fault": {"kind": kind, "times": 2}}, {"text": "here"}]
    with ScriptedServer([{"replies": replies}]) as server:
        model = OpenAIModel("local/m", Provider(base_url=server.base_url, stream=stream), timeout_s=0.3)
        reply = await Retry(model, 5, sleep=sleeps, jitter=lambda: 0.0).complete(ASK)
        await model.aclose()
    assert reply.text == "here"
    assert sleeps == [0.5, 1.0]
    assert len(server.requests) == 3


async def test_retry_after_is_obeyed_and_told_and_a_long_one_is_no_matter_of_tries() -> None:
    sleeps, told = Sleeps(), list[ModelEvent]()
    faults: list[Any] = [{"fault": {"kind": "429", "times": 1, "retry_after": wait}} for wait in (3, 900)]
    with ScriptedServer([{"replies": [*faults, {"text": "x"}]}]) as server:
        model = OpenAIModel("local/m", Provider(base_url=server.base_url))
        with pytest.raises(CallFailed) as caught:
            await Retry(model, 5, sleep=sleeps, on_event=told.append).complete(ASK)
        await model.aclose()
    assert list(sleeps) == [pytest.approx(3, abs=0.5)]
    assert len(server.requests) == 2
    assert isinstance(told[0], Retrying)
    assert (told[0].seconds, told[0].attempt, told[0].attempts) == (sleeps[0], 2, 6)
    assert caught.value.limit
    assert caught.value.limit.ends
    assert (caught.value.limit.ends - datetime.now(UTC)).total_seconds() > 800
    assert "429" in told[0].reason


@pytest.mark.parametrize(("seconds", "with_its_end"), [(5, False), (9.9, False), (10, True), (40, True)])
async def test_a_named_end_that_is_not_near_is_waited_for_as_longer_ones_are(
    seconds: float,
    with_its_end: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    now, sleeps, told, ends = datetime.now(UTC), Sleeps(), list[ModelEvent](), list[datetime]()

    async def until(limit: Limit, end: datetime) -> None:
        assert limit.ends == end
        ends.append(end)

    limited = CallFailed("no", retriable=True, limit=Limit(ends=now + timedelta(seconds=seconds)))
    model = ScriptedModel([limited, CallFailed("gone", retriable=True), ModelReply(text="x")])
    retry = Retry(model, 5, on_event=told.append, sleep=sleeps, until=until, jitter=lambda: 0.0, clock=lambda: now)
    assert (await retry.complete(ASK)).text == "x"
    assert ends == [now + timedelta(seconds=seconds)] * with_its_end
    assert sleeps == [*[seconds] * (not with_its_end), 1.0]
    assert [each.attempt for each in told if isinstance(each, Retrying)] == [*[2] * (not with_its_end), 3]


async def test_after_the_last_retry_it_fails_with_the_last_error_and_all_usage() -> None:
    sleeps = Sleeps()
    failures = [CallFailed(f"no {n}", hint="look", retriable=True, usage=Usage(prompt_tokens=10)) for n in range(3)]
    with pytest.raises(CallFailed, match=r"no 2 \(tried 3 times\)") as caught:
        await Retry(ScriptedModel(failures), 2, sleep=sleeps).complete(ASK)
    assert (caught.value.usage.prompt_tokens, caught.value.hint, caught.value.retriable) == (30, "look", True)
    assert len(sleeps) == 2


async def test_what_failed_tries_used_is_part_of_the_reply() -> None:
    failed = CallFailed("empty", retriable=True, usage=Usage(calls=1, prompt_tokens=10))
    answer = ModelReply(text="x", usage=Usage(calls=1, prompt_tokens=5))
    reply = await Retry(ScriptedModel([failed, answer]), 1, sleep=Sleeps()).complete(ASK)
    assert (reply.usage.calls, reply.usage.prompt_tokens) == (2, 15)


async def test_what_cannot_pass_is_not_tried_again() -> None:
    sleeps = Sleeps()
    with pytest.raises(CallFailed, match=r"wrong key$"):
        await Retry(ScriptedModel([CallFailed("wrong key")]), 5, sleep=sleeps).complete(ASK)
    assert sleeps == []


@given(st.integers(1, 10_000), st.none() | st.floats(-10, 1e6), st.floats(0, 1, exclude_max=True))
def test_a_wait_is_never_negative_nor_longer_than_the_cap(attempt: int, asked: float | None, jitter: float) -> None:
    assert 0 <= delay(attempt, asked, jitter) <= LONGEST_S


def test_waits_double_less_jitter() -> None:
    assert [delay(attempt, None, 0) for attempt in range(1, 6)] == [0.5, 1, 2, 4, 8]
    assert delay(3, None, 0.5) == 1.5
