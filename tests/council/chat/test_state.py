"""Tests the order of turns in a swarm chat: the oldest unread message first, and no agent starves."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from swarmgate.council.chat.state import PLACES, next_speakers

NAMES = tuple("abcdef")
UNREAD = st.dictionaries(st.sampled_from(NAMES), st.integers(1, 9))
SPEAKING = st.sets(st.sampled_from(NAMES))


def test_the_oldest_goes_first_and_of_equals_the_one_that_stands_first() -> None:
    assert next_speakers({"c": 1, "b": 3, "a": 3}, order=NAMES) == ("c", "a", "b")


@given(oldest=UNREAD, speaking=SPEAKING, places=st.integers(1, 6))
def test_no_turn_is_given_twice_nor_beyond_the_places_nor_left_free(
    oldest: Mapping[str, int], speaking: set[str], places: int
) -> None:
    chosen = next_speakers(oldest, order=NAMES, speaking=speaking, places=places)
    waiting = set(oldest) - speaking
    assert set(chosen) <= waiting
    assert len(set(chosen)) == len(chosen) == min(len(waiting), max(0, places - len(speaking)))
    assert all(oldest[one] <= oldest[other] for one in chosen for other in waiting - set(chosen))


@given(oldest=UNREAD, order=st.permutations(NAMES))
def test_the_choice_does_not_depend_on_the_order_in_which_messages_are_told(
    oldest: dict[str, int], order: list[str]
) -> None:
    turned = dict(reversed(oldest.items()))
    assert next_speakers(oldest, order=order) == next_speakers(turned, order=order)


@given(
    unread=st.fixed_dictionaries({name: st.lists(st.integers(1, 40), max_size=12) for name in NAMES}),
    sends=st.lists(st.tuples(st.sampled_from(NAMES), st.integers(0, 3)), max_size=30),
    places=st.integers(1, PLACES),
)
def test_nobody_is_overtaken_by_a_message_that_came_after_its_own(
    unread: dict[str, list[int]], sends: list[tuple[str, int]], places: int
) -> None:
    """A simulation: a turn reads at most 3 messages, others write meanwhile; a wait is bounded by what is older."""
    boxes = {name: sorted(set(numbers)) for name, numbers in unread.items()}
    newest = 41
    bound = {name: _older(boxes, name) for name in NAMES if boxes[name]}
    waited = dict.fromkeys(bound, 0)
    pending = list(sends)
    while bound:
        chosen = next_speakers({name: box[0] for name, box in boxes.items() if box}, order=NAMES, places=places)
        assert chosen, "somebody waits, and nobody is chosen"
        for name in [each for each in bound if each in chosen]:
            del bound[name]
        for name, most in bound.items():
            waited[name] += 1
            assert waited[name] <= most, f"{name} waits longer than older messages are there"
        for name in chosen:
            del boxes[name][:3]
            if pending:
                to, times = pending.pop()
                boxes[to] += range(newest, newest + times)
                newest += times


def _older(boxes: Mapping[str, list[int]], name: str) -> int:
    """How many unread messages of others go before the oldest one of `name`, with equals that stand first."""
    mine = boxes[name][0]
    return sum(number <= mine for other, box in boxes.items() if other != name for number in box)
