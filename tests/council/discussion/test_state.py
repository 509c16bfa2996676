"""Tests the fold of a discussion: legal events, and journals that were cut or altered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.council.discussion.conftest import Room, User, linked, rule
from tests.council.discussion.records import CAST, standard

from swarmgate.council.discussion.events import (
    CastConfirmed,
    Chosen,
    Concluded,
    MessageAdded,
    ModeChanged,
    UserConsulted,
)
from swarmgate.council.discussion.findings import Conclusion
from swarmgate.council.discussion.model import Choice, ChoiceKind, Link, Message, Mode, Relation, Step
from swarmgate.council.discussion.state import AskParticipant, Choose, ConsultUser, Fail, State, applied, due
from swarmgate.council.records.lifecycle import Resumed, TimeUp
from swarmgate.domain.base import Frozen
from swarmgate.errors import IllegalMove, LedgerCorrupt, SwarmError

Make = Callable[..., Room]
RECORD = standard()


def begun(*events: Frozen) -> State:
    """A standard discussion whose cast is confirmed, after these events."""
    return folded(State(RECORD.discussion), [CastConfirmed(cast=CAST), *events])


def folded(state: State, events: Sequence[Frozen]) -> State:
    for each in events:
        state = applied(state, each)
    return state


def position(at: int, who: str, **fields: Any) -> MessageAdded:
    said = {"id": f"r1-msg-{at:03d}", "round": 1, "step": "position", "author": who, "text": "So.", **fields}
    return MessageAdded(message=Message.model_validate(said))


# --- what may stand where ---


def test_a_step_waits_for_all_of_its_voices_and_then_for_the_user() -> None:
    state = begun()
    both = [AskParticipant(f"r1-msg-00{at}", who, 1, Step.POSITION) for at, who in ((1, "economist"), (2, "ecologist"))]
    assert due(state) == both
    state = applied(state, position(2, "ecologist"))
    assert due(state) == both[:1], "the other one only"
    state = applied(state, position(1, "economist"))
    assert due(state) == (ConsultUser(1, Step.POSITION, 2),)
    assert state.held
    assert [each.id for each in state.held.messages] == ["r1-msg-001", "r1-msg-002"], "in the order of seats"
    assert [each.who for each in due(applied(state, UserConsulted())) if isinstance(each, AskParticipant)] == [
        "moderator"
    ]


def test_experts_that_all_fail_end_the_session_and_are_asked_anew_in_the_next() -> None:
    failed = [position(1, "economist", failed="no"), position(2, "ecologist", failed="no")]
    state = begun(*failed)
    (told,) = due(state)
    assert isinstance(told, Fail)
    assert told.why == "all 2 experts failed in step position of round 1: no"
    assert len(due(applied(state, Resumed()))) == 2
    one = begun(failed[0], position(2, "ecologist"))
    assert isinstance(due(one)[0], ConsultUser), "one that fails stops nothing"


def test_the_time_of_a_session_ends_it_and_the_next_goes_on() -> None:
    late = begun(TimeUp())
    assert isinstance(due(late)[0], Fail)
    assert all(isinstance(each, AskParticipant) for each in due(applied(late, Resumed())))


@pytest.mark.parametrize(
    "event",
    [
        position(1, "ecologist"),
        position(2, "economist"),
        position(1, "economist", step="argue"),
        position(1, "economist", round=2),
        UserConsulted(),
        Chosen(choice=Choice(after=0, kind=ChoiceKind.FOLLOW)),
        Concluded(conclusion=Conclusion(executive_summary="x")),
        CastConfirmed(cast=CAST),
        ModeChanged(mode=Mode.DEEP),
    ],
    ids=lambda each: each.type,
)
def test_what_is_not_due_may_not_stand_there(event: Frozen) -> None:
    with pytest.raises(IllegalMove):
        applied(begun(), event)


def test_a_user_has_one_word_after_a_step() -> None:
    state = begun(position(1, "economist"), position(2, "ecologist"))
    word = Message(id="r1-msg-004", round=1, step=Step.POSITION, author="user", text="I.", human=True)
    with pytest.raises(IllegalMove, match="Message r1-msg-004 of the user"):
        applied(state, UserConsulted(message=word))
    after = applied(state, UserConsulted(message=word.model_copy(update={"id": "r1-msg-003"})))
    assert due(after) == [AskParticipant("r1-msg-004", "moderator", 1, Step.FRAME)]


async def test_a_round_whose_links_cannot_have_been_said_is_refused(room: Make) -> None:
    """A chain that fits does not make it so."""
    there = room()
    await there.hold(mode="standard", rounds=1)
    events = [each.event for each in there.record().entries()][1:]
    at = next(
        at for at, each in enumerate(events) if isinstance(each, MessageAdded) and each.message.step is Step.ARGUE
    )
    link = Link(to="r1-msg-008", kind=Relation.COUNTERS)
    broken = events[at].message.model_copy(update={"links": (link,)})
    own = [each for each in events if not type(each).__module__.endswith("lifecycle")]
    place = own.index(events[at])
    own[place] = events[at].model_copy(update={"message": broken})
    asked = State(there.record().request)
    with pytest.raises(IllegalMove, match=r"of no discussion that was held: .*`r1-msg-008` is no message that"):
        folded(asked, own)


def test_what_comes_after_a_round_is_chosen_once() -> None:
    state = State(RECORD.discussion, cast=CAST, confirmed=True, rounds=RECORD.rounds[:1])
    assert due(state) == (Choose(1),)
    over = applied(state, Chosen(choice=Choice(after=1, kind=ChoiceKind.SYNTHESIZE)))
    assert over.is_over
    with pytest.raises(IllegalMove, match="A choice after round 1"):
        applied(over, Chosen(choice=Choice(after=1, kind=ChoiceKind.FOLLOW)))


# --- a journal cut or altered anywhere ---


def lines_of(room: Room) -> list[bytes]:
    return (room.folder / "journal.jsonl").read_bytes().splitlines(keepends=True)


def put(room: Room, data: bytes) -> Path:
    path = room.folder / "journal.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


@pytest.mark.slow
async def test_a_kill_after_any_line_loses_nothing_and_asks_nobody_twice(room: Make) -> None:
    words = {(1, Step.ARGUE): "a word of mine"}
    argue = rule("argue", linked(("r1-msg-001", "supports")), number=1)
    there = room(argue)
    expected = await there.hold(User(words=dict(words)))
    asked = len(there.server.requests)
    whole = lines_of(there)
    for kept in range(1, len(whole)):
        put(there, b"".join(whole[:kept]))
        said = sum(b'"said"' in each or b'"cast_proposed"' in each or b'"concluded"' in each for each in whole[:kept])
        before, spoke = len(there.server.requests), any(b'"human":true' in each for each in whole[:kept])
        record = await there.hold(User(words={} if spoke else dict(words)))
        assert plain(record) == plain(expected), kept
        assert len(there.server.requests) - before == asked - said, kept


async def test_any_altered_line_is_found_out(room: Make) -> None:
    there = room()
    await there.hold()
    whole = lines_of(there)
    for number, line in enumerate(whole):
        for altered in (line.replace(b'"', b"'", 1), line[:-2] + b" }\n", b""):
            last = number == len(whole) - 1 and not altered  # a record without its end is one that was killed
            put(there, b"".join([*whole[:number], altered, *whole[number + 1 :]]))
            if not last:
                with pytest.raises((LedgerCorrupt, SwarmError)):
                    there.record()


def plain(record: Any) -> Any:
    """The record without what is of the clock."""
    times: dict[str, Any] = {"seconds": True, "usage": {"seconds"}}
    messages = [each.model_dump(exclude=times) for held in record.rounds for each in held.messages]
    rounds = [each.model_dump(exclude={"started_at", "seconds", "messages"}) for each in record.rounds]
    return [rounds, messages, record.choices, record.conclusion.model_dump(exclude=times)]
