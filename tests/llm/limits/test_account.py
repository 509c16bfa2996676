"""Waiting for the ends of limits: how long, who asks first, what is told, and which clocks stand still."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from swarmgate.config import Provider
from swarmgate.errors import LimitReached, Stopped
from swarmgate.llm.endpoint.openai_model import OpenAIModel
from swarmgate.llm.events import LimitOver, ModelEvent, WaitBrokenOff, WaitingForLimit
from swarmgate.llm.limit_resets import Limit
from swarmgate.llm.limits.account import AccountLimits, RateLimited
from swarmgate.llm.limits.worktime import WorkTime, standing_still
from swarmgate.llm.model import CallFailed, Message, ModelReply, ModelRequest
from swarmgate.llm.scripted import ScriptedModel
from swarmgate.llm.wrappers.fallback import Fallback
from swarmgate.llm.wrappers.retry import Retry
from swarmgate.testing import ScriptedServer

ASK = ModelRequest(messages=(Message(role="system", content="s"), Message(role="user", content="u")))
NOW = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)
HELLO = ModelReply(text="hello", model="local/m")


class Clock:
    """A present that sleeping moves on."""

    def __init__(self) -> None:
        self.now = NOW
        self.slept = 0.0

    def __call__(self) -> datetime:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)
        self.slept += seconds
        await asyncio.sleep(0)


def limited(seconds: float, *, quota: bool = False) -> CallFailed:
    return CallFailed("no", retriable=True, limit=Limit(ends=NOW + timedelta(seconds=seconds), quota=quota))


def made(
    clock: Clock, told: list[ModelEvent], *, longest_s: float | None = 900, stop: Callable[[], bool] = lambda: False
) -> AccountLimits:
    return AccountLimits(
        longest_s=longest_s, on_event=told.append, stop=stop, sleep=clock.sleep, clock=clock, jitter=lambda: 0.0
    )


async def outlast(limits: AccountLimits, *answers: Any) -> ModelReply:
    model = RateLimited(ScriptedModel(list(answers)), limits)
    return await limits.outlast(lambda: model.complete(ASK))


async def test_a_limit_within_the_bound_is_waited_for_and_told_once() -> None:
    clock, told = Clock(), list[ModelEvent]()
    reply = await outlast(made(clock, told), limited(720), HELLO)
    assert reply.text == "hello"
    assert 720 <= clock.slept <= 723
    waiting, over = told
    assert isinstance(waiting, WaitingForLimit)
    assert isinstance(over, LimitOver)
    assert waiting.text.startswith("rate limit of scripted/model: waiting until ")
    assert waiting.text.endswith(", 12 min, Ctrl-C pauses")


@pytest.mark.parametrize("longest", [0, 900])
async def test_a_later_end_is_no_matter_of_waiting(longest: float) -> None:
    clock, told = Clock(), list[ModelEvent]()
    with pytest.raises(LimitReached) as caught:
        await outlast(made(clock, told, longest_s=longest), limited(1000, quota=True), HELLO)
    assert (clock.slept, told) == (0, [])
    assert caught.value.until is not None
    assert NOW + timedelta(seconds=1000) <= caught.value.until <= NOW + timedelta(seconds=1003)
    assert caught.value.message.startswith("the usage limit ends ")  # what is cut off a long message is its end
    assert "swarm run --wait" in caught.value.hint


async def test_as_long_as_it_takes() -> None:
    clock = Clock()
    assert (await outlast(made(clock, [], longest_s=None), limited(5_000), HELLO)).text == "hello"
    assert clock.slept > 5_000


async def test_a_limit_that_is_said_to_be_over_and_is_not_is_asked_for_at_growing_distances() -> None:
    clock = Clock()
    failures = [limited(-5) for _ in range(60)]
    with pytest.raises(LimitReached):
        await outlast(made(clock, []), *failures)
    assert 800 < clock.slept <= 902


async def test_what_names_no_end_is_not_waited_for() -> None:
    clock = Clock()
    unpaid = CallFailed("pay", limit=Limit(quota=True))
    with pytest.raises(CallFailed, match="pay"):
        await outlast(made(clock, [], longest_s=None), unpaid, HELLO)
    assert clock.slept == 0


async def test_the_user_ends_the_wait() -> None:
    clock, told = Clock(), list[ModelEvent]()
    limits = made(clock, told, stop=lambda: clock.slept > 10)
    with pytest.raises(Stopped) as caught:
        await outlast(limits, limited(600), HELLO)
    assert clock.slept < 11
    assert [type(event) for event in told] == [WaitingForLimit]  # it is not over, and nobody says that it were
    assert caught.value.until is not None
    assert NOW + timedelta(seconds=600) <= caught.value.until <= NOW + timedelta(seconds=603)
    assert caught.value.message.startswith("Stopped, as asked: the rate limit of scripted/model ends ")
    assert "swarm run --wait" in caught.value.hint


async def test_a_wait_that_is_broken_off_is_not_told_to_be_over() -> None:
    clock, told = Clock(), list[ModelEvent]()
    wait = asyncio.create_task(outlast(made(clock, told), limited(600), HELLO))
    for _ in range(5):  # it has begun then
        await asyncio.sleep(0)
    wait.cancel()
    with pytest.raises(asyncio.CancelledError):
        await wait
    assert [type(event) for event in told] == [WaitingForLimit, WaitBrokenOff]
    assert told[-1].ends == ""  # a live display counts down no more


async def test_the_first_to_end_of_several_models_is_waited_for_and_a_free_one_is_asked_at_once() -> None:
    clock, told = Clock(), list[ModelEvent]()
    limits = made(clock, told)
    one = ScriptedModel([limited(600), limited(600), HELLO], name="local/one")
    two = ScriptedModel([limited(60), HELLO, HELLO], name="local/two")
    both = Fallback([RateLimited(one, limits), RateLimited(two, limits)], limited=limits.reached)
    await limits.outlast(lambda: both.complete(ASK))
    assert 60 <= clock.slept < 63
    (waiting, *_) = told
    assert isinstance(waiting, WaitingForLimit)
    assert waiting.model == "local/two"
    await limits.outlast(lambda: both.complete(ASK))
    assert len(one.requests) == 1  # its end is known, and has not come


class Busy(ScriptedServer):
    """Counts how many requests it is at work on when a further one comes in."""

    def __init__(self, script: Any) -> None:
        super().__init__(script)
        self.beside: list[int] = []
        self._active = 0
        self._count = threading.Lock()

    def play(self, body: Mapping[str, Any], http_headers: Mapping[str, str]) -> Any:
        with self._count:
            self.beside.append(self._active)
            self._active += 1
        time.sleep(0.05)
        try:
            return super().play(body, http_headers)
        finally:
            with self._count:
                self._active -= 1


@pytest.mark.slow
@pytest.mark.parametrize("retries", [0, 5])
async def test_voices_at_one_limit_wait_once_and_one_of_them_asks_first(retries: int) -> None:
    told = list[ModelEvent]()
    limits = AccountLimits(longest_s=60, on_event=told.append)
    fault = {"kind": "429", "times": 6, "headers": {"retry-after-ms": "300"}}
    with Busy([{"replies": [{"fault": fault}, {"text": "x"}]}]) as server:
        model = OpenAIModel("local/m", Provider(base_url=server.base_url))
        voices = [Retry(RateLimited(model, limits), retries, sleep=limits.pause, clock=limits.clock) for _ in range(5)]
        replies = await asyncio.gather(*(limits.outlast(lambda v=voice: v.complete(ASK)) for voice in voices))  # type: ignore[misc]  # mypy cannot infer a lambda with a default
        await model.aclose()
    assert {reply.text for reply in replies} == {"x"}
    assert len(server.beside) == 11
    assert server.beside[5:7] == [0, 0]  # the sixth found that it was not over, the seventh that it was
    if not retries:
        assert [type(event) for event in told][:2] == [WaitingForLimit, LimitOver]  # one wait of five


async def test_one_that_finds_out_and_fails_otherwise_holds_nobody_up() -> None:
    clock = Clock()
    limits = made(clock, [])
    model = ScriptedModel([limited(5), CallFailed("broken"), HELLO])
    gated = RateLimited(model, limits)
    with pytest.raises(CallFailed, match="broken"):
        await limits.outlast(lambda: gated.complete(ASK))
    assert (await limits.outlast(lambda: gated.complete(ASK))).text == "hello"


# --- clocks ---


class Seconds:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_clocks_of_work_stand_still_while_any_of_theirs_waits() -> None:
    now = Seconds()
    outer, inner, other = WorkTime(now), WorkTime(now), WorkTime(now)
    with outer.running():
        now.now += 1
        with inner.running(), standing_still():
            now.now += 10
            with standing_still():
                now.now += 10
            now.now += 10
        now.now += 2
    assert [clock() for clock in (outer, inner, other)] == [103, 103, 133]


@pytest.mark.slow
async def test_a_time_limit_counts_no_wait_and_holds_after_it() -> None:
    clock, waited = WorkTime(), False

    async def work() -> None:
        nonlocal waited
        async with clock.limited(0.3):
            with standing_still():
                await asyncio.sleep(0.6)
            waited = True
            await asyncio.sleep(60)

    with pytest.raises(TimeoutError):
        await work()
    assert waited
    assert clock.expired


@pytest.mark.slow
async def test_a_time_limit_stands_still_for_the_tasks_below_it() -> None:
    clock = WorkTime()

    async def waits() -> None:
        with standing_still():
            await asyncio.sleep(0.5)

    async with clock.limited(0.3):
        await asyncio.gather(waits(), waits())
    assert not clock.expired


async def test_a_wait_that_outlives_its_time_limit_moves_it_no_more() -> None:
    clock, ended = WorkTime(), asyncio.Event()

    async def waits() -> None:
        with standing_still():
            await ended.wait()

    async with clock.limited(60):
        left = asyncio.create_task(waits())
        await asyncio.sleep(0)
    ended.set()
    await left
