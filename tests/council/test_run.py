"""Tests the driver of all patterns with a toy pattern: participants add numbers until a sum is reached."""

# ruff: noqa: ARG002 - the toy looks at less than a pattern may
from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

import pytest

from swarmgate.council.context import CouncilContext
from swarmgate.council.participants.contexts import ContextFactory
from swarmgate.council.pattern import Pattern, Unfinished
from swarmgate.council.records.lifecycle import Standing, TimeUp
from swarmgate.council.records.record import Record
from swarmgate.council.records.store import Records
from swarmgate.council.run import run
from swarmgate.council.views.events import CouncilEvent
from swarmgate.domain.base import Frozen
from swarmgate.domain.usage import Allowance, Usage
from swarmgate.errors import (
    BudgetExhausted,
    CouncilFailed,
    CouncilRefused,
    LedgerCorrupt,
    SwarmError,
    WaitingForUser,
)
from swarmgate.journal.store import opened


class Sum(Frozen):
    id: str
    who: tuple[str, ...] = ("a", "b")
    goal: int = 6
    secret: str = ""


class Added(Frozen):
    type: Literal["added"] = "added"
    round: int
    who: str
    usage: Usage = Usage(calls=1)


class Add(NamedTuple):
    round: int
    who: str


@dataclass(frozen=True)
class State:
    asked: Sum
    said: tuple[Added, ...] = ()
    late: bool = False


class Outcome(Frozen):
    total: int


Voice = Callable[[Add], Any]


class Summing(Pattern[Sum, State, Outcome]):
    """Each voice of a round adds its round's number."""

    name, verb, request, events = "summing", "sum", Sum, (Added,)

    def begin(self, request: Sum) -> State:
        return State(request)

    def apply(self, state: State, event: Frozen) -> State:
        if isinstance(event, Added):
            return replace(state, said=(*state.said, event))
        return replace(state, late=isinstance(event, TimeUp))

    def next(self, state: State) -> Sequence[Add]:
        if state.late or (total(state) >= state.asked.goal and not missing(state)):
            return ()
        return missing(state) or [Add(len(state.said) // len(state.asked.who) + 1, who) for who in state.asked.who]

    def over(self, state: State) -> bool:
        return not state.late

    def pause(self, state: State) -> str:
        return f"the time was up at {total(state)}"

    def session_s(self, state: State) -> float | None:
        return 0.2

    def outcome(self, standing: Standing[State]) -> Outcome | None:
        return Outcome(total=total(standing.own)) if standing.over else None

    def views(self, standing: Standing[State]) -> dict[str, str]:
        return {"total.md": f"{total(standing.own)}\n"}

    async def do(self, step: Hashable, state: State, context: CouncilContext) -> Sequence[Frozen]:
        add = cast("Add", step)
        said = await cast("Voice", context.own)(add)
        return [Added(round=add.round, who=add.who)] if said is None else said


def total(state: State) -> int:
    return sum(each.round for each in state.said)


def missing(state: State) -> list[Add]:
    """Who has not spoken in a round that has begun."""
    spoken = {(each.round, each.who) for each in state.said}
    last = max((each.round for each in state.said), default=0)
    return [Add(last, who) for who in state.asked.who if last and (last, who) not in spoken]


SUMMING = Summing()


async def at_once(_add: Add) -> None:
    """Answers."""


def context(records: Records, voice: Voice, heard: list[CouncilEvent] | None = None) -> CouncilContext:
    listen = heard.append if heard is not None else lambda _: None
    return CouncilContext(cast("ContextFactory", None), records, listen, own=voice)


@pytest.fixture
def records(tmp_path: Path) -> Records:
    return Records(opened(tmp_path / ".swarm", "files"), clean=lambda value: value)


def begun(records: Records, **fields: Any) -> Record[Sum, State, Outcome]:
    return records.begin(SUMMING, Sum(id="s1", **fields))


async def go_on(
    record: Record[Sum, State, Outcome], context: CouncilContext, pattern: Summing = SUMMING, **given: Any
) -> Outcome | None:
    return await run(pattern, record, context, **given)


def held(records: Records, voice: Voice, heard: list[CouncilEvent] | None = None, **fields: Any) -> Outcome | None:
    record = begun(records, **fields)
    return asyncio.run(go_on(record, context(records, voice, heard)))


def test_what_is_due_is_done_until_nothing_is(records: Records, tmp_path: Path) -> None:
    heard: list[CouncilEvent] = []
    assert held(records, at_once, heard) == Outcome(total=6)
    standing = begun(records).standing
    assert (standing.status, standing.usage.calls, standing.sessions) == ("complete", 4, 1)
    assert [type(each).__name__ for each in heard] == ["Started", "Completed"]
    assert (tmp_path / ".swarm/discussions/s1/total.md").read_text() == "6\n"
    assert held(records, at_once) == Outcome(total=6)  # at once: nothing is asked again
    assert begun(records).standing.usage.calls == 4


def test_a_round_is_done_at_the_same_time_and_the_next_waits_for_it(records: Records) -> None:
    under_way, most = set(), []

    async def voice(add: Add) -> None:
        under_way.add(add)
        await asyncio.sleep(0)
        most.append(len(under_way))
        assert len({each.round for each in under_way}) == 1
        under_way.discard(add)

    held(records, voice, who=("a", "b", "c"), goal=9)
    assert max(most) == 3


def test_what_was_said_before_an_error_is_not_asked_again(records: Records) -> None:
    asked: list[Add] = []

    async def voice(add: Add) -> None:
        asked.append(add)
        if add == Add(2, "b") and len(asked) < 5:
            raise BudgetExhausted("spent")

    heard: list[CouncilEvent] = []
    with pytest.raises(BudgetExhausted):
        held(records, voice, heard)
    assert (begun(records).standing.status, begun(records).standing.why) == ("open", "spent")
    assert type(heard[-1]).__name__ == "Erred"
    outcome = asyncio.run(go_on(begun(records), context(records, voice), allowance=Allowance(tokens=5)))
    assert outcome == Outcome(total=6)
    assert asked == [Add(1, "a"), Add(1, "b"), Add(2, "a"), Add(2, "b"), Add(2, "b")]
    assert begun(records).standing.allowance == Allowance(tokens=5)


def test_a_session_without_time_left_is_paused_and_goes_on_later(records: Records) -> None:
    async def voice(add: Add) -> None:
        await asyncio.sleep(5 if add.round > 1 else 0)

    assert held(records, voice) is None
    standing = begun(records).standing
    assert (standing.status, standing.why, standing.late) == ("paused", "the time was up at 2", True)
    assert held(records, at_once) == Outcome(total=6)


def test_what_is_cut_off_may_say_what_it_used(records: Records) -> None:
    async def voice(add: Add) -> list[Added] | None:
        if add.who == "a":
            raise CouncilFailed("nothing came of it")
        try:
            await asyncio.sleep(5)
        except asyncio.CancelledError:
            return [Added(round=add.round, who=add.who, usage=Usage(calls=7))]
        return None

    with pytest.raises(CouncilFailed):
        held(records, voice)
    standing = begun(records).standing
    assert (standing.status, standing.usage.calls) == ("failed", 7)


def test_what_an_error_ends_may_say_what_it_used(records: Records) -> None:
    async def voice(add: Add) -> None:
        if add == Add(2, "b"):
            raise Unfinished(BudgetExhausted("spent"), Added(round=2, who="b", usage=Usage(calls=7)))

    with pytest.raises(BudgetExhausted):
        held(records, voice)
    standing = begun(records).standing
    assert (standing.status, standing.usage.calls) == ("open", 10)


def test_secrets_do_not_go_on_record(tmp_path: Path) -> None:
    def clean(value: Any) -> Any:
        return {key: "[redacted]" if key == "secret" else each for key, each in value.items()}

    def deep(value: Any) -> Any:
        value = clean(value)
        return {**value, "request": clean(value["request"])} if "request" in value else value

    records = Records(opened(tmp_path / ".swarm", "files"), clean=deep)
    held(records, at_once, secret="sk-1234")
    assert "sk-1234" not in (tmp_path / ".swarm/discussions/s1/journal.jsonl").read_text()
    assert held(records, at_once, secret="sk-1234") == Outcome(total=6)


def test_another_request_under_the_same_id_is_refused(records: Records) -> None:
    held(records, at_once)
    with pytest.raises(CouncilRefused, match="another summing with the id s1: it differs in `goal`"):
        held(records, at_once, goal=7)


def test_every_altered_byte_is_found_out(records: Records, tmp_path: Path) -> None:
    held(records, at_once)
    path = tmp_path / ".swarm/discussions/s1/journal.jsonl"
    whole = path.read_bytes()
    for place in range(0, len(whole) - 1, 7):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises((LedgerCorrupt, SwarmError)):
            records.open(SUMMING, "s1")


def test_a_torn_last_line_is_asked_anew(records: Records, tmp_path: Path) -> None:
    held(records, at_once)
    path = tmp_path / ".swarm/discussions/s1/journal.jsonl"
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-3]) + lines[-3][:40])
    asked: list[Add] = []

    async def voice(add: Add) -> None:
        asked.append(add)

    assert held(records, voice) == Outcome(total=6)
    assert asked == [Add(2, "a"), Add(2, "b")][-len(asked) :]


def test_a_record_of_an_earlier_swarmgate_is_said_to_be_one(records: Records, tmp_path: Path) -> None:
    place = tmp_path / ".swarm/discussions/old"
    place.mkdir(parents=True)
    (place / "manifest.json").write_text("{}")
    with pytest.raises(CouncilRefused, match=r"old is a record of an earlier swarmgate, in .*manifest\.json"):
        records.open(SUMMING, "old")


def test_ids_are_the_newest_first_and_a_damaged_one_is_among_them(records: Records, tmp_path: Path) -> None:
    for name in ("one", "two"):
        record = records.begin(SUMMING, Sum(id=name))
        asyncio.run(go_on(record, context(records, at_once)))
    records.begin(SUMMING, Sum(id="three"), part_of="two")
    (tmp_path / ".swarm/discussions/two/journal.jsonl").write_text("nonsense\n")
    assert records.ids("summing") == ("three", "one", "two")
    assert records.ids("summing", parts=False) == ("one", "two")


def test_an_error_of_a_step_that_is_due_no_more_ends_nothing(records: Records) -> None:
    class First(Summing):
        """Over with the first word."""

        def next(self, state: State) -> Sequence[Add]:
            return () if state.said else [Add(1, who) for who in state.asked.who]

    async def voice(add: Add) -> None:
        if add.who == "b":
            raise BudgetExhausted("spent")

    pattern = First()
    record = records.begin(pattern, Sum(id="s1"))
    asyncio.run(go_on(record, context(records, voice), pattern))
    assert record.outcome == Outcome(total=1)


def test_what_is_over_since_long_asks_nobody(records: Records) -> None:
    class Ending(Summing):
        """Over at a time that is past."""

        def ends_at(self, state: State) -> float:
            return time.time() - 1

    asked: list[Add] = []

    async def voice(add: Add) -> None:
        asked.append(add)

    pattern = Ending()
    record = records.begin(pattern, Sum(id="s1"))
    asyncio.run(go_on(record, context(records, voice), pattern))
    assert (asked, record.standing.late, record.standing.status) == ([], True, "paused")


def test_an_id_of_another_pattern_is_said_to_be_one(records: Records) -> None:
    class Other(Summing):
        """Of another name."""

        name = "adding"

    held(records, at_once)
    with pytest.raises(CouncilRefused, match="record of another kind with the id s1: a summing") as refused:
        records.begin(Other(), Sum(id="s1"))
    assert refused.value.hint == "Give this one an id of its own."


def test_a_record_in_which_a_voice_failed_answers_no_other_request(records: Records) -> None:
    class Careful(Summing):
        """One in which somebody may have failed."""

        def flawless(self, state: State) -> bool:
            return not state.asked.secret

    pattern = Careful()
    for name, flaw in (("s1", ""), ("s2", "somebody")):
        record = records.begin(pattern, Sum(id=name, secret=flaw), request_hash="the-hash")
        asyncio.run(go_on(record, context(records, at_once), pattern))
        assert record.outcome == Outcome(total=6)
    found = records.find(pattern, "the-hash")
    assert found is not None
    assert found.id == "s1"


class Growing(Summing):
    """A line for each number, until the views are made again; what is told and kept is the same."""

    def grows(self, event: Frozen, before: Standing[State], after: Standing[State]) -> dict[str, str]:
        assert (before.id, after.id) == ("s1", "s1")
        return {"said.md": f"{event.who} {event.round}\n"} if isinstance(event, Added) else {}

    def progress_of_event(self, event: Frozen, before: Standing[State], after: Standing[State]) -> list[CouncilEvent]:
        told = cast("CouncilEvent", event)
        return [told] if isinstance(event, Added) else []


def test_a_text_grows_with_every_event(records: Records, tmp_path: Path) -> None:
    heard: list[Any] = []
    growing, record = Growing(), begun(records)

    async def held_on() -> Outcome | None:
        return await run(growing, record, context(records, at_once, heard))

    assert asyncio.run(held_on()) == Outcome(total=6)
    assert (tmp_path / ".swarm/discussions/s1/said.md").read_text() == "a 1\nb 1\na 2\nb 2\n"
    assert heard == [each.event for each in record.entries() if isinstance(each.event, Added)]


def test_waiting_for_the_user_is_no_reason_why_it_stopped(records: Records) -> None:
    async def voice(add: Add) -> None:
        raise WaitingForUser("Somebody has to look.")

    with pytest.raises(WaitingForUser):
        held(records, voice)
    assert begun(records).standing.why == ""
