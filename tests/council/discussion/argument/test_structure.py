"""Tests the measures of a discussion's links and the detection of impossible links."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.council.discussion.records import CAST, held, lightweight, message, records, standard

from swarmgate.council.discussion.argument.agreement import agreed_by
from swarmgate.council.discussion.argument.graph import GIST, gist, graph
from swarmgate.council.discussion.argument.structure import (
    consensus_of,
    integrity_problem,
    key,
    measured,
    minority_of,
    steel_manned,
    visible_before,
)
from swarmgate.council.discussion.model import (
    EXTENTS,
    Cast,
    DiscussionRecord,
    DiscussionRound,
    Expert,
    Link,
    Message,
    Mode,
    Relation,
    Shift,
    ShiftKind,
    Step,
)

FIRST, SECOND = standard().rounds


def changed(held_: DiscussionRound, at: int, **fields: object) -> DiscussionRound:
    """The round with fields of message `at` changed, measured anew."""
    messages = list(held_.messages)
    messages[at - 1] = messages[at - 1].model_copy(update=fields)
    copy = held_.model_copy(update={"messages": tuple(messages)})
    return copy.model_copy(update={"measured": measured(copy, () if copy.number == 1 else (FIRST,))})


def problem(first: DiscussionRound = FIRST, *more: DiscussionRound, mode: Mode = Mode.DEEP) -> str:
    return integrity_problem(CAST, (first, *more), extent=EXTENTS[mode])


def link(to: str, kind: Relation = Relation.COUNTERS) -> Link:
    return Link(to=to, kind=kind)


# --- what is counted ---


def test_a_round_is_measured_by_its_links() -> None:
    found = measured(FIRST)
    assert (found.counters, found.steel_mans, found.supports, found.questions) == (3, 1, 1, 1)
    assert (found.shifts, found.refused_shifts, found.unresolved) == (1, 1, 1)
    assert found.disagreement == 7.5  # 3 counters of 4 that take a side; what goes to the moderator counts nothing
    assert measured(SECOND, [FIRST]).disagreement == 7.5
    assert measured(SECOND).counters == 2  # what goes to a round that is not there counts nothing


def test_silence_is_no_disagreement_and_questions_take_no_side() -> None:
    assert measured(DiscussionRound(number=1)).disagreement == 0
    assert measured(changed(FIRST, 5, links=(link("r1-msg-001", Relation.QUESTIONS),))).disagreement == 6.67


def test_one_link_said_twice_counts_once() -> None:
    twice = changed(FIRST, 7, links=(link("r1-msg-005"), link("r1-msg-005")))
    assert measured(twice).counters == measured(FIRST).counters


@pytest.mark.parametrize(
    ("at", "to", "counts"),
    [
        (4, "r1-msg-002", True),
        (4, "r1-msg-001", False),  # its own words
        (4, "r1-msg-005", False),  # of the same step: it cannot have seen it
        (6, "r1-msg-005", True),  # the user speaks after the step
        (4, "r1-msg-008", False),  # a later one
        (11, "r1-msg-008", False),  # the moderator speaks about the discussion, not in it
        (4, "r1-msg-099", False),
    ],
)
def test_only_what_can_be_and_what_takes_part_is_counted(at: int, to: str, *, counts: bool) -> None:
    none = changed(FIRST, at, links=())
    assert measured(changed(FIRST, at, links=(link(to),))).counters - measured(none).counters == counts


@pytest.mark.slow
@given(records())
@settings(max_examples=25, deadline=None)
def test_laws_of_what_is_measured(record: DiscussionRecord) -> None:
    for at, each in enumerate(record.rounds):
        found = measured(each, record.rounds[:at])
        assert found == each.measured
        assert 0 <= found.disagreement <= 10
        assert found.steel_mans <= found.counters <= sum(len(said.links) for said in each.messages)
        assert (found.disagreement > 0) is (found.counters > 0)
        backwards = each.model_copy(update={"messages": tuple(_reversed_links(said) for said in each.messages)})
        assert measured(backwards, record.rounds[:at]) == found
        assert set(consensus_of(each, record.rounds[:at])) <= {node.id for node in graph(record.rounds).nodes}


def _reversed_links(said: Message) -> Message:
    return said.model_copy(update={"links": said.links[::-1]})


# --- what is agreed to ---


def test_what_is_agreed_to_most_has_the_most_support_less_counters() -> None:
    supported = changed(SECOND, 4, links=(link("r1-msg-002", Relation.SUPPORTS),))
    assert consensus_of(supported, [FIRST]) == ("r1-msg-002",)
    assert consensus_of(FIRST) == ("r1-msg-002",)  # a support and a counter are nothing: the surest position it is
    assert consensus_of(changed(FIRST, 7, links=())) == ("r1-msg-005",)
    tie = held(
        1, [message(1, n, "position", f"e{n}", position={"position": "x", "confidence": 0.5}) for n in range(1, 12)]
    )
    assert consensus_of(tie) == tuple(f"r1-msg-{n:03d}" for n in range(1, 12))
    assert consensus_of(DiscussionRound(number=1)) == ()


def test_nobody_makes_a_consensus_of_own_words() -> None:
    own = changed(changed(FIRST, 6, links=()), 8, links=(link("r1-msg-004", Relation.EXTENDS),))
    assert consensus_of(own) == ("r1-msg-002",)


def test_the_minority_is_what_one_voice_said_and_others_outnumber() -> None:
    positions = [message(1, at, "position", who, who) for at, who in enumerate(("a", "b", "c"), start=1)]

    def argued(*links: tuple[str, str, str]) -> DiscussionRound:
        said = [message(1, 4 + at, "argue", who, "x", links={to: kind}) for at, (who, to, kind) in enumerate(links)]
        return held(1, [*positions, *said])

    two_to_one = argued(
        ("a", "r1-msg-003", "counters"), ("b", "r1-msg-003", "counters"), ("c", "r1-msg-001", "counters")
    )
    assert minority_of(two_to_one) == ("r1-msg-003",)
    assert minority_of(argued(("a", "r1-msg-002", "counters"), ("b", "r1-msg-001", "counters"))) == ()
    assert minority_of(argued(("a", "r1-msg-002", "counters"), ("c", "r1-msg-002", "supports"))) == ()
    assert minority_of(argued(("a", "r1-msg-002", "extends"))) == ()
    assert minority_of(argued(("c", "r1-msg-003", "counters"))) == (), "nobody outnumbers itself"


def test_ids_are_ordered_by_their_numbers_whatever_their_width() -> None:
    assert sorted(["r10-msg-001", "r2-msg-1000", "r2-msg-999", "x"], key=key) == [
        "x",
        "r2-msg-999",
        "r2-msg-1000",
        "r10-msg-001",
    ]


# --- what was shown ---


def test_what_its_own_step_says_was_not_shown_to_a_message() -> None:
    assert visible_before([FIRST, SECOND], "r1-msg-002") == frozenset()
    assert visible_before([FIRST, SECOND], "r1-msg-005") == {"r1-msg-001", "r1-msg-002", "r1-msg-003"}
    assert "r1-msg-005" in visible_before([FIRST], "r1-msg-006")
    assert "r1-msg-010" not in visible_before([FIRST, SECOND], "r2-msg-001")  # it failed
    second = visible_before([FIRST, SECOND], "r2-msg-006")  # the attack after the moderator's question
    assert {"r2-msg-004", "r2-msg-005"} < second
    assert "r2-msg-007" not in second
    assert len(visible_before([FIRST, SECOND], "r3-msg-001")) == 11 + 9


# --- what cannot be ---


def test_the_standard_records_break_no_law() -> None:
    assert problem(FIRST, SECOND) == ""
    small = lightweight()
    assert small.partial
    assert problem(small.partial, mode=Mode.LIGHTWEIGHT) == ""


@pytest.mark.slow
@given(records())
@settings(max_examples=25, deadline=None)
def test_a_legal_record_breaks_no_law_and_each_beginning_of_it_neither(record: DiscussionRecord) -> None:
    assert record.cast
    assert integrity_problem(record.cast, record.rounds) == ""
    last = record.rounds[-1]
    for count in range(len(last.done)):
        steps = last.done[:count]
        kept = tuple(each for each in last.messages if each.step in steps)
        if [each.id for each in kept] == [each.id for each in last.messages[: len(kept)]]:
            started = last.model_copy(update={"messages": kept, "done": steps, "measured": None})
            assert integrity_problem(record.cast, (*record.rounds[:-1], started)) == ""


@given(records(), st.data())
@settings(max_examples=25, deadline=None)
def test_a_link_to_what_was_not_shown_is_always_found(record: DiscussionRecord, data: st.DataObject) -> None:
    assert record.cast
    last = record.rounds[-1]
    speaking = [at for at, each in enumerate(last.messages) if not each.failed]
    assume(speaking)
    at = data.draw(st.sampled_from(speaking))
    said = last.messages[at]
    unseen = {each.id for each in last.messages} - visible_before(record.rounds, said.id)
    to = data.draw(st.sampled_from(sorted({*unseen, said.id, "r9-msg-001"})))
    messages = list(last.messages)
    messages[at] = said.model_copy(update={"links": (link(to),)})
    broken = last.model_copy(update={"messages": tuple(messages)})
    assert integrity_problem(record.cast, (*record.rounds[:-1], broken)) == (
        f"{said.id}: `{to}` is no message that {said.author} was shown"
    )


REFUSED = ShiftKind.MAJOR


@pytest.mark.parametrize(
    ("at", "fields", "why"),
    [
        (2, {"id": "r1-msg-001"}, "message 2 is r1-msg-001 of round 1, not r1-msg-002"),
        (2, {"round": 2}, "message 2 is r1-msg-002 of round 2"),
        (4, {"author": "lawyer"}, "r1-msg-004: lawyer has no seat"),
        (4, {"author": "user"}, "r1-msg-004: user has no seat"),
        (6, {"author": "economist"}, "r1-msg-006: economist has no seat"),
        (3, {"author": "economist"}, "r1-msg-003: economist speaks in step frame, which is not its own"),
        (1, {"author": "moderator"}, "r1-msg-001: moderator speaks in step position"),
        (4, {"step": Step.POSITION}, "step frame is not done|position"),
        (9, {"step": Step.POSITION}, "r1-msg-009 is of step position, which is over"),
        (10, {"links": (link("r1-msg-004"),)}, "r1-msg-010: it failed, and says something that counts"),
        (
            4,
            {"links": (link("r1-msg-001"),)},
            "`r1-msg-001` is economist's own message, and `counters` goes to another's",
        ),
        (11, {"links": (link("r1-msg-010"),)}, "`r1-msg-010` is no message that moderator was shown"),
        (8, {"shift": Shift(kind=REFUSED)}, "r1-msg-008: the major shift cites no message of somebody else"),
        (8, {"shift": Shift(kind=REFUSED, cites=("r1-msg-004",))}, "the major shift cites no message of somebody"),
        (8, {"shift": Shift(kind=REFUSED, cites=("r1-msg-009",))}, "cites `r1-msg-009`, and that is no message"),
        (4, {"condensed": ("r1-msg-008",)}, "r1-msg-004: it saw `r1-msg-008` as a gist"),
    ],
)
def test_each_broken_law_is_named(at: int, fields: dict[str, object], why: str) -> None:
    found = problem(changed(FIRST, at, **fields))
    assert any(each in found for each in why.split("|")), found


def test_own_words_may_be_extended_and_a_refused_shift_needs_no_cite() -> None:
    assert problem(changed(FIRST, 4, links=(link("r1-msg-001", Relation.EXTENDS),))) == ""
    assert problem(changed(FIRST, 8, shift=Shift(kind=REFUSED, refused="it cites nothing"))) == ""


def test_a_voice_of_a_step_speaks_before_the_user() -> None:
    messages = list(FIRST.messages)
    user = messages[5].model_copy(update={"id": "r1-msg-005", "links": ()})
    messages[4:6] = [user, messages[4].model_copy(update={"id": "r1-msg-006", "links": ()})]
    assert "a voice speaks after the user, in step argue" in problem(
        FIRST.model_copy(update={"messages": tuple(messages)})
    )


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"number": 2}, "round 2 stands where round 1 is due"),
        ({"measured": None, "done": FIRST.done[:3]}, "step attack is not done, and something follows it"),
        ({"done": FIRST.done[:-1]}, "step record is not done, and something follows it"),
        ({"done": (Step.FRAME, Step.POSITION)}, "the steps frame, position cannot follow each other"),
        ({"measured": measured(SECOND)}, "what is measured does not follow from its links"),
    ],
)
def test_a_round_that_cannot_be_is_named(fields: dict[str, object], why: str) -> None:
    assert why in problem(FIRST.model_copy(update=fields))


def test_rounds_are_finished_one_after_the_other_and_keep_to_their_mode() -> None:
    assert "not finished" in problem(FIRST.model_copy(update={"measured": None}), SECOND)
    assert problem(SECOND).startswith("round 2 stands where round 1 is due")
    small = EXTENTS[Mode.LIGHTWEIGHT].model_copy(update={"roles": EXTENTS[Mode.DEEP].roles})
    assert integrity_problem(CAST, (FIRST,), extent=small) == "round 1 has 6 contributions: the limit is 5"
    assert integrity_problem(CAST, (FIRST,), extent=small.model_copy(update={"calls": (3, 6)})) == ""


# --- the graph ---


def test_the_graph_has_every_message_link_and_position() -> None:
    found = graph([FIRST, SECOND])
    assert len(found.nodes) == 21
    assert found.between(Relation.COUNTERS)["ecologist", "economist"] == 2
    assert [each.steel_manned for each in found.edges if each.source == "r1-msg-004"] == [True]
    economist = found.evolution[0]
    assert [each.confidence for each in economist.stands] == [0.7, 0.55, 0.4, 0.8]
    assert economist.stands[-1].cites == ("r2-msg-003", "r1-msg-005")
    refused = found.evolution[1].stands[1]
    assert (refused.confidence, refused.shift) == (0.9, ShiftKind.NONE)
    assert refused.refused == "a claimed minor shift was refused: it cites no message"


@given(records())
@settings(max_examples=25, deadline=None)
def test_every_edge_leads_to_an_earlier_node(record: DiscussionRecord) -> None:
    found = graph(record.rounds)
    order = {each.id: at for at, each in enumerate(found.nodes)}
    assert len(order) == len(found.nodes) == sum(len(each.messages) for each in record.rounds)
    assert all(order[each.target] < order[each.source] for each in found.edges)
    assert type(found).model_validate_json(found.model_dump_json()) == found


def test_a_gist_is_one_short_line() -> None:
    assert gist("a\n b") == "a b"
    assert gist("x" * 9_000) == "x" * GIST + "..."
    assert gist(" " * 9_000 + "x") == "..."


# --- agreements ---


def said(id: str, author: str, *links: Link, **more: object) -> Message:  # noqa: A002 - the field's name
    return Message.model_validate({"id": id, "round": 1, "step": "argue", "author": author, "links": links, **more})


def test_an_agreement_is_by_argument_or_majority_only_where_its_messages_show_it() -> None:
    people = Cast(experts=tuple(Expert(id=each, name="E", expertise="all") for each in ("a", "b", "c", "d")))
    shift = Shift(kind=ShiftKind.MINOR, reason="so", cites=("m3",))
    messages = (
        said("m1", "a"),
        said("m2", "b", link("m1", Relation.SUPPORTS)),
        said("m3", "contrarian", link("m1")),
        said("m4", "c", link("m3", Relation.SUPPORTS), shift=shift),
        said("m5", "d"),
        said("m6", "contrarian", link("m5")),
        said("m7", "d", link("m6", Relation.SUPPORTS)),
    )
    rounds = [DiscussionRound(number=1, messages=messages)]
    shown = {each.id: set(agreed_by(rounds, people, [each.id])) for each in messages}
    assert shown == {
        "m1": {"majority"},  # a wrote it and b supports it: two of four
        "m2": set(),
        "m3": {"argument"},  # it moved c
        "m4": {"argument"},  # and that is where c moved
        "m5": set(),
        "m6": {"argument"},  # d, whom it counters, supports it
        "m7": set(),
    }
    gone = [each.model_copy(update={"failed": "hangs"}) if each.author in "cd" else each for each in messages]
    assert "majority" in agreed_by([DiscussionRound(number=1, messages=tuple(gone))], people, ["m2"])
    assert agreed_by([], people, ["m1"]) == frozenset()


@pytest.mark.parametrize(("text", "counts"), [("-", False), ("it is", False), (". . .", False), ("it is right", True)])
def test_a_steel_man_of_fewer_than_three_words_is_none(text: str, *, counts: bool) -> None:
    counter = Link(to="r1-msg-001", kind=Relation.COUNTERS, steel_man=text)
    assert steel_manned(counter) is counts
    two = DiscussionRound(
        number=1, messages=(said("m1", "a"), said("m2", "b", counter.model_copy(update={"to": "m1"})))
    )
    two = two.model_copy(
        update={"messages": (two.messages[0], two.messages[1].model_copy(update={"step": Step.ATTACK}))}
    )
    assert measured(two).steel_mans == int(counts)
