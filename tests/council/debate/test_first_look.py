"""Tests the preliminary vote: one call without tools returns a ballot or the reason for none."""

from __future__ import annotations

from typing import Any

import pytest
from tests.council.conftest import Council, ballot

from swarmgate.council.debate.first_look import first_look
from swarmgate.council.debate.model import Speech
from swarmgate.domain.review.votes import Seat, Vote


async def looked(council: Council, *replies: Any) -> Speech:
    turns = [{"text": each} if isinstance(each, str) else each for each in replies]
    council.play({"match": {"role": "participant", "step": "first_look"}, "replies": turns})
    agent = council.agent(Seat(id="challenger", model="local/quick"))
    return await first_look(agent, question="Is it right?", material="x = 1\n" * 30_000, task="1.1", attempt=2)


async def test_a_look_is_a_ballot_after_one_call_over_the_whole_material(council: Council) -> None:
    speech = await looked(council, f"It looks fine.\n{ballot('APPROVE', 0.7)}")
    assert speech.ballot is not None
    assert (speech.ballot.vote, speech.ballot.confidence, speech.failed) == (Vote.APPROVE, 0.7, "")
    assert speech.usage.calls == 1
    assert speech.usage.tokens > 0
    assert speech.model == "local/quick"
    (request,) = council.heard(step="first_look", participant="first-look", task="1.1", attempt="2")
    assert request.tools == ("submit_answer",)
    brief = request.messages[1]["content"]
    assert brief.count("x = 1") == 30_000
    assert "FINAL_VERDICT" in brief


@pytest.mark.parametrize(
    "reply",
    [
        "APPROVE, I would say",
        f"{ballot('APPROVE')}\n{ballot('REJECT')}",
        "FINAL_VERDICT: MAYBE",
        "FINAL_VERDICT: APPROVE",
        {"fault": {"kind": "empty"}},
        {"fault": {"kind": "500"}},
        {"tool_calls": [{"name": "read_file", "arguments": {"path": "a"}}]},
    ],
)
async def test_a_look_that_cannot_be_read_says_why_and_is_not_asked_for_again(council: Council, reply: Any) -> None:
    speech = await looked(council, reply, ballot())
    assert speech.ballot is None
    assert speech.failed
    assert len(council.heard(step="first_look")) == 1
