"""Measures a discussion by the links between its messages, and finds links that are impossible.

Everything here follows from message ids and links that were checked; no score that a model gave itself is looked at.
All functions work on a round that is not finished too, and take time linear in messages and links.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain

from swarmgate.council.discussion.model import (
    CONTRARIAN,
    CONTRIBUTIONS,
    CROSS_DOMAIN,
    EXTENTS,
    HISTORIAN,
    MODERATOR,
    USER,
    Cast,
    DiscussionRound,
    Extent,
    Link,
    Measured,
    Message,
    Mode,
    Relation,
    Shift,
    ShiftKind,
    Step,
)
from swarmgate.domain.review.votes import message_id

ORDER = (
    Step.POSITION,
    Step.FRAME,
    Step.ARGUE,
    Step.ATTACK,
    Step.ASK,
    Step.ATTACK,
    Step.RESPOND,
    Step.ANALOGY,
    Step.STRESS,
    Step.ASSESS,
    Step.RECORD,
)
"""The order of steps in a round. Steps may be left out; the second ATTACK is the one after ASK."""

_TAKES_PART = CONTRIBUTIONS | {Step.POSITION}
"""Steps that argue. The moderator's and the historian's speak about the discussion: their links are not counted."""

Place = tuple[int, int, bool]
"""When a message was spoken: its round, its step as an index of `ORDER` (-1: no such), and whether it was the user."""


def key(message_id: str) -> tuple[int, ...]:
    """By what ids are sorted: the numbers of the round and in the round; an id of another form comes first."""
    numbers = message_id.removeprefix("r").split("-msg-")
    return tuple(map(int, numbers)) if all(map(str.isdecimal, numbers)) else ()


def places(held: DiscussionRound) -> list[Place]:
    """When each message of a round was spoken. What the user says bears the step that it came after."""
    steps = slots(message.step for message in held.messages)
    return [(held.number, slot, each.human) for slot, each in zip(steps, held.messages, strict=True)]


def slots(steps: Iterable[Step]) -> Iterator[int]:
    """The place in `ORDER` of each step of a row; -1 for one that cannot come there."""
    at = 0
    for step in steps:
        found = next((slot for slot in range(at, len(ORDER)) if ORDER[slot] is step), -1)
        at = max(at, found)
        yield found


def visible_before(rounds: Sequence[DiscussionRound], message_id: str) -> frozenset[str]:
    """The ids of the messages of earlier steps; a message cannot know those of its own step.

    Messages that failed are not among them: there is nothing to relate to.

    Args:
        rounds: all of them, the one at work too.
        message_id: of the message; an unknown one comes after all.
    """
    spoken = [each for held in rounds for each in zip(places(held), held.messages, strict=True)]
    until = next((place for place, message in spoken if message.id == message_id), None)
    return frozenset(message.id for place, message in spoken if not message.failed and (until is None or place < until))


def link_problem(link: Link, author: str, seen: Mapping[str, str]) -> str:
    """What speaks against a link; empty: nothing.

    Nobody supports, counters or questions its own words: that would be structure out of nothing. They may be extended.

    Args:
        link: of a message of `author`.
        author: who links.
        seen: the authors of the messages that it was shown, by id.
    """
    if link.to not in seen:
        return f"`{link.to}` is no message that {author} was shown"
    if seen[link.to] == author and link.kind is not Relation.EXTENDS:
        return f"`{link.to}` is {author}'s own message, and `{link.kind}` goes to another's"
    return ""


def shift_problem(shift: Shift, author: str, seen: Mapping[str, str]) -> str:
    """What speaks against a shift; empty: nothing. Who moved was moved by a message of somebody else that it saw.

    Args:
        shift: of a message of `author`.
        author: who moved.
        seen: the authors of the messages that it was shown, by id.
    """
    if shift.kind is ShiftKind.NONE or shift.refused:
        return ""
    if strange := [each for each in shift.cites if each not in seen]:
        return f"the shift cites `{strange[0]}`, and that is no message that {author} was shown"
    if all(seen[each] == author for each in shift.cites):
        return f"the {shift.kind} shift cites no message of somebody else"
    return ""


def measured(held: DiscussionRound, before: Sequence[DiscussionRound] = ()) -> Measured:
    """What the links of a round come to.

    Counted are distinct links (from, to, kind) between messages of those who take part (experts, contrarian,
    cross-domain, the user), to ones that stand before; what goes to the moderator's and the historian's words does not
    count, nor does a link that `link_problem` refuses. One message takes one side of another: a counter wins over a
    support, a support over an extension. A steel-man says something (`steel_manned`). Disagreement is

        10 * counters / (counters + supports + extends)

    the share of counters among the links that take a side, on the scale of the disagreement budget; questions and
    answers take none. It is 0 where nobody takes a side: silence is no disagreement, and the rule against too little
    of it then asks for more.

    Args:
        held: the round, finished or not.
        before: the rounds before it.
    """
    taking_part = {each.id for past in (*before, held) for each in past.messages if takes_part(each)}
    authors = {
        each.id: each.author for each in chain.from_iterable(past.messages for past in before) if not each.failed
    }
    count: Counter[Relation] = Counter()
    steel_mans = 0
    for message, seen in _with_seen(held, authors):
        if message.id in taking_part:
            sound = [each for each in message.links if not link_problem(each, message.author, seen)]
            links = _one_side({(each.to, each.kind): each for each in sound if each.to in taking_part})
            count.update(each.kind for each in links)
            steel_mans += sum(each.kind is Relation.COUNTERS and steel_manned(each) for each in links)
    shifts = [each.shift for each in held.messages if each.shift]
    counters, with_it = count[Relation.COUNTERS], count[Relation.SUPPORTS] + count[Relation.EXTENDS]
    return Measured(
        counters=counters,
        steel_mans=steel_mans,
        supports=count[Relation.SUPPORTS],
        questions=count[Relation.QUESTIONS],
        shifts=sum(each.kind is not ShiftKind.NONE and not each.refused for each in shifts),
        refused_shifts=sum(bool(each.refused) for each in shifts),
        unresolved=sum(len(each.unresolved) for each in held.messages),
        disagreement=round(10 * counters / (counters + with_it), 2) if counters else 0,
    )


_SIDES = (Relation.COUNTERS, Relation.SUPPORTS, Relation.EXTENDS)
_LEAST_WORDS = 3


def _one_side(links: Mapping[tuple[str, Relation], Link]) -> list[Link]:
    """The links of one message, of those that take a side of the same other one the first of `_SIDES`."""
    side = {to: min(_SIDES.index(kind) for at, kind in links if at == to and kind in _SIDES) for to, _ in _sided(links)}
    return [each for (to, kind), each in links.items() if kind not in _SIDES or kind is _SIDES[side[to]]]


def _sided(links: Iterable[tuple[str, Relation]]) -> Iterator[tuple[str, Relation]]:
    return ((to, kind) for to, kind in links if kind in _SIDES)


def steel_manned(link: Link) -> bool:
    """Whether it states what it counters at its strongest: fewer than three words state nothing."""
    return len([each for each in link.steel_man.split() if any(map(str.isalnum, each))]) >= _LEAST_WORDS


def _with_seen(held: DiscussionRound, authors: dict[str, str]) -> Iterator[tuple[Message, Mapping[str, str]]]:
    """Each message that did not fail, with the authors of those before its step by id; `authors` grows."""
    waiting: list[Message] = []
    step: Place | None = None
    for place, message in zip(places(held), held.messages, strict=True):
        if place != step:
            authors.update((each.id, each.author) for each in waiting)
            waiting, step = [], place
        if not message.failed:
            waiting.append(message)
            yield message, authors
    authors.update((each.id, each.author) for each in waiting)


def consensus_of(held: DiscussionRound, before: Sequence[DiscussionRound] = ()) -> tuple[str, ...]:
    """The ids of what is agreed to most in a round: what a contrarian is to attack. Ties stay, in order of id.

    Most agreed to is the message with the most supports and extensions by others than its author, less counters to it.
    Where no message has more of those than counters, it is the position that is held with the most confidence. Empty:
    there is none either. What the moderator and the historian say is none of it.

    Args:
        held: the round, finished or not; its links count.
        before: the rounds before it, whose messages its links may go to.
    """
    agreed = {each: float(by) for each, by in _backing(held, before).items() if by > 0}
    return _strongest(agreed or {each.id: each.position.confidence or 0 for each in held.messages if each.position})


def minority_of(held: DiscussionRound, before: Sequence[DiscussionRound] = ()) -> tuple[str, ...]:
    """The ids of what is outnumbered in a round: the messages with the most counters less supports and extensions.

    Empty: nothing has more counters than those, or what has is of several voices: nobody is outnumbered.
    """
    outnumbered = _strongest({each: float(-by) for each, by in _backing(held, before).items() if by < 0})
    authors = {each.author for past in (*before, held) for each in past.messages if each.id in outnumbered}
    return outnumbered if len(authors) == 1 else ()


def _backing(held: DiscussionRound, before: Sequence[DiscussionRound]) -> Counter[str]:
    """How many supports and extensions by others each message has in a round, less counters to it."""
    said = [each for past in (*before, held) for each in past.messages if takes_part(each)]
    authors = {each.id: each.author for each in said}
    backing: Counter[str] = Counter()
    for message in filter(takes_part, held.messages):
        for to, kind in {(each.to, each.kind) for each in message.links}:
            if authors.get(to, message.author) != message.author:
                backing[to] += {Relation.SUPPORTS: 1, Relation.EXTENDS: 1, Relation.COUNTERS: -1}.get(kind, 0)
    return backing


def takes_part(message: Message) -> bool:
    """Whether a message argues: it did not fail, and is no word of the moderator or the historian."""
    return not message.failed and (message.human or message.step in _TAKES_PART)


def _strongest(worth: Mapping[str, float]) -> tuple[str, ...]:
    most = max(worth.values(), default=0)
    return tuple(sorted((each for each, value in worth.items() if value == most), key=key))


def integrity_problem(cast: Cast, rounds: Sequence[DiscussionRound], *, extent: Extent = EXTENTS[Mode.DEEP]) -> str:
    """The first law that a discussion breaks; empty: none.

    Args:
        cast: who takes part.
        rounds: all of them, the one at work last.
        extent: of the mode; the widest if not given.
    """
    return next(_problems(cast, rounds, extent), "")


BY = {
    Step.FRAME: MODERATOR,
    Step.ASK: MODERATOR,
    Step.ASSESS: MODERATOR,
    Step.ATTACK: CONTRARIAN,
    Step.STRESS: CONTRARIAN,
    Step.ANALOGY: CROSS_DOMAIN,
    Step.RECORD: HISTORIAN,
}
"""Whose step it is; positions, arguments and responses are the experts'."""


def _problems(cast: Cast, rounds: Sequence[DiscussionRound], extent: Extent) -> Iterator[str]:
    experts = [each.id for each in cast.experts]
    seats = {*experts, *extent.roles}
    authors: dict[str, str] = {}
    for at, held in enumerate(rounds):
        where = f"round {held.number}"
        if held.number != at + 1:
            yield f"{where} stands where round {at + 1} is due"
        if at + 1 < len(rounds) and held.measured is None:
            yield f"{where} is not finished, and another follows it"
        yield from (f"{where}: {why}" for why in _out_of_order(held))
        yield from (f"{each.id}: {why}" for each in held.messages for why in _misplaced(each, experts, seats))
        spoken = sum(each.step in CONTRIBUTIONS and not each.human for each in held.messages)
        if spoken > extent.calls[1]:
            yield f"{where} has {spoken} contributions: the limit is {extent.calls[1]}"
        for message, seen in _with_seen(held, authors):
            yield from (f"{message.id}: {why}" for why in _unfounded(message, seen))
        if held.measured is not None and held.measured != measured(held, rounds[:at]):
            yield f"{where}: what is measured does not follow from its links"


def _out_of_order(held: DiscussionRound) -> Iterator[str]:
    """What is wrong with the ids of a round and with the order of its steps."""
    for number, each in enumerate(held.messages, start=1):
        if (each.round, each.id) != (held.number, message_id(held.number, number)):
            yield f"message {number} is {each.id} of round {each.round}, not {message_id(held.number, number)}"
    at = places(held)
    if strange := [each for place, each in zip(at, held.messages, strict=True) if place[1] < 0]:
        yield f"{strange[0].id} is of step {strange[0].step}, which is over"
    if late := [each for before, each, message in zip(at, at[1:], held.messages[1:], strict=False) if each < before]:
        yield f"a voice speaks after the user, in step {ORDER[late[0][1]]}"
    done = list(slots(held.done))
    if any(after <= before for before, after in zip([-1, *done], done, strict=False)):
        yield f"the steps {', '.join(held.done)} cannot follow each other"
    open_steps = {slot for _, slot, _ in at} - set(done)
    if open_steps and (held.measured is not None or len(open_steps) > 1 or min(open_steps) < max(done, default=-1)):
        yield f"step {ORDER[min(open_steps)]} is not done, and something follows it"


def _misplaced(message: Message, experts: Sequence[str], seats: Collection[str]) -> Iterator[str]:
    """What is wrong with the author of a message, and with what a failed one says."""
    author, step = message.author, message.step
    if message.human is not (author == USER) or (not message.human and author not in seats):
        yield f"{author} has no seat in this discussion"
    elif not message.human and (author not in experts if step is Step.POSITION else author != BY.get(step, author)):
        yield f"{author} speaks in step {step}, which is not its own"
    if message.failed and (message.links or message.position or message.shift or message.framing or message.assessment):
        yield "it failed, and says something that counts"


def _unfounded(message: Message, seen: Mapping[str, str]) -> Iterator[str]:
    """What a message rests on that it was not shown."""
    for link in message.links:
        if why := link_problem(link, message.author, seen):
            yield why
    if message.shift and (why := shift_problem(message.shift, message.author, seen)):
        yield why
    if strange := [each for each in message.condensed if each not in seen]:
        yield f"it saw `{strange[0]}` as a gist, and that is no message that {message.author} was shown"
