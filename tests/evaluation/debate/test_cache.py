"""Tests the cache of model answers of the debate experiment."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.evaluation.debate.simulated import Simulated, ballot

from swarmgate.errors import BudgetExhausted, LedgerWriteFailed
from swarmgate.evaluation.debate.cache import Answer, Answers, Call, Meter, Place, Remembering
from swarmgate.evaluation.debate.experiment_arms import Arm
from swarmgate.llm.model import CallFailed, Message, ModelReply, ModelRequest, ToolSpec

CALL = Call(
    model="l/a", settings="s", arm="debate", seat="advocate", round="1", repeat=1, seed=0,
    conversation=(Message(role="system", content="x"),),
)  # fmt: skip


def request(text: str = "PARTICIPANT: advocate\nROUND: 1\n\nJudge.") -> ModelRequest:
    messages = (Message(role="system", content="You judge."), Message(role="user", content=text))
    tools = (ToolSpec(name="read_file", description="reads", parameters={"type": "object"}),)
    return ModelRequest(messages=messages, tools=tools, purpose={"round": "1"})


def kept_in(folder: Path) -> list[Path]:
    return list(folder.rglob("*.json"))


def remembering(model: Simulated, folder: Path, meter: Meter, **at: object) -> Remembering:
    place = Place(**{"arm": Arm.DEBATE, "seat": "advocate", "repeat": 1, "seed": 0, **at})  # type: ignore[arg-type]  # as the test says
    return Remembering(model, settings="", place=place, answers=Answers(folder), meter=meter)


def test_everything_that_makes_a_call_another_one_is_in_its_key() -> None:
    others = {"model": "l/b", "settings": "t", "arm": "parallel", "seat": "challenger", "round": "2", "repeat": 2,
              "seed": 1, "conversation": (Message(role="system", content="y"),)}  # fmt: skip
    assert set(others) == set(Call.model_fields)
    keys = {CALL.key, *(CALL.model_copy(update={name: value}).key for name, value in others.items())}
    assert len(keys) == len(others) + 1
    assert CALL.model_copy().key == CALL.key


async def test_a_call_is_asked_once_and_counted_both_times(tmp_path: Path) -> None:
    model, meter = Simulated(lambda _headers, _brief: ballot("APPROVE")), Meter()
    for _ in range(2):
        reply = await remembering(model, tmp_path, meter).complete(request())
        assert "APPROVE" in reply.text
    assert sum(model.asked.values()) == 1
    assert (meter.calls, meter.usage.tokens) == (2, 220)
    await remembering(model, tmp_path, meter, repeat=2).complete(request())
    await remembering(model, tmp_path, meter, seed=2).complete(request())
    await remembering(model, tmp_path, meter, seat="assessor").complete(request())
    await remembering(model, tmp_path, meter).complete(request("PARTICIPANT: advocate\nROUND: 1\n\nJudge well."))
    assert sum(model.asked.values()) == 5


async def test_a_voice_is_offered_no_tools(tmp_path: Path) -> None:
    offered: list[int] = []

    class Listening(Simulated):
        async def complete(self, request: ModelRequest) -> ModelReply:
            offered.append(len(request.tools))
            return await super().complete(request)

    await remembering(Listening(lambda *_: "yes"), tmp_path, Meter()).complete(request())
    assert offered == [0]


@pytest.mark.parametrize("damage", [b"", b"{", b'{"key": "x"}', None])
async def test_a_damaged_answer_is_asked_again(tmp_path: Path, damage: bytes | None) -> None:
    model = Simulated(lambda *_: "yes")
    await remembering(model, tmp_path, Meter()).complete(request())
    (kept,) = kept_in(tmp_path)
    whole = kept.read_bytes()
    kept.write_bytes(whole.replace(kept.stem.encode(), b"0" * 64) if damage is None else damage)
    await remembering(model, tmp_path, Meter()).complete(request())
    assert sum(model.asked.values()) == 2
    assert Answer.model_validate_json(kept.read_bytes()).reply.text == "yes"


async def test_a_call_that_failed_is_not_kept(tmp_path: Path) -> None:
    class Failing(Simulated):
        async def complete(self, request: ModelRequest) -> ModelReply:
            del request
            raise CallFailed("no such model")

    meter = Meter()
    with pytest.raises(CallFailed):
        await remembering(Failing(lambda *_: ""), tmp_path, meter).complete(request())
    assert (meter.calls, meter.refused) == (0, ["no such model"])
    assert kept_in(tmp_path) == []


class Slow(Simulated):
    """Answers only once `go` is set, and whatever happens meanwhile where it is `deaf`."""

    def __init__(self, *, deaf: bool = False) -> None:
        super().__init__(lambda *_: "yes", name="l/slow")
        self.go = asyncio.Event()
        self._deaf = deaf

    async def complete(self, request: ModelRequest) -> ModelReply:
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            if not self._deaf:
                raise
        return await super().complete(request)


async def test_a_call_that_is_given_up_is_refused_and_not_kept(tmp_path: Path) -> None:
    model, meter = Slow(), Meter()
    voice = remembering(model, tmp_path, meter)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await voice.complete(request())
    model.go.set()
    await asyncio.sleep(0.02)
    assert (meter.calls, len(meter.refused)) == (0, 1)
    assert "no answer in the time of a voice" in meter.refused[0]
    assert kept_in(tmp_path) == []
    assert (await voice.complete(request())).text == "yes", "it is asked again, and counts then"
    assert (meter.calls, sum(model.asked.values())) == (1, 1)


async def test_an_answer_that_comes_in_the_moment_of_giving_up_is_not_kept_either(tmp_path: Path) -> None:
    class Hasty(Answers):
        def put(self, answer: Answer) -> None:
            super().put(answer)
            assert len(kept_in(tmp_path)) == 1
            waiting.cancel()

    async def ask() -> ModelReply:
        return ModelReply(text="yes")

    answers = Hasty(tmp_path)
    waiting = asyncio.create_task(answers.of(CALL.key, ask))
    await asyncio.wait([waiting])
    assert waiting.cancelled()
    assert (kept_in(tmp_path), answers.new) == ([], 0)


async def test_a_call_that_began_before_the_budget_was_used_up_is_kept(tmp_path: Path) -> None:
    model, answers = Slow(), Answers(tmp_path)

    async def refuse() -> ModelReply:
        raise BudgetExhausted("used up")

    waiting = asyncio.create_task(answers.of(CALL.key, lambda: model.complete(request())))
    await asyncio.sleep(0)
    with pytest.raises(BudgetExhausted):
        await answers.of("0" * 64, refuse)
    waiting.cancel()
    await asyncio.wait([waiting])
    assert waiting.cancelled()
    model.go.set()
    await answers.settle()
    assert len(kept_in(tmp_path)) == 1
    assert answers.new == 1


async def test_a_disk_that_refuses_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(LedgerWriteFailed):
        await remembering(Simulated(lambda *_: "yes"), tmp_path / "file", Meter()).complete(request())


def test_the_wait_is_that_of_the_slowest_voice_of_each_round() -> None:
    meter = Meter()
    for seat, number, seconds in (("a", "1", 2.0), ("b", "1", 3.0), ("a", "2", 1.0), ("a", "2", 0.5)):
        call = CALL.model_copy(update={"seat": seat, "round": number})
        meter.count(call, Answer(key=call.key, reply=ModelReply(), seconds=seconds))
    assert (meter.seconds, meter.wait) == (6.5, 4.5)
