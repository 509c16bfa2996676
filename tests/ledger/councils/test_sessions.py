from __future__ import annotations

import multiprocessing

import pytest

from swarmgate.domain.base import Frozen
from swarmgate.domain.events.event import GoalSet, UsageRecorded
from swarmgate.domain.usage import Usage
from swarmgate.errors import CouncilRefused
from swarmgate.ledger.councils.sessions import Session, UnsettledUsage, by_record, settle, unsettled
from swarmgate.ledger.councils.sessions import used as used_by
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.ledger import Ledger

NAME = "debate-a"


class Reply(Frozen):
    usage: Usage


class Exchange(Frozen):
    purpose: dict[str, str]
    reply: Reply | None = None
    error: str = ""
    wasted: Usage = Usage()


def used(tokens: int) -> Usage:
    return Usage(calls=1, prompt_tokens=tokens, usd=tokens / 1000)


def exchange(tokens: int) -> Exchange:
    return Exchange(purpose={"role": "participant", "step": "debate"}, reply=Reply(usage=used(tokens)))


def recorded(folder: SwarmFolder) -> list[UsageRecorded]:
    return [entry.event for entry, _ in Ledger.read(folder).entries() if isinstance(entry.event, UsageRecorded)]


def settled(folder: SwarmFolder) -> list[UsageRecorded]:
    with Ledger.write(folder) as ledger:
        settle(ledger)
    return recorded(folder)


def test_calls_are_counted_once_and_go_on_being_counted_after_a_resume(folder: SwarmFolder) -> None:
    session = Session(folder, NAME)
    with session.held():
        session.record(exchange(100))
        session.record(exchange(20))
    assert [path.name for path in sorted(session.place.glob("*.json"))] == [
        "000001-participant-debate.json",
        "000002-participant-debate.json",
    ]
    (first,) = settled(folder)
    assert (first.role, first.source, first.counted, first.usage.tokens) == ("council", NAME, 2, 120)
    assert settled(folder) == [first]
    again = Session(folder, NAME)
    with again.held():
        again.record(exchange(3))
    assert [each.usage.tokens for each in settled(folder)] == [120, 3]
    assert (again.used().tokens, again.used(after=2).tokens) == (123, 3)
    assert Ledger.read(folder).state.usage.tokens == 123


def test_killed_between_the_record_and_the_mark_nothing_is_counted_twice(folder: SwarmFolder) -> None:
    session = Session(folder, NAME)
    with session.held():
        session.record(exchange(100))
    settled(folder)
    (session.place / "open").touch()  # as a process leaves it that was killed right after it wrote the ledger
    assert [each.usage.tokens for each in settled(folder)] == [100]
    assert unsettled(folder) == []


def test_one_that_goes_on_is_left_to_its_own_end(folder: SwarmFolder) -> None:
    session = Session(folder, NAME)
    with session.held():
        session.record(exchange(100))
        assert settled(folder) == []
        assert [each.name for each in unsettled(folder)] == [NAME]
    assert len(settled(folder)) == 1


def test_what_a_failed_call_used_counts_and_a_damaged_file_does_not(folder: SwarmFolder) -> None:
    session = Session(folder, NAME)
    with session.held():
        session.record(Exchange(purpose={}, error="empty", wasted=used(7)))
        session.record(Exchange(purpose={}, error="refused"))
        (session.place / "000003-participant-debate.json").write_text("{")
    assert [(each.usage.tokens, each.counted) for each in settled(folder)] == [(7, 3)]


def test_without_any_call_nothing_is_recorded_and_nothing_stays(folder: SwarmFolder) -> None:
    session = Session(folder, NAME)
    with session.held():
        pass
    assert settled(folder) == []
    assert not session.place.exists()


def _hold(root: SwarmFolder, inside: object, leave: object) -> None:
    with Session(root, NAME).held():
        inside.set()  # type: ignore[attr-defined]  # multiprocessing's Event has no public type
        leave.wait(20)  # type: ignore[attr-defined]  # as above


@pytest.mark.slow
def test_two_processes_do_not_hold_the_same_one_and_a_dead_one_holds_nothing(folder: SwarmFolder) -> None:
    context = multiprocessing.get_context("spawn")
    inside, leave = context.Event(), context.Event()
    process = context.Process(target=_hold, args=(folder, inside, leave))
    process.start()
    assert inside.wait(20)
    with pytest.raises(CouncilRefused, match=f"goes on in another process: pid {process.pid}"):
        Session(folder, NAME).held().__enter__()
    process.kill()
    process.join()
    with Session(folder, NAME).held():
        pass


def test_it_hides_nothing_that_a_run_has_to_record(folder: SwarmFolder) -> None:
    """`usage_seq` says which calls of runs are counted; a session says nothing about those."""
    with Ledger.write(folder) as ledger:
        ledger.append([GoalSet(goal="x")], expect=0)
    session = Session(folder, NAME)
    with session.held():
        session.record(exchange(100))
    settled(folder)
    state = Ledger.read(folder).state
    assert (state.usage_seq, state.usage_in_run.tokens, state.usage_by_role["council"].tokens) == (0, 0, 100)


def test_what_others_use_meanwhile_is_seen(folder: SwarmFolder) -> None:
    one, other = Session(folder, NAME), Session(folder, "debate-b")
    beside, of_one = UnsettledUsage(folder), UnsettledUsage(folder, own=NAME)
    assert beside.due == of_one.whole == Usage()
    with one.held():
        one.record(exchange(100))
        assert (beside.due.tokens, of_one.due.tokens) == (100, 0)
        with other.held():
            other.record(exchange(20))
            assert (beside.due.tokens, of_one.due.tokens) == (120, 20)
        settled(folder)  # the other one is over
        assert (beside.due.tokens, of_one.due.tokens, of_one.whole.tokens) == (100, 0, 20)
    settled(folder)
    assert (beside.due.tokens, of_one.whole.tokens) == (0, 120)


def test_a_record_is_found_by_its_name_and_not_by_how_that_of_another_one_ends(folder: SwarmFolder) -> None:
    names = (
        "debate-nightly",
        "debate-my-nightly",
        "decision-nightly.vote",
        "discussion-nightly.vote.ann",
        "debate-late",
    )
    for tokens, name in enumerate((*names, "other-nightly", "debate-nightly-2")):
        with (session := Session(folder, name)).held():
            session.record(exchange(10**tokens))
    found = {name: used_by(sessions).tokens for name, sessions in by_record(folder).items()}
    assert (found["nightly"], found["nightly.vote"], found["nightly.vote.ann"]) == (101101, 1100, 1000)
    assert (found["my-nightly"], found["nightly-2"], found["late"]) == (10, 10**6, 10**4)
    assert len(found) == 6
