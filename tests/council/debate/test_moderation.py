"""Tests the moderator of a debate: its requests, its limits, and that it blocks nobody."""

from __future__ import annotations

import json

import pytest
from tests.council.conftest import Council, ballot, moderator, speech, voice

from swarmgate.agents.tools.answer_text import Unread
from swarmgate.council.debate.model import Debate, Moderation
from swarmgate.council.debate.moderation import moderation_of, moderator_brief
from swarmgate.domain.review.votes import Seat, Tally

DEBATE = Debate(
    id="d", question="Is it?", material="m", seats=tuple(Seat(id=each) for each in "abcd"), task="1.2", attempt=2
)
CHAIR = Seat(id="chair", model="local/chair")


def decided(final: bool = False, **asked: object) -> Moderation:  # noqa: FBT001, FBT002 - a test's own
    return moderation_of(DEBATE, final=final).read(f"I think so.\n```json\n{json.dumps(asked)}\n```")


# --- what it asks for ---


def test_it_orders_asks_and_cuts() -> None:
    made = decided(order=["c", "a"], ask={"b": "What of\nr1-msg-001?"}, cut=["d"])
    assert made.order == ("c", "a", "b", "d")  # whom it does not name comes after
    assert made.questions == {"b": "What of r1-msg-001?"}
    assert (made.cut, made.dropped) == (("d",), ())


@pytest.mark.parametrize(
    ("asked", "dropped"),
    [
        ({"cut": ["a", "b", "c", "d"]}, "a, b, c, d cannot be cut: fewer than 2 voices would be left"),
        ({"cut": ["a", "b", "c"]}, "a, b, c cannot be cut"),
        ({"cut": ["a"], "final": True}, "a cannot be cut: in the last round everybody votes"),
        ({"cut": ["ghost"]}, "ghost is no seat"),
        ({"order": ["ghost", "Ghost"]}, "ghost is no seat"),
        ({"ask": {"ghost": "?"}}, "ghost is no seat"),
        ({"cut": ["x" * 99 + "\n"]}, "x" * 40 + "... is no seat"),
    ],
)
def test_what_it_may_not_is_dropped_and_said(asked: dict[str, object], dropped: str) -> None:
    made = decided(**asked)  # type: ignore[arg-type]  # a row of the table
    assert made.dropped[0].startswith(dropped)
    assert (made.order, made.questions, made.cut) == ((), {}, ())


def test_what_it_may_stands_beside_what_it_may_not() -> None:
    made = decided(order=["ghost", "b"], ask={"ghost": "?", "c": "?"}, cut=["ghost", "a", "a", "d"])
    assert made.order == ("b", "a", "c", "d")
    assert made.questions == {"c": "?"}
    assert (made.cut, made.dropped) == (("a", "d"), ("ghost is no seat",))


@pytest.mark.parametrize(
    "asked",
    [
        {"order": None, "ask": None, "cut": None},
        {"order": [1, {}, ["a"]], "ask": ["a"], "cut": 7},
        {"order": [], "ask": {"a": 5, "b": "  "}, "cut": [""]},
    ],
)
def test_what_is_no_name_and_no_question_asks_for_nothing(asked: dict[str, object]) -> None:
    assert decided(**asked) == Moderation()  # type: ignore[arg-type]  # a row of the table


def test_a_name_alone_is_a_list_of_one_and_a_question_has_a_bound() -> None:
    made = decided(cut=" b ", ask={"a": "q" * 900})
    assert made.cut == ("b",)
    assert made.questions == {"a": "q" * 500 + "..."}


@pytest.mark.parametrize("text", ["", "Cut b.", '{"verdict": "APPROVE"}', '{"order": ["a"', '["order"]'])
def test_prose_decides_nothing(text: str) -> None:
    with pytest.raises(Unread, match="There is no decision in your answer"):
        moderation_of(DEBATE, final=False).read(text)


def test_the_newest_of_several_decisions_stands() -> None:
    text = '{"cut": ["a"]} - no: {"cut": ["b"]} and {"note": 1}'
    assert moderation_of(DEBATE, final=False).read(text).cut == ("b",)


def test_it_is_told_the_question_and_the_material() -> None:
    told = moderator_brief(DEBATE.model_copy(update={"moderator": CHAIR}), 3).text()
    head = "ROLE: participant\nSTEP: moderate\nTASK: 1.2\nATTEMPT: 2\nPARTICIPANT: chair\nROUND: 3\n\n"
    assert told.startswith(f"{head}## The question")
    assert "## The material" in told


# --- at the table ---


@pytest.mark.slow
@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ({"fault": {"kind": "hang"}}, "did not end its turn within 1.5 s"),
        ({"fault": {"kind": "500"}}, "the script says 500"),
        ("Cut them all!", "There is no decision"),
        ({"tool_calls": [{"name": "write_file", "arguments": {}}]}, "'write_file' cannot be called"),
    ],
)
async def test_one_that_fails_changes_nothing_and_holds_nobody_up(
    council: Council, reply: dict[str, object] | str, why: str
) -> None:
    council.play(moderator(2, reply), voice(None, 2, ballot()))
    outcome = await council.hold("a", "b", moderator=CHAIR, timeout_s=1.5 if "hang" in str(reply) else 20)
    last = council.rounds[1]
    assert last.moderation
    assert why in last.moderation.failed
    assert (last.order, last.moderation.order, last.moderation.cut) == (("a", "b"), (), ())
    assert outcome.tally == Tally(approve=2)


@pytest.mark.slow
async def test_one_that_cuts_everybody_every_round_silences_nobody(council: Council) -> None:
    everybody = '{"cut": ["a", "b", "c"], "order": ["ghost"]}'
    council.play(
        *(moderator(number, everybody) for number in (2, 3, 4)),
        voice(None, 4, ballot()),
    )
    outcome = await council.hold("a", "b", "c", rounds=4, moderator=CHAIR)
    assert [len(each.speeches) for each in council.rounds] == [3, 3, 3, 3]
    assert [each.moderation.dropped[0] for each in council.rounds[1:] if each.moderation] == ["ghost is no seat"] * 3
    assert outcome.tally == Tally(approve=3)


@pytest.mark.slow
async def test_it_reads_the_transcript_who_said_how_much_and_whom_it_cut(council: Council) -> None:
    council.play(
        voice("a", 1, speech("The lock is held.", "The queue grows.")),
        voice("b", 1, speech("The lock is held.")),
        voice("c", 1, {"fault": {"kind": "500"}}),
        moderator(2, '{"cut": ["b"]}'),
        moderator(3, "{}", '{"order": ["c"]}'),
        voice(None, 3, ballot()),
    )
    await council.hold("a", "b", "c", rounds=3, moderator=CHAIR)
    second, third, again = (str(each.messages[1]["content"]) for each in council.heard(step="moderate"))
    assert "- a: 2 claims, 2 of them new\n- b: 1 claims, 0 of them new\n- c: gave no answer" in second
    assert "[r1-msg-001] advocate" not in second
    assert "[r1-msg-001] a, round 1:\n| I have looked at it." in second
    assert "- b: was cut" in third
    assert third == again
    told = [each.moderation for each in council.rounds if each.moderation]
    assert [each.usage.calls for each in told] == [1, 2]
    assert all(each.prompt_hash and each.model == "local/chair" for each in told)


async def test_nobody_is_asked_to_moderate_before_there_is_something_to(council: Council) -> None:
    council.play(voice(None, 1, ballot()))
    await council.hold(rounds=1, moderator=CHAIR)
    assert council.heard(step="moderate") == []
    assert council.rounds[0].moderation is None
