"""Tests that a discussion via the `submit_answer` tool equals one with answers in text."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.council.discussion.conftest import Room, Rule, defaults, of, rule

from swarmgate.council.discussion.model import DiscussionRecord, Step

Make = Callable[..., Room]
PROSE = ("ask", "record")


def submitted(text: str) -> dict[str, Any]:
    """The call that says what a text says."""
    prose, fence, spelt = text.rpartition("```json\n")
    fields = json.loads(spelt.removesuffix("\n```"))
    if fence:
        fields["text"] = prose.strip()
    return {"tool_calls": [{"name": "submit_answer", "arguments": fields}]}


def as_calls(rules: list[Rule]) -> list[Rule]:
    return [
        each
        if each["match"]["step"] in PROSE
        else {**each, "replies": [submitted(reply["text"]) for reply in each["replies"]]}
        for each in rules
    ]


def said(record: DiscussionRecord) -> Any:
    """All of a record but what it took."""
    took = {"usage", "seconds", "prompt_hash", "condensed"}
    messages = [each.model_dump(exclude=took) for held in record.rounds for each in held.messages]
    assert record.conclusion
    return messages, record.conclusion.model_dump(exclude=took), record.cast and record.cast.experts


@pytest.mark.parametrize("lacks", [(), ("tools",)], ids=["tools", "no-tools"])
async def test_calls_and_texts_come_to_the_same_record(room: Make, lacks: tuple[str, ...]) -> None:
    texts, calls = room(), room(*as_calls(defaults(2)), lacks=lacks)
    record = await calls.hold(mode="lightweight")
    assert record.status == "complete"
    assert said(record) == said(await texts.hold(mode="lightweight"))
    offering = {
        str(each.headers["STEP"])
        for each in calls.server.requests
        if "submit_answer" in each.tools or '"name": "submit_answer"' in str(each.messages[0]["content"])
    }
    assert offering == {*calls.steps} - {*PROSE}


async def test_what_is_wrong_in_a_call_is_told_and_a_second_one_is_kept_as_it_is(room: Make) -> None:
    unsure = {"tool_calls": [{"name": "submit_answer", "arguments": {"position": "yes", "confidence": "high"}}]}
    missing = {"tool_calls": [{"name": "submit_answer", "arguments": {"confidence": 0.5}}]}
    there = room(rule("position", missing, unsure, unsure, who="economist"))
    record = await there.hold()
    asked = [each for each in there.requests("position") if each.headers["PARTICIPANT"] == "economist"]
    assert "`position`: is missing" in str(asked[1].messages[-1]["content"])
    assert "`confidence` must be a JSON number" in str(asked[2].messages[-1]["content"])
    (kept,) = (each for each in of(record.rounds[0], Step.POSITION) if each.author == "economist")
    assert kept.position
    assert (kept.position.position, kept.position.confidence, kept.failed) == ("yes", None, "")
