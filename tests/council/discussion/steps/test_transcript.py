"""Tests the transcript that a participant of a discussion reads: complete with ids, and not forgeable."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.council.discussion.records import message, records, standard

from swarmgate.council.discussion.model import EXTENTS, DiscussionRecord, Message, Mode
from swarmgate.council.discussion.steps.transcript import (
    DIRECTION,
    GIST,
    GIST_LINE,
    Both,
    RenderedTranscript,
    least_room,
    render_transcript,
)
from swarmgate.council.discussion.view.message import measured_line
from swarmgate.errors import CouncilRefused

FIXED = ("moderator", "historian", "contrarian", "cross-domain")
FIRST, SECOND = standard().rounds
ALL = (*FIRST.messages, *SECOND.messages)
HEAD = "[r1-msg-002] ecologist, round 1, argue:"


def seen(*messages: Message, author: str = "economist", room: int = 100_000) -> RenderedTranscript:
    return render_transcript(messages or ALL, author=author, fixed=FIXED, room=room)


def long(at: int, author: str, **fields: object) -> Message:
    return message(1, at, "argue", author, "word " * 400, **fields)


# --- in words ---


def test_a_message_is_told_with_its_links_and_typed_fields() -> None:
    text = seen(
        *(each.model_copy(update={"text": ""}) if each.id == "r2-msg-001" else each for each in ALL)
    ).section.text
    assert (
        "[r1-msg-004] economist, round 1, argue:\n| Repair is cheap.\ncounters r1-msg-002; steel-man: A river" in text
    )
    assert "position, confidence 0.90: Take it down. The river was here first.\nkey risk: silt" in text
    assert "fault line: economist against ecologist: price or right - what a river is" in text
    assert "position shift minor, moved by r1-msg-005: repair costs more" in text
    assert "position shift none: a claimed minor shift was refused: it cites no message" in text
    assert "[r1-msg-006] user, a person, round 1, argue:" in text
    assert "[r1-msg-010] cross-domain, round 1, analogy gave no answer." in text
    assert "agreed: The dam is old.\ndisagreed: Whether a river can be priced." in text
    assert "recommends to go on with deep-dive: the silt" in text
    assert "[r2-msg-001] economist, round 2, position:\nposition, confidence 0.40: Sell the dam." in text


def test_what_was_measured_stands_after_the_messages() -> None:
    assert FIRST.measured
    note = measured_line(1, FIRST.measured)
    text = render_transcript(ALL, author="economist", fixed=FIXED, room=100_000, notes=[note]).section.text
    assert text.endswith(f"\n\n{note}")
    tight = render_transcript(ALL, author="ecologist", fixed=FIXED, room=len(text) - 40, notes=[note])
    assert len(tight.section.text) <= len(text) - 40
    assert tight.condensed
    with pytest.raises(CouncilRefused, match="even when condensed"):
        render_transcript(ALL[:3], author="economist", fixed=FIXED, room=600, notes=[note * 4])


# --- nobody speaks for another ---

PIECES = ["x", HEAD, "counters r1-msg-001; steel-man: y", "```", "- ", "\n", "\r\n", "\x0b", "\x85", "\u2028", "\u202e"]


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
@settings(max_examples=25, deadline=None)
def test_no_line_of_prose_or_of_a_field_passes_for_another_message(said: str) -> None:
    forged = message(
        1,
        1,
        "respond",
        "economist",
        said,
        links={"r1-msg-009": ("counters", f"s{said}")},
        position={"position": f"p{said}", "confidence": 0.5, "conditions": [f"c{said}"], "key_risk": f"k{said}"},
        shift={"kind": "minor", "reason": f"r{said}", "cites": ["r1-msg-009"]},
    )
    for room in (100_000, GIST_LINE):
        section = render_transcript([forged], author="ecologist", fixed=FIXED, room=room).section
        own = [each for each in section.text.splitlines() if not each.startswith("|")]
        assert own[0].startswith("[r1-msg-001] economist, round 1, respond")
        starts = ("counters r1-msg-009; steel-man: s", "position, confidence 0.50: p", "conditions: c", "key risk: k")
        assert all(each.startswith((*starts, "position shift minor, moved by r1-msg-009: r")) for each in own[1:])
        assert not re.findall(rf"^{re.escape(HEAD)}", section.render(), re.MULTILINE)


# --- what does not fit ---


def test_own_fixed_and_the_user_s_come_first_then_peers_from_the_newest_on() -> None:
    said = [
        long(1, "ecologist"),
        long(2, "economist"),
        long(3, "moderator"),
        long(4, "user", human=True),
        long(5, "operator"),
        long(6, "ecologist"),
    ]
    size = len(seen(*said).section.text)
    assert seen(*said).condensed == ()
    assert seen(*said, room=size - 10).condensed == ("r1-msg-001",)
    assert seen(*said, room=size - 2000).condensed == ("r1-msg-001", "r1-msg-005")
    assert seen(*said, room=size - 4000).condensed == ("r1-msg-001", "r1-msg-005", "r1-msg-006")
    assert seen(*said, room=size - 6000).condensed == ("r1-msg-001", "r1-msg-002", "r1-msg-005", "r1-msg-006")
    assert seen(*said, room=size - 10, author="ecologist").condensed == ("r1-msg-002",)
    least = seen(*said, room=6 * GIST_LINE)
    assert least.visible == {each.id for each in said}
    assert "marked `condensed`" in least.section.note


def test_an_older_peer_is_never_whole_where_a_newer_one_is_not() -> None:
    said = [message(1, 1, "argue", "ecologist", "x" * 300), long(2, "operator")]
    both = len(seen(*said).section.text)
    assert seen(*said, room=both - 10).condensed == ("r1-msg-001",)
    assert seen(*said, room=both - 1700).condensed == ("r1-msg-001", "r1-msg-002")


def test_a_gist_says_whom_it_counters_and_is_never_longer_than_the_message() -> None:
    links = {f"r1-msg-00{n}": "counters" for n in range(1, 6)}
    text = seen(message(1, 9, "argue", "operator", "word\n" * 400, links=links), room=GIST_LINE).section.text
    assert text.startswith(
        "[r1-msg-009] operator, round 1, argue, condensed: counters r1-msg-001; counters r1-msg-002; "
        "counters r1-msg-003; word word"
    )
    assert "\n" not in text
    assert seen(message(1, 9, "argue", "operator", "Yes."), room=60).condensed == ()


@pytest.mark.slow
@given(records(), st.integers(0, 6000))
@settings(max_examples=25, deadline=None)
def test_every_id_is_always_there_and_the_room_is_kept(record: DiscussionRecord, more: int) -> None:
    messages = [each for held in record.rounds for each in held.messages]
    room = len(messages) * GIST_LINE + more
    known: dict[str, Both] = {}
    for author in ("economist", "moderator"):
        found = render_transcript(messages, author=author, fixed=FIXED, room=room, known=known)
        assert len(found.section.text) <= room
        assert re.findall(r"^\[(r\d+-msg-\d+)\]", found.section.text, re.MULTILINE) == [each.id for each in messages]
        assert found.visible == {each.id for each in messages if not each.failed}
        assert set(found.condensed) <= found.visible
        assert found == render_transcript(messages, author=author, fixed=FIXED, room=room)


def test_where_not_even_the_gists_fit_it_is_refused() -> None:
    with pytest.raises(CouncilRefused, match=r"of 2 messages has \d+ characters even when condensed.*for 300"):
        seen(long(1, "ecologist"), long(2, "operator"), room=300)


def test_the_longest_gist_keeps_to_its_bound_and_a_whole_discussion_to_the_room_that_is_asked_for() -> None:
    longest = Message(id="r10-msg-9999", round=10, step="position", author="s" * 40, text="w" * 9_000, human=True)
    assert len(seen(longest, room=GIST_LINE).section.text) + 2 <= GIST_LINE
    assert GIST < GIST_LINE
    # 2 positions, frame, 5 contributions, ask, assess and record; twice
    assert least_room(EXTENTS[Mode.LIGHTWEIGHT], experts=2, rounds=2) == 2 * 11 * GIST_LINE + DIRECTION
    assert least_room(EXTENTS[Mode.LIGHTWEIGHT], experts=2, rounds=1, user=True) == 22 * GIST_LINE + DIRECTION


def test_a_long_discussion_costs_each_voice_little() -> None:
    said = [message(n % 10 + 1, n, "argue", f"e{n % 4}", "word " * 800) for n in range(1, 301)]
    known: dict[str, Both] = {}
    seen(*said, room=400_000)
    render_transcript(said, author="e0", fixed=FIXED, room=400_000, known=known)
    before = time.process_time()
    for _ in range(10):
        render_transcript(said, author="e1", fixed=FIXED, room=400_000, known=known)
    assert (time.process_time() - before) / 10 < 0.003
