"""Tests the fold of a swarm chat's record: read messages, waiting agents, and interrupted turns."""

from __future__ import annotations

from typing import Any

import pytest

from swarmgate.council.chat import view
from swarmgate.council.chat.model import CallsLost, Chat, ChatEnd, ChatTurn, Draft, TurnTaken
from swarmgate.council.chat.rules import RULES, CountCalls, StopUnreached, TakeTurn
from swarmgate.council.chat.state import State
from swarmgate.council.records.lifecycle import Resumed, TimeUp
from swarmgate.domain.review.votes import Seat
from swarmgate.domain.usage import Usage
from swarmgate.errors import IllegalMove

USED = Usage(calls=1, prompt_tokens=5)


def begun(moderator: str = "", **more: Any) -> State:
    """A chat of three that a process is at."""
    chat = Chat(
        id="talk",
        agents=tuple(Seat(id=each) for each in ("ada", "bob", "cyd")),
        opening=Draft(sender="moderator", to=("ada", "bob"), content="Is it safe?"),
        moderator=moderator,
        created_at=100.0,
        **{"ttl_s": 60, "messages": 10, "tokens": 1000, **more},
    )
    return RULES.apply(RULES.begin(chat), Resumed())


def after(state: State, *turns: ChatTurn) -> State:
    for turn in turns:
        state = RULES.apply(state, TurnTaken(turn=turn))
    return state


def turn(agent: str, *said: tuple[str, str], **more: Any) -> ChatTurn:
    drafts = tuple(Draft(sender=agent, to=(to,), content=content) for to, content in said)
    return ChatTurn(agent=agent, said=drafts, began_at=200.0, seconds=1.5, **{"usage": USED, **more})


def inbox(state: State, agent: str) -> list[str]:
    return [message.id for message in state.inbox(agent)]


def test_a_message_is_delivered_in_order_to_whom_it_is_for() -> None:
    state = after(begun(), turn("ada", ("bob", "one"), ("cyd", "two"), read=(1,)))
    assert dict(state.oldest) == {"bob": 1, "cyd": 3}
    assert (inbox(state, "bob"), inbox(state, "ada")) == (["msg-000001", "msg-000002"], [])
    assert state.past["ada"] == (1, 2, 3)
    assert RULES.next(state) == (TakeTurn("bob"), TakeTurn("cyd"))


def test_a_moderator_is_sent_everything_but_its_own() -> None:
    state = after(begun("cyd"), turn("ada", ("bob", "between us"), read=(1,)), turn("cyd", ("bob", "mine"), read=(1,)))
    assert inbox(state, "cyd") == ["msg-000002"]


def test_a_failed_turn_leaves_its_messages_unread_until_it_gave_up() -> None:
    once = after(begun(), turn("ada", read=(1,), failed="no answer"))
    assert (once.turns[1].gave_up, once.oldest["ada"]) == (False, 1)
    twice = after(once, turn("ada", read=(1,), failed="no answer"))
    assert (twice.turns[2].gave_up, "ada" in twice.oldest) == (True, False)
    assert (twice.failed_turns, twice.usage.tokens, twice.answered) == (2, 10, frozenset())


def test_who_cannot_be_reached_is_waited_for_until_another_answers() -> None:
    gone = turn("ada", read=(1,), failed="gone", unreachable=True)
    state = after(begun(), gone, gone)
    assert (dict(state.waiting), RULES.next(state)) == ({"ada": "gone"}, (TakeTurn("bob"),))
    nobody = after(state, turn("bob", read=(1,), failed="gone", unreachable=True))
    nobody = after(nobody, turn("bob", read=(1,), failed="gone", unreachable=True))
    assert RULES.next(nobody) == (StopUnreached(),)
    assert RULES.next(after(state, turn("bob", read=(1,)))) == (TakeTurn("ada"),)
    again = RULES.apply(RULES.apply(nobody, Resumed()), CallsLost())
    assert RULES.next(again) == (TakeTurn("ada"), TakeTurn("bob"))


def test_what_cut_a_turn_is_known_when_it_is_known_what_came_after() -> None:
    unsent = (Draft(sender="bob", to=("ada",), content="not yet"),)
    state = after(begun(), turn("bob", cut=True, unsent=unsent))
    assert (state.oldest["bob"], state.usage) == (1, USED)

    def why(state: State) -> list[str]:
        return [each.stopped for each in state.all_turns()]

    assert why(state) == why(RULES.apply(state, Resumed())) == ["the chat was interrupted"]
    late = RULES.apply(state, TimeUp())
    assert (why(late), late.end, RULES.next(late)) == (["the time of the chat was up"], ChatEnd.TTL, ())
    over = after(begun(), turn("ada", read=(1,), summary="Safe."), turn("bob", cut=True, unsent=unsent))
    assert (why(over), over.end, RULES.next(over)) == (["", "ada ended the chat"], ChatEnd.SYNTHESIS, ())


def test_what_is_said_together_with_the_end_is_unsent() -> None:
    state = after(begun(), turn("ada", read=(1,), summary="Safe."), turn("bob", ("ada", "Wait!"), read=(1,)))
    assert state.sent_count == 0
    assert [(each.cut, each.read, [draft.content for draft in each.unsent]) for each in state.all_turns()][1:] == [
        (True, (), ["Wait!"])
    ]


def test_who_speaks_when_a_budget_is_used_up_is_the_last() -> None:
    state = after(begun(messages=1), turn("ada", ("cyd", "one"), read=(1,)))
    assert RULES.next(state) == (TakeTurn("bob"),)
    assert (RULES.next(after(state, turn("bob", read=(1,)))), state.end) == ((), ChatEnd.MESSAGES)


def test_a_later_session_counts_first_what_a_killed_one_used() -> None:
    state = RULES.apply(begun(tokens=100), Resumed())
    assert RULES.next(state) == (CountCalls(),)
    spent = RULES.apply(state, CallsLost(usage=Usage(calls=1, prompt_tokens=100)))
    assert (RULES.next(spent), spent.end) == ((), ChatEnd.TOKENS)


def test_a_turn_of_nobody_is_refused() -> None:
    with pytest.raises(IllegalMove, match="cyd is at no turn"):
        after(begun(), turn("cyd", read=(1,)))


def test_the_record_has_every_message_with_who_read_it_when() -> None:
    record = view.record(after(begun(), turn("ada", ("bob", "one"), read=(1,))), None)
    assert [each.read for each in record.messages] == [{"ada": 201.5, "bob": None}, {"bob": None}]
    assert [each.message.at for each in record.messages] == [100.0, 201.5]
    assert [each.said for each in record.turns] == [()]  # they stand as messages


def test_a_fold_over_thousands_of_turns_is_no_slower_at_its_end() -> None:
    """The work of a turn does not grow with what was said: nothing of it is copied."""
    state = begun(messages=100_000, tokens=10**9)
    names, sizes = ("ada", "bob"), []
    for number in range(3_000):
        name, other = names[number % 2], names[(number + 1) % 2]
        unread = tuple(message.number for message in state.inbox(name))
        state = after(state, turn(name, (other, f"number {number}"), read=unread))
        sizes.append(len(unread) + sum(map(len, state.past.values())))
    assert max(sizes[-100:]) <= max(sizes[50:150])
    assert len(state.messages) == 3_001
