"""Tests which step of a discussion round is due: rounds end, stay in bounds, and have a sound structure."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swarmgate.agents.tools.answer_text import Unread
from swarmgate.council.discussion.answers.experts import Part, Reader
from swarmgate.council.discussion.argument.structure import integrity_problem, measured
from swarmgate.council.discussion.model import (
    CONTRARIAN,
    CONTRIBUTIONS,
    CROSS_DOMAIN,
    EXTENTS,
    HISTORIAN,
    MODERATOR,
    Cast,
    DiscussionRound,
    Expert,
    Message,
    Mode,
    Step,
)
from swarmgate.council.discussion.planning import forced_by, next_step, responders
from swarmgate.domain.review.votes import message_id

_BY = {
    Step.FRAME: MODERATOR,
    Step.ASK: MODERATOR,
    Step.ASSESS: MODERATOR,
    Step.ATTACK: CONTRARIAN,
    Step.STRESS: CONTRARIAN,
    Step.ANALOGY: CROSS_DOMAIN,
    Step.RECORD: HISTORIAN,
}
_KINDS = ("supports", "counters", "extends", "questions", "responds_to", "likes")


@st.composite
def answers(draw: Any) -> str:
    """Any links to any ids, and any shift."""
    ids = st.builds(message_id, st.integers(1, 3), st.integers(1, 16))
    link = st.fixed_dictionaries(
        {"to": ids, "kind": st.sampled_from(_KINDS), "steelMan": st.sampled_from(["", "best"])}
    )
    shift = {"kind": draw(st.sampled_from(["none", "minor", "major", "x"])), "cites": draw(st.lists(ids, max_size=2))}
    return f"So.\n{json.dumps({'links': draw(st.lists(link, max_size=3)), 'shift': shift})}"


def read(step: Step, reader: Reader, text: str) -> Part:
    """What is kept of an answer that stays as it is when asked once more."""
    how = {Step.RESPOND: reader.response.read, Step.ATTACK: reader.attack.read, Step.STRESS: reader.attack.read}
    if step not in CONTRIBUTIONS:
        return {"text": text}
    try:
        return how.get(step, reader.argument.read)(text)
    except Unread as unread:
        return cast("Part", unread.otherwise)


def played(people: Cast, mode: Mode, before: list[DiscussionRound], data: st.DataObject) -> DiscussionRound:
    """A round with drawn answers, of which some fail."""
    held, extent = DiscussionRound(number=len(before) + 1), EXTENTS[mode]
    experts = tuple(each.id for each in people.experts)
    while (step := next_step(held, before, extent)) is not None:
        seen = {each.id: each.author for past in (*before, held) for each in past.messages if not each.failed}
        asked = responders(held, before, people, extent) if step is Step.RESPOND else experts
        made = []
        for at, who in enumerate([_BY[step]] if step in _BY else asked, start=1):
            name = message_id(held.number, len(held.messages) + at)
            failed = data.draw(st.sampled_from(["", "", "", "", "it hangs"]))
            part = {} if failed else read(step, Reader(who, seen), data.draw(answers()))
            made.append(Message(id=name, round=held.number, step=step, author=who, failed=failed, **part))
        forced = forced_by(step, held, before, people, extent)
        held = held.model_copy(
            update={
                "messages": (*held.messages, *made),
                "done": (*held.done, step),
                "forced": (*held.forced, *forced),
            }
        )
    return held.model_copy(update={"measured": measured(held, before)})


@pytest.mark.slow
@given(data=st.data(), mode=st.sampled_from(Mode), more=st.booleans())
@settings(max_examples=15)
def test_any_answers_make_sound_rounds_within_their_bounds(data: st.DataObject, mode: Mode, *, more: bool) -> None:
    extent = EXTENTS[mode]
    count = extent.experts[more]
    people = Cast(experts=tuple(Expert(id=f"e{n}", name="E", expertise="all") for n in range(count)))
    rounds: list[DiscussionRound] = []
    for _ in range(2):
        held = played(people, mode, rounds, data)
        rounds.append(held)
        assert integrity_problem(people, rounds, extent=extent) == ""
        spoken = sum(each.step in CONTRIBUTIONS for each in held.messages)
        assert extent.calls[0] <= spoken <= extent.calls[1]
        assert held.done.count(Step.STRESS) <= 1
        assert held.done.count(Step.ATTACK) <= 2
        assert held.measured
        assert held.measured.counters or Step.STRESS in held.done or mode is Mode.LIGHTWEIGHT
        assert any(each.step is Step.RESPOND for each in held.messages)
        assert (HISTORIAN in extent.roles) == (held.done[-1] is Step.RECORD)
        dropped = CROSS_DOMAIN in extent.roles and Step.ANALOGY not in held.done
        assert dropped == any("no analogy" in each for each in held.forced)
